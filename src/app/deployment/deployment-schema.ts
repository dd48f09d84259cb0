import { CAPABILITY_ALIASES } from "../../admit/rules/capabilities.ts";
import { connectorName, manifestBody, manifestDefinitions, plainName } from "../../catalog/manifest-schema.ts";
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
  type Words,
  when,
} from "../../text/schema.ts";
import { PROVIDERS } from "./agents.ts";

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

const SIZE = "^[1-9][0-9]{0,8}(?:B|KiB|MiB|GiB)$";
const RATE = "^(?:none|[1-9][0-9]{0,6}/[smh])$";
const ACTION = "^[A-Za-z_][A-Za-z0-9_-]*\\.[A-Za-z_][A-Za-z0-9_-]*$";
const ACTIONS = "^[A-Za-z_][A-Za-z0-9_-]*\\.(?:\\*|[A-Za-z_][A-Za-z0-9_-]*)$";

const full = (words: Words = {}): Schema => ({ ...text(words), minLength: 1 });
const path = (words: Words = {}): Schema => full(words);
const texts = (words: Words = {}): Schema => list(text(), words);
const size = (words: Words = {}): Schema => text(words, SIZE, "A size is written like 64MiB or 512KiB.");
const rate = (words: Words = {}): Schema => text(words, RATE, "A rate is written like 10/s or 100/m, or none.");
const count = (words: Words = {}): Schema => integer({ min: 1 }, words);
const secretHere = (words: Words = {}): Schema => reference("secret", words);
const textOrSecret = (): Schema => mapOr(reference("secret"), text());
const actionName = (words: Words = {}): Schema => text(words, ACTION, "Write connector.action.");
const actions = (words: Words = {}): Schema => list(text({}, ACTIONS, "Write connector.action or connector.*."), words);
const values = (words: Words = {}): Schema => open({}, null, words);

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
        key: secretHere({ description: "Encrypts what is stored." }),
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

