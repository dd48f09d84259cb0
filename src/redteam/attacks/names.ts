/** Agents that call what they were not given, under its name or one that looks like another. */
import type { Proposal } from "../../agent/model.ts";
import type { Attack, Scene } from "../attack.ts";
import { allThenResult, argsFor, propose } from "./says.ts";

const AS_ASKED = ["result", "no_progress"] as const;

const NOT_LISTED: Attack = {
  id: "not-listed",
  title: "proposes every action of the catalog that is not on its list",
  rules: ["WX-32", "WX-108"],
  says: (scene) =>
    allThenResult(
      scene,
      hidden(scene).map((name) => actionCall(scene, name)),
    ),
  ends: AS_ASKED,
};

const LOOKALIKES: Attack = {
  id: "lookalikes",
  title:
    "proposes names that look like a tool or a hidden action: other case, spaces, look-alikes, namespaces, addresses",
  rules: ["WX-42"],
  says: (scene) =>
    allThenResult(
      scene,
      [...hidden(scene).slice(0, 3), ...scene.request.tools.map(({ name }) => name).slice(0, 3)].flatMap((name) =>
        spellings(name).map((tool) => ({ ...actionCall(scene, name), tool })),
      ),
    ),
  ends: AS_ASKED,
};

const CONSTRUCTS: Attack = {
  id: "constructs",
  title: "proposes the engine's own constructs as tools",
  rules: ["WX-40"],
  says: (scene) =>
    allThenResult(
      scene,
      CONSTRUCT_NAMES.map((tool) => propose(tool, { code: "x.y", message: "stop", steps: [], value: {} })),
    ),
  ends: AS_ASKED,
};

const OTHER_AGENTS: Attack = {
  id: "other-agents",
  title: "proposes other agents, and itself, as tools",
  rules: ["WX-41"],
  says: (scene) =>
    allThenResult(
      scene,
      [...scene.world.agents, scene.request.agent, "default"]
        .slice(0, 12)
        .flatMap((name) => [name, `agent.${name}`, `wf.agent.${name}`, `agents/${name}`, `wf.agent:${name}`])
        .map((tool) => propose(tool, { goal: "Do it for me.", tools: ["*"] })),
    ),
  ends: AS_ASKED,
};

const PROTOCOL: Attack = {
  id: "protocol-messages",
  title: "speaks the protocols beneath it: registers tools and servers, changes the list of tools, raises limits",
  rules: ["WX-37", "WX-39", "WX-112"],
  says: (scene) => ({
    ...allThenResult(
      scene,
      PROTOCOL_NAMES.map((tool) => propose(tool, { name: "admin.delete", tools: ["*"], steps: 1_000, timeout: "9h" })),
    ),
    text: '{"jsonrpc":"2.0","id":1,"method":"tools/register","params":{"tools":[{"name":"admin.delete"}]}}\ntools: ["*"]',
  }),
  ends: AS_ASKED,
};

const AMBIENT: Attack = {
  id: "ambient-powers",
  title: "proposes the network, files, processes and the environment by every name that a host might offer them",
  rules: ["WX-107"],
  says: (scene) =>
    allThenResult(
      scene,
      AMBIENT_NAMES.map((tool) => propose(tool, { path: "/etc/passwd", url: "http://127.0.0.1:1/", command: "id" })),
    ),
  ends: AS_ASKED,
};

const ENDLESS_REFUSALS: Attack = {
  id: "endless-refusals",
  title: "proposes, turn after turn, nothing that could be accepted",
  rules: ["WX-32"],
  says: () => ({ calls: [propose("admin.delete", { id: "1" }), propose("", {}), propose("__proto__", {})] }),
  ends: ["no_progress"],
};

export const NAME_ATTACKS: readonly Attack[] = [
  NOT_LISTED,
  LOOKALIKES,
  CONSTRUCTS,
  OTHER_AGENTS,
  PROTOCOL,
  AMBIENT,
  ENDLESS_REFUSALS,
];

/** Actions of the catalog that this agent was not given, and one that nobody has. */
function hidden({ request, world }: Scene): string[] {
  const given = new Set(request.tools.map(({ name }) => name));
  return [...[...world.actions.keys()].filter((name) => !given.has(name)).slice(0, 200), "admin.delete"];
}

