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

/**
 * Manifests of the connectors that need no entry in `ambit.yaml`. http, shell and state have theirs here once
 * they are built.
 */
export const BUILTIN_MANIFESTS: { readonly [connector: string]: Manifest } = deepFreeze({ messaging, files });
