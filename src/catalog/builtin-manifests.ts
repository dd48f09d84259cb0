import { deepFreeze, type JsonObject } from "../base/json.ts";
import type { ActionManifest, Idempotency, JsonSchema, Manifest } from "./manifest.ts";
import { DEFAULT_ACTION_TIMEOUT_MS } from "./read-manifest.ts";

const text = { type: "string" } as const;
const path = { type: "string", minLength: 1, maxLength: 4_096 } as const;
const bytes = { type: "integer", minimum: 0 } as const;

function object(properties: JsonObject, optional: readonly string[] = []): JsonSchema {
  const required = Object.keys(properties).filter((name) => !optional.includes(name));
  return { type: "object", properties, required, additionalProperties: false };
}

type Kind = Pick<ActionManifest, "effects" | "idempotency">;
const NATURAL: Idempotency = { kind: "natural" };
const NONE: Idempotency = { kind: "none" };
const READ: Kind = { effects: "read", idempotency: NATURAL };
const WRITE: Kind = { effects: "write", idempotency: NONE };
const WRITE_AGAIN: Kind = { effects: "write", idempotency: NATURAL };
const DESTROY_AGAIN: Kind = { effects: "destructive", idempotency: NATURAL };

function action(name: string, description: string, kind: Kind, input: JsonSchema, output: JsonSchema): ActionManifest {
  return {
    name,
    description,
    input,
    output,
    ...kind,
    retry: { attempts: 1, backoff: 0, on: [] },
    timeout: DEFAULT_ACTION_TIMEOUT_MS,
    dryRun: { kind: kind.effects === "read" ? "execute" : "suppress" },
    scopes: [],
    requires: [],
    ambiguous: [],
  };
}

function manifest(connector: string, actions: readonly ActionManifest[]): Manifest {
  return {
    connector,
    version: "1",
    actions: Object.fromEntries(actions.map((entry) => [entry.name.slice(connector.length + 1), entry])),
  };
}

const messaging = manifest("messaging", [
  action(
    "messaging.post",
    "Post a text to a channel.",
    WRITE,
    object({ channel: text, text }),
    object({ ok: { type: "boolean" }, id: { type: ["string", "null"] } }),
  ),
]);

const listed = object({ path: text, bytes, modified: text });

const files = manifest("files", [
  action(
    "files.read",
    "Read a UTF-8 text file of at most 1 MiB below the declared root.",
    READ,
    object({ path }),
    object({ text, bytes }),
  ),
  action(
    "files.list",
    "List the files of a folder below the declared root; glob knows * ** and ?.",
    READ,
    object({ path, glob: path }, ["path", "glob"]),
    object({ files: { type: "array", items: listed } }),
  ),
  action("files.write", "Write a text file, replacing it.", WRITE_AGAIN, object({ path, text }), object({ bytes })),
  action("files.append", "Append to a text file.", WRITE, object({ path, text }), object({ bytes })),
  action(
    "files.delete",
    "Delete a file; found is false if there is none.",
    DESTROY_AGAIN,
    object({ path }),
    object({ found: { type: "boolean" } }),
  ),
]);

const status = { type: "integer", minimum: 100, maximum: 999 } as const;
const texts: JsonObject = { type: "object", additionalProperties: text };
const scalar: JsonObject = { type: ["string", "number", "boolean"] };
const url = { type: "string", minLength: 1, maxLength: 8_192 } as const;
const query: JsonObject = {
  type: "object",
  additionalProperties: { anyOf: [scalar, { type: "array", items: scalar, maxItems: 1_000 }] },
};
const headers: JsonObject = { type: "object", additionalProperties: scalar, maxProperties: 64 };
const answer = object({ status, headers: texts, body: {} });

const http = manifest("http", [
  action(
    "http.get",
    "Get a URL of a declared host; a JSON body is parsed, any other is a text.",
    READ,
    object({ url, query, headers }, ["query", "headers"]),
    answer,
  ),
  action(
    "http.request",
    "Send a request to a URL of a declared host; a body that is no text is sent as JSON.",
    WRITE,
    object({ url, method: { type: "string", enum: ["POST", "PUT", "PATCH", "DELETE"] }, query, headers, body: {} }, [
      "query",
      "headers",
      "body",
    ]),
    answer,
  ),
]);

const shell = manifest("shell", [
  action(
    "shell.run",
    "Run one of the declared command lines; each stream is kept up to 64 KiB.",
    WRITE,
    object(
      {
        command: { type: "string", minLength: 1, maxLength: 8_192 },
        stdin: { type: "string", maxLength: 1_048_576 },
      },
      ["stdin"],
    ),
    object({ stdout: text, stderr: text }),
  ),
]);

const key = { type: "string", minLength: 1, maxLength: 256 } as const;
const found = { type: "boolean" } as const;

const state = manifest("state", [
  action(
    "state.get",
    "Read a value that an earlier run of this workflow kept; value is null if there is none.",
    READ,
    object({ key }),
    object({ found, value: {} }),
  ),
  action(
    "state.put",
    "Keep a value of at most 16 KiB for later runs of this workflow.",
    WRITE_AGAIN,
    object({ key, value: {} }),
    object({ ok: { type: "boolean" } }),
  ),
  action(
    "state.add",
    "Add a number to a kept one (0 if there is none) and give the sum.",
    { effects: "write", idempotency: { kind: "keyed", field: "request_key" } },
    object({ key, by: { type: "number", default: 1 }, request_key: { type: "string", minLength: 1, maxLength: 256 } }, [
      "by",
    ]),
    object({ value: { type: "number" } }),
  ),
  action(
    "state.delete",
    "Forget a kept value; found is false if there is none.",
    WRITE_AGAIN,
    object({ key }),
    object({ found }),
  ),
]);

/** Manifests of the connectors that need no entry in `ambit.yaml`. */
export const BUILTIN_MANIFESTS: { readonly [connector: string]: Manifest } = deepFreeze({
  messaging,
  files,
  http,
  shell,
  state,
});
