// Operations of an OpenAPI document, 3.0 or 3.1, from a local file.
import { hashJson } from "../../base/hash.ts";
import { isObject, type Json, type JsonObject, parseJson } from "../../base/json.ts";
import { SourceText, toJson } from "../../text/tree.ts";
import { parseYaml } from "../../text/yaml.ts";
import { readRegularFile } from "../files/regular-file.ts";
import { isJsonType } from "./http-answer.ts";
import { resolved, SchemaWriter } from "./openapi-schema.ts";

export const METHODS = ["get", "put", "post", "delete", "options", "head", "patch"] as const;
export type Method = (typeof METHODS)[number];

export interface Parameter {
  /** Its name among the arguments. */
  argument: string;
  name: string;
  in: "path" | "query" | "header";
  required: boolean;
  /** How lists and maps are written in a query: one entry each, joined by commas, or `name[key]`. */
  style: "each" | "joined" | "deep" | "json";
}

export interface Body {
  /** Always `body`. */
  argument: string;
  required: boolean;
  type: string;
  form: "json" | "form" | "text";
}

/** Where a credential goes. */
export type Credential = { kind: "bearer" } | { kind: "basic" } | { kind: "header" | "query" | "cookie"; name: string };

export interface Operation {
  id: string;
  method: Method;
  path: string;
  description: string;
  parameters: Parameter[];
  body: Body | null;
  /** Null: the operation is public; undefined: the document does not say. */
  credential: Credential | null | undefined;
  input: JsonObject;
  output: Json;
  /** `sha256:...` of all of the above but the description. */
  pin: string;
}

export interface OpenApiDocument {
  title: string;
  version: string;
  /** URL of the first server, where it is whole; external text. */
  server: string | null;
  operations: Map<string, Operation>;
  /** Operations that cannot be actions, with the reason: the end of a sentence about each. */
  left: { at: string; why: string }[];
}

const MAX_BYTES = 32 * 1024 * 1024;
const MAX_OPERATIONS = 1_000;
const MAX_PARAMETERS = 128;

/**
 * Reads a document; `problem` ends a sentence about the file. Nothing but the file is read. With `wanted`, operations
 * of other ids are passed over: a large document costs a run no more than what it uses.
 */
export function readOpenApi(
  file: string,
  wanted: ReadonlySet<string> | null = null,
): OpenApiDocument | { problem: string } {
  const read = readRegularFile(file, MAX_BYTES);
  if (read.ok) return parseOpenApi(read.text, file, wanted);
  return { problem: read.code === "ENOENT" ? "does not exist" : `cannot be read: ${read.why}` };
}

/** The same from its text. */
export function parseOpenApi(
  text: string,
  file: string,
  wanted: ReadonlySet<string> | null = null,
): OpenApiDocument | { problem: string } {
  let root: Json;
  if (text.trimStart().startsWith("{")) {
    const parsed = parseJson(text.replace(/^\ufeff/, ""));
    if (!parsed.ok) return { problem: "is no JSON" };
    root = parsed.value;
  } else {
    const { root: tree, diagnostics } = parseYaml(new SourceText(file, text));
    const first = diagnostics.find((entry) => entry.severity === "error");
    if (first) return { problem: `has a fault in line ${first.line}: ${first.message.replace(/\.$/, "")}` };
    if (tree === null) return { problem: "is empty" };
    root = toJson(tree);
  }
  if (!isObject(root)) return { problem: "is no map" };
  const version = root["openapi"];
  if (typeof version !== "string" || !/^3\.[01]\./.test(version)) {
    return { problem: "is no OpenAPI document of version 3.0 or 3.1" };
  }
  return new DocumentReader(root as JsonObject).read(wanted);
}

class DocumentReader {
  readonly #document: JsonObject;
  readonly #left: OpenApiDocument["left"] = [];

  constructor(document: JsonObject) {
    this.#document = document;
  }

