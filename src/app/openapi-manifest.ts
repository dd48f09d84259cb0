import { isObject, type Json, type JsonObject } from "../base/json.ts";
import { AGENT_KEY_LENGTH, AGENT_KEY_PREFIX } from "../catalog/key-pattern.ts";
import { checkValue, compileSchema } from "../catalog/value-schema.ts";
import { Refusal } from "../errors/fault.ts";
import { type Operation, readOpenApi } from "../host/connectors/openapi-document.ts";

export interface ImportedOperations {
  version: string;
  /** In the document's order. */
  operations: { id: string; action: JsonObject }[];
  /** Operations that cannot be actions, each as a sentence. */
  left: string[];
}

/** The operations of an OpenAPI document as actions of a manifest. `catalog.unavailable` where it cannot be read. */
export function importOpenApi(connector: string, file: string): ImportedOperations {
  const document = readOpenApi(file);
  if ("problem" in document) {
    throw new Refusal("catalog.unavailable", `The OpenAPI document ${file} ${document.problem}.`, { connector });
  }
  const operations: ImportedOperations["operations"] = [];
  const left = document.left.map(({ at, why }) => `${at} ${why}.`);
  for (const operation of document.operations.values()) {
    const compiled = compileSchema(operation.input);
    if ("error" in compiled) left.push(`${operation.id} has arguments that cannot be checked: ${compiled.error}.`);
    else operations.push({ id: operation.id, action: actionOf(operation) });
  }
  return { version: document.version, operations, left };
}

/** GET reads, PUT and DELETE write what is the same the second time, POST and PATCH write. */
function actionOf(operation: Operation): JsonObject {
  const { method, input, pin } = operation;
  const isRead = method === "get" || method === "head" || method === "options";
  const key = isRead ? null : keyArgument(operation);
  const isNatural = isRead || method === "put" || method === "delete";
  return {
    description: `${operation.description.slice(0, 1_000).trim()} (${method.toUpperCase()} ${operation.path})`,
    input,
    output: outputOf(operation.output),
    effects: isRead ? "read" : "write",
    idempotency: key === null ? (isNatural ? "natural" : "none") : { keyed: key },
    pin,
  };
}

/** An output that cannot be checked takes anything; `true` and `false` have no place in a manifest. */
function outputOf(output: Json): JsonObject {
  if (!isObject(output)) return {};
  return "error" in compileSchema(output as JsonObject) ? {} : (output as JsonObject);
}

/** The header that takes an idempotency key, if the service has one and takes keys such as ours. */
function keyArgument({ parameters, input }: Operation): string | null {
  const found = parameters.find((entry) => entry.in === "header" && /^(?:x-)?idempotency-key$/i.test(entry.name));
  const { properties, $defs } = input;
  if (!found || !isObject(properties)) return null;
  const schema = properties[found.argument];
  const whole = isObject(schema) ? ({ ...schema, ...($defs === undefined ? {} : { $defs }) } as JsonObject) : {};
  const key = AGENT_KEY_PREFIX + "a".repeat(AGENT_KEY_LENGTH - AGENT_KEY_PREFIX.length);
  return checkValue(whole, key).length === 0 ? found.argument : null;
}
