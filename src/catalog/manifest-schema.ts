import {
  closed,
  duration,
  integer,
  list,
  mapOr,
  oneOf,
  open,
  reference,
  type Schema,
  text,
  type Words,
} from "../text/schema.ts";
import { EFFECTS } from "./manifest.ts";
import { MAX_NAME_LENGTH, RESERVED_CONNECTORS } from "./names.ts";
import { ACTION_KEYS, MANIFEST_KEYS, MAX_ATTEMPTS } from "./read-manifest.ts";

const NAME = "^[A-Za-z_][A-Za-z0-9_-]*$";
const CONNECTOR = `^(?!(?:${RESERVED_CONNECTORS.join("|")})$)(?!.*__)[A-Za-z_][A-Za-z0-9_-]*$`;

/** The JSON Schema of a connector's manifest (draft-07). */
export function manifestSchema(): Schema {
  return {
    $schema: "http://json-schema.org/draft-07/schema#",
    title: "Connector manifest",
    ...manifestBody(),
    definitions: manifestDefinitions(),
  };
}

/** The map itself, for a manifest that stands inside of another file beside {@link manifestDefinitions}. */
export function manifestBody(): Schema {
  return closed(pick(MANIFEST_KEYS, MANIFEST), ["connector", "version", "actions"], {
    description: "What a connector can do: its actions with their schemas and effects.",
  });
}

export function manifestDefinitions(): { [name: string]: Schema } {
  return { action: closed(pick(ACTION_KEYS, ACTION), ["input", "effects"]) };
}

/** The schema of a connector's name, as a key or a value. */
export function connectorName(words: Words = {}): Schema {
  const wanted = `A connector is called by letters, digits, "_" and "-", without "__", and by none of ${RESERVED_CONNECTORS.join(", ")}.`;
  return { ...text(words, CONNECTOR, wanted), maxLength: MAX_NAME_LENGTH };
}

/** The schema of the name of an action, a connection, an agent. */
export function plainName(words: Words = {}): Schema {
  const wanted = 'A name has letters, digits, "_" and "-", and begins with a letter or "_".';
  return { ...text(words, NAME, wanted), maxLength: MAX_NAME_LENGTH };
}

type Keys = readonly string[];

/** In the order of the reader's table, which must have no other keys. */
function pick<K extends Keys>(keys: K, schemas: { [key in K[number]]: Schema }): { [key: string]: Schema } {
  return Object.fromEntries(keys.map((key) => [key, schemas[key as K[number]]]));
}

const full = (words: Words): Schema => ({ ...text(words), minLength: 1 });
const codes = (words: Words): Schema =>
  list(
    text({}, "^[A-Za-z_][A-Za-z0-9_-]*(?:\\.[A-Za-z_][A-Za-z0-9_-]*)?$", "Write unavailable, or family.name."),
    words,
  );

const MANIFEST = {
  connector: connectorName({ description: "The name that ambit.yaml gives the connector." }),
  version: full({ description: "The version of this manifest, in quotes if it looks like a number." }),
  protocol: full({ description: "The server's protocol version, written by ambit connectors import." }),
  actions: open(reference("action"), plainName(), { description: "The actions by name; no other can be called." }),
};

const ACTION = {
  description: text({ description: "What the action does, for people and agents." }),
  input: {
    type: "object",
    description: "The arguments, as JSON Schema of an object.",
    examples: [{ type: "object", required: ["query"], properties: { query: { type: "string" } } }],
    properties: { type: { enum: ["object"] } },
  },
  output: { type: "object", description: "The result, as JSON Schema; any value without it." },
  effects: oneOf(EFFECTS, { description: "What the action does to the world." }),
  idempotency: mapOr(
    closed({ keyed: full({ description: "The input that takes the engine's key." }) }, ["keyed"]),
    oneOf(["none", "natural"]),
    { description: "Whether doing it twice can be told from doing it once." },
  ),
  retry: closed(
    {
      attempts: integer({ min: 1, max: MAX_ATTEMPTS }, { description: "Attempts, the first included." }),
      backoff: duration({ description: "The pause before the second one; doubled each time." }),
      on: codes({ description: "After which failures; short names stand for action.*." }),
    },
    ["attempts"],
    { description: "Repeats the action after some failures." },
  ),
  timeout: duration({ description: "Longest duration of one attempt; 60s by default." }),
  dry_run: mapOr(
    closed({ simulate: { description: "The answer, which must fit the output." } }, ["simulate"]),
    oneOf(["execute", "suppress"]),
    { description: "What a dry run does: execute for reading actions, else suppress, by default." },
  ),
  scopes: list(text(), { description: "Scopes that a connection must have." }),
  requires: list(text(), { description: "Capabilities of the executor that the action needs." }),
  ambiguous: codes({ description: "Failures of the connector that mean: outcome unknown." }),
  tool: full({ description: "The server's own name of the tool where it differs." }),
  pin: text(
    { description: "Hash of the server's tool definition, written by ambit connectors import." },
    "^sha256:[0-9a-f]{64}$",
    "A pin is sha256: and 64 lowercase hex digits.",
  ),
};