  read(wanted: ReadonlySet<string> | null): OpenApiDocument {
    const { info, servers, paths } = this.#document;
    const operations = new Map<string, Operation>();
    for (const [path, given] of Object.entries(isObject(paths) ? paths : {})) {
      const item = resolved(this.#document, given);
      for (const method of METHODS) {
        const node = item?.[method];
        if (!item || !isObject(node)) continue;
        if (wanted !== null && !wanted.has(String(node["operationId"]))) continue;
        const at = `${method.toUpperCase()} ${path}`;
        if (operations.size === MAX_OPERATIONS) {
          this.#leave(at, `is beyond the ${MAX_OPERATIONS} operations of a manifest`);
          continue;
        }
        const operation = this.#operation(path, method, item, node as JsonObject, at);
        if (operation === null) continue;
        if (operations.has(operation.id)) this.#leave(at, `has the operationId ${operation.id} of another one`);
        else operations.set(operation.id, operation);
      }
    }
    const server = Array.isArray(servers) && isObject(servers[0]) ? servers[0]["url"] : null;
    const about = isObject(info) ? info : {};
    return {
      title: typeof about["title"] === "string" ? about["title"] : "",
      version: typeof about["version"] === "string" ? about["version"] : "1.0.0",
      server: typeof server === "string" && /^https?:\/\//i.test(server) && !server.includes("{") ? server : null,
      operations,
      left: this.#left,
    };
  }

  #leave(at: string, why: string): null {
    this.#left.push({ at, why });
    return null;
  }

