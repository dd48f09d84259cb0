import type { CodePage } from "../codes.ts";

export const catalogCodes = {
  "deployment.invalid": {
    summary: "ambit.yaml, or a file that it names, cannot be used as it stands.",
    cause:
      "A key is not known, is missing or has a value of the wrong kind, or the file cannot be read: only regular files are.",
    fix: "Go to the line shown; the message names the legal keys and values, and the nearest one to a slip.",
    example: "limits: { dedline: 1h }   # deadline: 1h",
    since: "0.1.0",
  },
  "deployment.no_effect": {
    summary: "Something in ambit.yaml is understood and changes nothing.",
    cause:
      "The key belongs to a part of the engine that this version does not have, so its value is checked and not used; or policy.deny or policy.approve names an action that no connector has.",
    fix: "Do not rely on it. Mend the name; or take the key out, or keep it for a later version and bound the matter in another way until then.",
    example: "store: { path: .ambit/ambit.db, retention: 30d }   # nothing is deleted by itself yet",
    since: "0.1.0",
  },
  "deployment.missing_secret": {
    summary: "A secret that the run needs is not there.",
    cause:
      "The environment variable of an { env: NAME } is not set or empty, or the file of a { file: PATH } cannot be read: it is not there, no regular file, or larger than 64 KiB.",
    fix: "The message names the agent or connector that needs it. Set the variable where ambit runs, or put the file in its place; ambit doctor finds all that are missing. The value itself never stands in ambit.yaml.",
    example: "api_key: { env: ANTHROPIC_API_KEY }   # export ANTHROPIC_API_KEY=... before ambit run",
    since: "0.1.0",
  },
  "deployment.missing_setting": {
    summary: "An expression reads a setting that the deployment does not have.",
    cause: "A file says settings.x, and ambit.yaml has no x under settings.",
    fix: "Add the value under settings in ambit.yaml; ambit plan lists the settings that a file reads.",
    example: "{{ settings.channel }}   # settings: { channel: ops }",
    since: "0.1.0",
  },
  "catalog.unknown_action": {
    summary: "A step or a tool list names an action that no manifest declares.",
    cause:
      "The name is misspelt (case counts), its connector is not in ambit.yaml, or its manifest leaves the action out.",
    fix: "Use one of the names shown, or declare the action in the connector's manifest; for an MCP server, ambit connectors import NAME prints one.",
    example: "crm.serach: { query: a }   # crm.search",
    since: "0.1.0",
  },
  "catalog.no_default_connection": {
    summary: "It is not clear which connection of a connector is meant.",
    cause:
      "The connector lists connections, and not exactly one of them says default: true. A single one is no default by itself.",
    fix: "Write default: true at the connection that runs shall use.",
    example: "connections: { main: { env: {} } }   # main: { default: true, env: {} }",
    since: "0.1.0",
  },
  "catalog.missing_scope": {
    summary: "The default connection does not have a scope that an action needs.",
    cause: "The manifest lists it under the action's scopes, the connection's own scopes leave it out.",
    fix: "Add the scope to the connection if the account really has it, or do without the action.",
    example: "connections: { main: { default: true, scopes: [crm.read] } }   # scopes: [crm.read, crm.write]",
    since: "0.1.0",
  },
  "catalog.unavailable": {
    summary: "A connector that the plan needs cannot be used, so nothing was run.",
    cause:
      "It cannot be reached or started, or does not offer an action that its manifest declares; its server lists a tool twice; its module is not loaded in time, or ends the process.",
    fix: "Read what the message says of the server, then try ambit connectors check. The action's server name is its tool key.",
    example: "mcp: { command: nod, args: [./crm.mjs] }   # command: node",
    since: "0.1.0",
  },
  "catalog.drift": {
    summary: "A server describes a tool otherwise than when it was imported.",
    cause: "The definition does not hash to the manifest's pin: its schema, description or hints have changed.",
    fix: "The message says in which parts the two differ. Review them, then pin the definition again: ambit connectors import NAME > manifests/NAME.yaml.",
    example: "pin: sha256:4f1c...   # ambit connectors import crm",
    since: "0.1.0",
  },
  "catalog.invalid_manifest": {
    summary: "A manifest cannot be used as it stands.",
    cause:
      "A key is unknown or missing, a schema is no JSON Schema, a pattern needs backtracking, a schema answers later (`$async`) or comes back to itself without going into the value, or parts do not fit together.",
    fix: "Go to the line shown; the message says what is expected there.",
    example: "idempotency: { keyed: request_id }   # the input must have a property request_id",
    since: "0.1.0",
  },
  "catalog.not_a_tool": {
    summary: "An action cannot be given to an agent.",
    cause: "It is a construct or a workflow, or its reserved key input refuses a key that the engine may make.",
    fix: "Call it in an ordinary step, or let the key's field take every text of 76 characters (no enum, no narrower pattern).",
    example: "request_key: { type: string, maxLength: 64 }   # maxLength: 76",
    since: "0.1.0",
  },
  "agent.unresolved": {
    summary: "Not exactly one agent configuration fits a step.",
    cause:
      "The name is not under agents, several candidates have no default, or the model takes no tools and the step lists some.",
    fix: "Add the name under agents, write default: true at one candidate, or choose with --agent NAME=ID.",
    example: "wf.agent: triager   # agents: { triager: { provider: anthropic, model: ... } }",
    since: "0.1.0",
  },
  "capability.unsupported": {
    summary: "The file needs a capability that is not there.",
    cause: "The deployment denies it, this host does not have it, or this version does not yet.",
    fix: "Take it from capabilities.deny if the operator agrees; ambit doctor --capabilities shows what is there.",
    example: "capabilities: { deny: [wf.agent-execution] } with a wf.agent step",
    since: "0.1.0",
  },
  "plan.callee_refused": {
    summary: "A file that a step calls cannot be used.",
    cause:
      "It is not there, cannot be read, lies outside of the project's folder, or has errors of its own, which are shown with it.",
    fix: "Mend the path, which is relative to the folder of the calling file, or the file.",
    example: "wf.call: ./othr.workfile.yaml   # other",
    since: "0.1.0",
  },
  "plan.recursive": {
    summary: "A file calls itself, directly or through others.",
    cause: "The calls would go on for ever, and no bound could be proved.",
    fix: "Write the repetition as wf.repeat or wf.each.",
    example: "wf.call: ./self.workfile.yaml   # in self.workfile.yaml",
    since: "0.1.0",
  },
  "plan.too_deep": {
    summary: "Files call each other deeper than the limit.",
    cause: "`limits.depth` counts the file that is run as the first level.",
    fix: "Flatten the calls, or raise limits.depth in the deployment.",
    example: "limits: { depth: 1 }   # with a wf.call",
    since: "0.1.0",
  },
  "plan.ceiling_exceeded": {
    summary: "The worst case of the plan lies above the operator's ceiling.",
    cause: "Budgets, retries and loops together may use more than policy.ceiling allows, as ambit plan shows.",
    fix: "Lower the budget, max or retry that the message names, or ask the operator for a higher ceiling.",
    example: "budget: { steps: 500 } under policy: { ceiling: { tool_attempts: 200 } }",
    since: "0.1.0",
  },
  "plan.unbounded": {
    summary: "A bound that the ceiling asks for cannot be proved.",
    cause: "An expression or a model without a token count decides it only while the run goes on.",
    fix: "Give the step named a literal bound (max, budget, timeout).",
    example: "budget: { steps: 8 } under ceiling: { tokens: 500000 }   # budget: { steps: 8, tokens: 20000 }",
    since: "0.1.0",
  },
  tool_not_authorized: {
    summary: "The operator's policy says no to a call.",
    cause: "The action is under policy.deny, an agent has used up its max, or it gave an input that policy fixes.",
    fix: "Do without the call, or have the policy in ambit.yaml changed.",
    example: "policy: { deny: [billing.refund] } and a step billing.refund",
    since: "0.1.0",
  },
} as const satisfies { [code: string]: CodePage };