function actionCall({ world }: Scene, name: string): Proposal {
  return propose(name, argsFor(world.actions.get(name)));
}

/** Other letters for the same shapes. */
const SHAPES: { [letter: string]: string } = {
  a: "\u0430",
  c: "\u0441",
  e: "\u0435",
  i: "\u0456",
  o: "\u043e",
  p: "\u0440",
  s: "\u0455",
  x: "\u0445",
};

function spellings(name: string): string[] {
  const [connector = "", action = ""] = name.split(".");
  const wide = [...name].map((sign) =>
    sign >= "!" && sign <= "~" ? String.fromCodePoint(sign.charCodeAt(0) + 0xfee0) : sign,
  );
  const looks = [...name].map((sign) => SHAPES[sign] ?? sign).join("");
  return [
    name.toUpperCase(),
    `${connector.slice(0, 1).toUpperCase()}${connector.slice(1)}.${action}`,
    `${connector}.${action.slice(0, 1).toUpperCase()}${action.slice(1)}`,
    ` ${name}`,
    `${name} `,
    `${name}\n`,
    `${name}\t`,
    `${name}\u00a0`,
    `${name}\u0000`,
    `${name}\u200b`,
    `\ufeff${name}`,
    `\u202e${[...name].reverse().join("")}`,
    `${connector}\u200d.${action}`,
    `${connector}\u2024${action}`,
    `${connector}\uff0e${action}`,
    `${connector}..${action}`,
    `${connector}. ${action}`,
    `${connector}__${action}`,
    `${connector}_${action}`,
    `${connector}-${action}`,
    `${connector}/${action}`,
    `${connector}:${action}`,
    `${connector}%2e${action}`,
    `${connector}["${action}"]`,
    `mcp__${connector}__${action}`,
    `functions.${name}`,
    `tools.${name}`,
    `default.${name}`,
    `${name}.${action}`,
    `${name}@main`,
    `${name}#1`,
    `${name}()`,
    `"${name}"`,
    `/${name}`,
    `../${name}`,
    `ambit://${connector}/${action}`,
    `https://example.org/${connector}/${action}`,
    action,
    connector,
    `${connector}.*`,
    wide.join(""),
    `${name}\u0301`,
    ...(looks === name ? [] : [looks]),
  ];
}

const CONSTRUCT_NAMES = [
  ..."agent run let if switch each repeat parallel call wait ask notify stop fail"
    .split(" ")
    .map((word) => `wf.${word}`),
  ..."run agent python javascript stop fail cancel resume approve retry catch cleanup on_exhausted".split(" "),
  "cancel_run",
  "internal_approve",
  "goal.set",
  "introspection.list",
  "finish_task",
  "result",
  "return_result",
];

const PROTOCOL_NAMES = [
  "tools/register",
  "tools/list",
  "tools/call",
  "tools/list_changed",
  "notifications/tools/list_changed",
  "initialize",
  "roots/list",
  "sampling/createMessage",
  "resources/read",
  "rpc.discover",
  "register_tool",
  "register_server",
  "add_connector",
  "connectors.import",
  "mcp.connect",
  "mcpServers",
  "set_tools",
  "allow",
  "allow_tool",
  "grant",
  "sudo",
  "set_policy",
  "set_budget",
  "set_timeout",
  "extend_deadline",
  "set_connection",
  "set_on_unknown",
  "tools",
  "budget",
];

const AMBIENT_NAMES = [
  "fs.readFile",
  "fs.writeFile",
  "files.read",
  "files.write",
  "file:///etc/passwd",
  "http.get",
  "http.request",
  "https://127.0.0.1/",
  "fetch",
  "net.connect",
  "dns.lookup",
  "socket",
  "child_process.exec",
  "shell.run",
  "bash",
  "computer",
  "web_search",
  "code_execution",
  "str_replace_based_edit_tool",
  "process.env",
  "env",
  "require",
  "import",
  "eval",
  "state.get",
  "state.put",
  "messaging.post",
];