  #operation(path: string, method: Method, item: JsonObject, node: JsonObject, at: string): Operation | null {
    const id = node["operationId"];
    if (typeof id !== "string" || id === "" || id.length > 256) return this.#leave(at, "has no operationId");
    if (!path.startsWith("/") || /[\s\\?#\p{Cc}]/u.test(path)) return this.#leave(at, "has a path that is none");
    const writer = new SchemaWriter(this.#document, "request");
    const properties: JsonObject = {};
    const required: string[] = [];
    const parameters = this.#parameters(item, node);
    if (typeof parameters === "string") return this.#leave(at, parameters);
    for (const { parameter, schema, description } of parameters) {
      const written = writer.write(schema);
      const described = isObject(written) && description !== "" && !("description" in written);
      setField(properties, parameter.argument, described ? { ...(written as JsonObject), description } : written);
      if (parameter.required) required.push(parameter.argument);
    }
    const unfilled = [...path.matchAll(/\{([^{}]*)\}/g)].find(
      ([, name]) => !parameters.some(({ parameter }) => parameter.in === "path" && parameter.name === name),
    );
    if (unfilled) return this.#leave(at, `does not say what ${unfilled[0]} in its path is`);
    const body = this.#body(node["requestBody"]);
    if (typeof body === "string") return this.#leave(at, body);
    if (body !== null) {
      if (Object.hasOwn(properties, body.body.argument)) return this.#leave(at, "has a parameter called body");
      setField(properties, body.body.argument, writer.write(body.schema));
      if (body.body.required) required.push(body.body.argument);
    }
    const input = writer.finish({
      type: "object",
      properties,
      ...(required.length === 0 ? {} : { required }),
      additionalProperties: false,
    });
    const credential = this.#credential(node["security"] ?? this.#document["security"]);
    if (credential === "unknown") return this.#leave(at, "wants a credential that cannot be given");
    const told = {
      id,
      method,
      path,
      parameters: parameters.map(({ parameter }) => parameter),
      body: body?.body ?? null,
      credential,
      input,
      output: this.#output(node["responses"]),
    };
    const description = [node["summary"], node["description"]].find((text) => typeof text === "string" && text !== "");
    const pinned = { ...told, credential: credential === undefined ? "unsaid" : credential } as unknown as Json;
    return { ...told, description: String(description ?? id), pin: `sha256:${hashJson(pinned)}` };
  }

  /** Those of the path and of the operation; or why the operation cannot be called. */
  #parameters(
    item: JsonObject,
    node: JsonObject,
  ): { parameter: Parameter; schema: Json; description: string }[] | string {
    const found = new Map<string, { parameter: Parameter; schema: Json; description: string }>();
    const given = [item["parameters"], node["parameters"]].flatMap((list) => (Array.isArray(list) ? list : []));
    if (given.length > MAX_PARAMETERS) return `has more than ${MAX_PARAMETERS} parameters`;
    for (const entry of given) {
      const spec = resolved(this.#document, entry);
      const name = spec?.["name"];
      const place = spec?.["in"];
      if (spec === null || typeof name !== "string" || name === "") return "has a parameter that cannot be read";
      if (name === "__proto__") return "has a parameter called __proto__";
      const isRequired = spec["required"] === true || place === "path";
      if (place === "cookie") {
        if (isRequired) return `needs the cookie ${name}`;
        continue;
      }
      if (place !== "path" && place !== "query" && place !== "header") return `has a parameter in ${String(place)}`;
      // The document's own rule: these are said elsewhere.
      if (place === "header" && ["accept", "content-type", "authorization"].includes(name.toLowerCase())) continue;
      const content = isObject(spec["content"]) ? Object.values(spec["content"])[0] : undefined;
      const schema = isObject(content) ? content["schema"] : spec["schema"];
      const style = isObject(spec["content"]) ? "json" : styleOf(place, spec["style"], spec["explode"]);
      if (style === null) return `writes its parameter ${name} in the style ${String(spec["style"])}`;
      const parameter: Parameter = { argument: name, name, in: place, required: isRequired, style };
      const description = typeof spec["description"] === "string" ? spec["description"] : "";
      found.set(`${place} ${name}`, { parameter, schema: (schema ?? {}) as Json, description });
    }
    const all = [...found.values()];
    for (const { parameter } of all) {
      const isDoubled = all.some(({ parameter: other }) => other !== parameter && other.name === parameter.name);
      if (isDoubled) parameter.argument = `${parameter.in}_${parameter.name}`;
    }
    const names = new Set(all.map(({ parameter }) => parameter.argument));
    return names.size === all.length ? all : "has two parameters of one name";
  }

  #body(given: unknown): { body: Body; schema: Json } | string | null {
    if (given === undefined) return null;
    const spec = resolved(this.#document, given);
    const content = spec && isObject(spec["content"]) ? spec["content"] : null;
    if (!spec || !content) return "has a request body that cannot be read";
    for (const form of ["json", "form", "text"] as const) {
      const found = Object.entries(content).find(([type]) => formOf(type) === form);
      if (!found) continue;
      const [type, media] = found;
      const schema = isObject(media) && media["schema"] !== undefined ? (media["schema"] as Json) : {};
      return { body: { argument: "body", required: spec["required"] === true, type, form }, schema };
    }
    return spec["required"] === true ? "sends a body of a type that is not sent here" : null;
  }

  /** Of the answers that say that it went well. */
  #output(responses: unknown): Json {
    const writer = new SchemaWriter(this.#document, "response");
    const schemas: Json[] = [];
    for (const [status, given] of Object.entries(isObject(responses) ? responses : {})) {
      if (!/^2(?:\d\d|XX)$/i.test(status)) continue;
      const content = resolved(this.#document, given)?.["content"];
      const media = isObject(content) ? Object.entries(content) : [];
      if (media.length === 0) schemas.push({ type: "null" });
      const json = media.find(([type]) => isJsonType(type))?.[1];
      if (isObject(json)) schemas.push(json["schema"] === undefined ? {} : writer.write(json["schema"]));
      else if (media.length > 0) schemas.push({});
    }
    const [only] = schemas;
    if (only === undefined) return {};
    const whole = schemas.length === 1 ? only : { anyOf: schemas };
    return isObject(whole) ? writer.finish(whole as JsonObject) : whole;
  }

  #credential(security: unknown): Credential | null | undefined | "unknown" {
    if (!Array.isArray(security)) return undefined;
    if (security.length === 0) return null;
    const components = this.#document["components"];
    const schemes =
      isObject(components) && isObject(components["securitySchemes"]) ? components["securitySchemes"] : {};
    let isOptional = false;
    for (const entry of security) {
      const names = isObject(entry) ? Object.keys(entry) : [];
      if (names.length === 0) isOptional = true;
      const [name] = names;
      if (names.length !== 1 || name === undefined || !Object.hasOwn(schemes, name)) continue;
      const found = credentialOf(resolved(this.#document, schemes[name]));
      if (found) return found;
    }
    return isOptional ? null : "unknown";
  }
}

function credentialOf(scheme: JsonObject | null): Credential | null {
  const { type, name } = scheme ?? {};
  if (type === "oauth2" || type === "openIdConnect") return { kind: "bearer" };
  if (type === "http") {
    const kind = String(scheme?.["scheme"]).toLowerCase();
    return kind === "bearer" || kind === "basic" ? { kind } : null;
  }
  const place = scheme?.["in"];
  if (type !== "apiKey" || typeof name !== "string" || !/^[\w.~-]{1,64}$/.test(name)) return null;
  return place === "header" || place === "query" || place === "cookie" ? { kind: place, name } : null;
}

function styleOf(place: string, style: unknown, explode: unknown): Parameter["style"] | null {
  if (place !== "query") return style === undefined || style === "simple" ? "joined" : null;
  if (style === undefined || style === "form") return explode === false ? "joined" : "each";
  return style === "deepObject" ? "deep" : null;
}

function formOf(type: string): Body["form"] | null {
  if (isJsonType(type)) return "json";
  if (/^\s*application\/x-www-form-urlencoded\s*(?:;|$)/i.test(type)) return "form";
  return /^\s*text\/[\w.+-]+\s*(?:;|$)/i.test(type) ? "text" : null;
}

function setField(target: JsonObject, name: string, value: Json): void {
  Object.defineProperty(target, name, { value, enumerable: true, writable: true, configurable: true });
}
