import { CAPABILITY_ALIASES } from "../../admit/rules/capabilities.ts";
import { manifestBody, manifestDefinitions } from "../../catalog/manifest-schema.ts";
import {
  boolean,
  closed,
  duration,
  integer,
  list,
  listOr,
  mapOr,
  number,
  oneOf,
  open,
  reference,
  type Schema,
  text,
  when,
} from "../../text/schema.ts";
import { PROVIDERS } from "./agents.ts";
import { awl, coordinate, limits, policy, sandbox, serve } from "./bounds-schema.ts";
import { callLimits, connector, connectors, FOREIGN, mcpServers, server } from "./connector-schema.ts";
import { actionName, full, noneOrDuration, path, secretHere, texts, values } from "./schema-terms.ts";

/** The JSON Schema of `ambit.yaml` (draft-07). The readers in this folder take the same keys; a test compares them. */
export function deploymentSchema(): Schema {
  return {
    $schema: "http://json-schema.org/draft-07/schema#",
    title: "Deployment",
    description: "ambit.yaml: agents, connectors, policy and limits of the workflows in this folder and below.",
    ...closed(top()),
    definitions: {
      ...manifestDefinitions(),
      manifest: manifestBody(),
      secret: secret(),
      agent: agent(),
      connector: connector(),
      server: server([]),
      "pasted-server": server(FOREIGN),
      limits: callLimits(),
    },
  };
}

function top(): { [key: string]: Schema } {
  return {
    version: oneOf(["1"], { description: 'The version of the format: "1", in quotes.' }),
    workflows: texts({ description: "Which files serve, mcp, dev and check see.", examples: [["**/*.workfile.yaml"]] }),
    agents: open(
      listOr({ ...list(reference("agent")), minItems: 1, maxItems: 64 }, reference("agent")),
      text({}, "^(?![\\s\\S]*\\{\\{)[\\s\\S]", "The name of an agent is literal and not empty."),
      { description: "Configurations of agents by name: one, or a list of which one is chosen." },
    ),
    models: closed(Object.fromEntries(["low", "medium", "high", "default"].map((level) => [level, model()])), [], {
      description: "Models of AWL scripts by level.",
    }),
    mcpServers: mcpServers(),
    connectors: connectors(),
    settings: values({ description: "Plain values that Workfiles read as settings.NAME. No secrets." }),
    policy: policy(),
    capabilities: closed(
      {
        deny: list(oneOf([...Object.keys(CAPABILITY_ALIASES), ...Object.values(CAPABILITY_ALIASES)]), {
          description: "Capabilities taken away.",
        }),
      },
      [],
      { description: "What this executor may not do." },
    ),
    limits: limits(),
    store: mapOr(
      closed({
        path: path({ description: "The database, or memory." }),
        durability: oneOf(["full", "process"], { description: "full: on disk before it counts." }),
        retention: noneOrDuration({ description: "How long ended runs are kept." }),
        key: secretHere({
          description: "Seals sensitive values; 32 characters at least. By default the store has a key file.",
        }),
      }),
      full(),
      { description: "Where runs are kept: a path, memory, or a map.", examples: [".ambit/ambit.db"] },
    ),
    notify: closed({ action: actionName(), with: values() }, ["action"], {
      description: "An action that wf.notify and @notify call, too; the text is its input `text`.",
    }),
    sandbox: sandbox(),
    coordinate: coordinate(),
    awl: awl(),
    serve: serve(),
  };
}

/** A reference to a secret: a secret itself has no place in the file. */
function secret(): Schema {
  const keys = {
    env: full({ description: "An environment variable." }),
    file: path({ description: "A file." }),
    prefix: full({ description: "A text that stands before the value.", examples: ["Bearer "] }),
  };
  const wanted = "A secret is a reference: { env: NAME } or { file: PATH }.";
  const one = when(
    { required: ["env"] },
    { properties: { file: false } },
    { required: ["file"], errorMessage: wanted },
  );
  const whole = { ...closed(keys), ...when({ propertyNames: { enum: Object.keys(keys) } }, one) };
  return mapOr(whole, { type: "object", errorMessage: wanted });
}

function agent(): Schema {
  const keys = {
    id: full({ description: "What --agent NAME=ID picks it by; the model by default." }),
    default: boolean({ description: "The one of several that is taken." }),
    provider: oneOf(PROVIDERS, { description: "Who runs the model; scripted plays a file." }),
    model: full({ description: "The model's id." }),
    api_key: secretHere({ description: "The key; the provider's usual variable by default." }),
    base_url: text({ description: "Where the provider is." }, "^https?://", "An http URL."),
    effort: oneOf(["low", "medium", "high", "xhigh", "max", "no"], { description: "How long the model may think." }),
    temperature: number({ min: 0, max: 2 }, { description: "Not sent by default." }),
    max_output_tokens: integer({ min: 1, max: 1_000_000 }, { description: "Of a turn; 8192 by default." }),
    tools: boolean({ description: "false: the model calls no tools." }),
    token_method: oneOf(["reported", "none"], { description: "How tokens are counted." }),
    stall: duration({ description: "A stream without data for this long is cut; 120s by default." }),
    retries: integer({ min: 0, max: 10 }, { description: "Of a model call; 2 by default." }),
    script: path({ description: "The file that provider: scripted plays." }),
  };
  const provider = (name: string): Schema => ({ properties: { provider: { enum: [name] } }, required: ["provider"] });
  const model = { required: ["model"], properties: { script: false } };
  const needs = when(
    provider("scripted"),
    { required: ["script"] },
    when(provider("openai-compatible"), { ...model, required: ["model", "base_url"] }, model),
  );
  return {
    ...closed(keys),
    ...when(
      { propertyNames: { enum: Object.keys(keys) } },
      { required: ["provider"], ...when({ required: ["provider"] }, needs) },
    ),
  };
}

function model(): Schema {
  return mapOr(reference("agent"), text(), {
    description: "A model's id with an optional effort, or a map like an agent's.",
  });
}