function noneOrDuration(words: Words): Schema {
  return { ...words, ...when({ enum: ["none"] }, {}, duration()) } as Schema;
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

const FOREIGN = [
  "type",
  "transport",
  "transportType",
  "disabled",
  "enabled",
  "autoApprove",
  "alwaysAllow",
  "timeout",
  "description",
  "name",
  "icon",
  "gallery",
  "version",
  "dev",
  "sandbox",
  "oauth",
];

/** An MCP server; `foreign` are keys that other programs keep in the blocks that people paste. */
function server(foreign: readonly string[]): Schema {
  const keys: { [key: string]: Schema } = {
    command: full({ description: "The program that is started; it speaks over its standard streams." }),
    args: texts({ description: "Its arguments." }),
    env: open(textOrSecret(), null, { description: "Its environment, beside a safe default." }),
    cwd: path({ description: "Its folder; that of ambit.yaml by default." }),
    url: full({ description: "The server's address, instead of a command." }),
    headers: open(textOrSecret(), null, { description: "Headers of each request." }),
    ...Object.fromEntries(foreign.map((key) => [key, {}])),
  };
  // A pasted server may be switched off and then lack anything.
  if (foreign.length > 0) return closed(keys);
  const stdio = { required: ["command"], properties: { headers: false } };
  const http = { properties: { command: false, args: false, env: false, cwd: false } };
  const one = when({ required: ["url"] }, http, stdio);
  return { ...closed(keys), ...when({ propertyNames: { enum: Object.keys(keys) } }, one) };
}

function mcpServers(): Schema {
  const servers = open(reference("pasted-server"));
  const wrapped = (key: string): Schema => when({ required: [key] }, { properties: { [key]: servers } });
  const words = { description: "A block as people paste it, or the path of a file with one." };
  const wrap = when({ required: ["mcpServers"] }, wrapped("mcpServers"), wrapped("servers"));
  const any = { anyOf: [{ required: ["mcpServers"] }, { required: ["servers"] }] };
  return mapOr(when(any, wrap, servers), full(), words);
}

const KINDS = ["mcp", "module", "http", "workflows", "stub"];

function connectors(): Schema {
  const replaced = { anyOf: [...KINDS, "manifest"].map((kind) => ({ required: [kind] })) };
  const properties = Object.fromEntries(
    Object.entries(builtins()).map(([name, keys]) => [name, when(replaced, reference("connector"), closed(keys))]),
  );
  return {
    ...open(reference("connector"), connectorName(), { description: "What workflows can call, by name." }),
    properties,
  };
}

function builtins(): { [name: string]: { [key: string]: Schema } } {
  const limits = reference("limits");
  const hosts = texts({ description: "Hosts that may be reached." });
  return {
    messaging: {
      post: oneOf(["console"], { description: "console prints on standard error." }),
      webhook: secretHere({ description: "The address that messages are sent to." }),
      limits,
    },
    files: {
      root: path({ description: "The folder that files are below, or none." }),
      write: boolean({ description: "Whether files may be changed." }),
      limits,
    },
    http: {
      hosts,
      private_hosts: texts({ description: "Hosts in private networks that may be reached." }),
      headers: open(open(textOrSecret()), null, { description: "Headers by host." }),
      limits,
    },
    shell: {
      commands: list(mapOr(closed({ argv: texts() }, ["argv"]), text()), {
        description: 'Whole command lines, or { argv: [git, fetch, "*"] } where * takes one argument.',
      }),
      cwd: path({ description: "The folder that commands run in." }),
      limits,
    },
    state: { limits },
  };
}

function connector(): Schema {
  return closed({
    mcp: reference("server", { description: "An MCP server." }),
    module: path({ description: "A module that exports defineConnector(...)." }),
    http: closed({ openapi: path(), base_url: full(), hosts: texts() }, [], {
      description: "Requests from an OpenAPI file.",
    }),
    workflows: open(text(), null, { description: "Workflows, each offered as an action." }),
    stub: path({ description: "Scripted answers." }),
    manifest: mapOr(reference("manifest"), full(), { description: "The manifest or its path." }),
    knowledge: boolean({ description: "Taken away by @no-kg in AWL." }),
    limits: reference("limits"),
    connections: open(
      closed({
        default: boolean({ description: "The one that is used." }),
        scopes: texts({ description: "What it may do; all of the manifest without this." }),
        env: open(textOrSecret(), null, { description: "Environment of the server." }),
        headers: open(textOrSecret(), null, { description: "Headers of each request." }),
        auth: secretHere({ description: "The credential." }),
      }),
      plainName(),
      { description: "Accounts that calls are made with, by name." },
    ),
  });
}

function callLimits(): Schema {
  const none = when({ type: "string" }, { enum: ["none"] }, integer({ min: 1, max: 10_000 }));
  return closed(
    { concurrency: { description: "Calls at once.", ...none }, rate: rate({ description: "Starts per time." }) },
    [],
    { description: "How much a process may call at once." },
  );
}

function policy(): Schema {
  const rule = closed({
    max: count({ description: "Most calls in one execution of a step." }),
    fix: values({ description: "Inputs that the engine supplies; the agent does not see them." }),
  });
  return closed(
    {
      deny: actions({ description: "Actions that nobody may call." }),
      approve: actions({ description: "Actions that a person is asked about first." }),
      agents: open(open(rule, actionName({ examples: ["crm.tag"] })), null, {
        description: "What agents of a name may do with an action.",
      }),
      ceiling: closed(
        {
          tool_attempts: integer({ min: 0 }),
          tokens: integer({ min: 0 }),
          duration: duration(),
          depth: integer({ min: 0 }),
          width: count(),
        },
        [],
        { description: "A plan whose proved bound is higher is refused." },
      ),
    },
    [],
    { description: "What the operator allows." },
  );
}

function limits(): Schema {
  return closed(
    {
      deadline: duration({ description: "Of a run, without the time it is parked; 1h by default." }),
      steps: integer({ min: 1, max: 1_000_000 }, { description: "Executions of steps in a run; 10000 by default." }),
      depth: integer({ min: 0, max: 64 }, { description: "Files below each other by wf.call; 4 by default." }),
      wait: duration({ description: "Of one wf.wait or open question; 30d by default." }),
      concurrency: integer({ min: 1, max: 1_000 }, { description: "Things at once in one construct; 8 by default." }),
      drain_grace: duration({ description: "For what is under way after a stop; 5s by default." }),
      cleanup_grace: duration({ description: "For each cleanup list; 10s by default." }),
    },
    [],
    { description: "Bounds of every run." },
  );
}

function sandbox(): Schema {
  return closed(
    {
      languages: list(oneOf(["python", "javascript"])),
      require_os_layer: boolean(),
      private_hosts: texts(),
      memory: closed({ python: size(), javascript: size() }),
      result: size(),
      fetch: closed({ at_once: count(), calls: integer({ min: 0 }), bytes: size() }),
    },
    [],
    { description: "Bounds of code steps." },
  );
}

function coordinate(): Schema {
  return closed(
    {
      entry: closed({ library: texts(), cli: texts(), http: texts(), mcp: texts() }),
      allow: open(list({})),
      depth: count(),
      children: count(),
      group: count(),
      deadline: duration(),
      max_deadline: duration(),
      concurrent: count(),
      drain_grace: duration(),
      cleanup_grace: duration(),
    },
    [],
    { description: "Bounds of bounded requests; they may only be lowered." },
  );
}

function awl(): Schema {
  return closed(
    {
      tools: listOr(texts(), oneOf(["all"])),
      max_steps: count(),
      max_tool_calls: integer({ min: 0 }),
      stall: duration(),
      goal_interval: noneOrDuration({}),
    },
    [],
    { description: "Bounds of AWL scripts." },
  );
}

function serve(): Schema {
  return closed(
    {
      host: full(),
      port: integer({ min: 0, max: 65_535 }),
      auth_token_file: full(),
      public_url: full(),
      webhook_secret: secretHere(),
      webhooks: open(
        closed({ secret: secretHere(), header: full(), delivery: full() }, ["secret"]),
        text({ examples: ["/triage"] }, "^/", "A webhook path begins with /."),
      ),
      body_limit: size(),
      rate: rate(),
    },
    [],
    { description: "The HTTP server." },
  );
}
