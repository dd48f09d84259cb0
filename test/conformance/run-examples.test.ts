/** The pages of `ambit explain`, those about deployments and runs: what an example says does raise its code. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createEngine } from "../../src/app/engine.ts";
import { systemClock } from "../../src/base/clock.ts";
import { asRefused } from "../../src/cli/refusal.ts";
import { CODES, type Code } from "../../src/errors/codes.ts";
import { createVirtualClock } from "../../src/host/clocks/virtual-clock.ts";
import { Cursor, pagesOfRun } from "../../src/journal/cursor.ts";

/** A deployment and a workflow in parts; lines are indented where they are put. */
interface Scene {
  /** Of ambit.yaml. */
  top: string;
  agent: string;
  /** Beside `crm`. */
  connectors: string;
  /** How the connector `crm` is reached and connected. */
  connector: string;
  properties: string;
  /** Of the action `crm.search`, behind its input. */
  action: string;
  /** `actions` of tools.yaml. */
  tools: string;
  /** An entry of `agents.helper` in scripted.yaml. */
  script: string;
  /** Of the workflow. */
  head: string;
  steps: string;
  /** Files of the machine take its time. */
  real: boolean;
}

const PLAIN: Scene = {
  top: "",
  agent: "provider: scripted\nscript: ./scripted.yaml",
  connectors: "",
  connector: "stub: ./tools.yaml",
  properties: "query: { type: string }",
  action: "effects: read\nidempotency: natural",
  tools: "crm.search: [ { return: { id: a-1 } } ]",
  script: "turns: [ { finish: { ok: true } } ]",
  head: "",
  steps: "- look: { crm.search: { query: a } }",
  real: false,
};

const agentStep = (...lines: string[]): string => {
  const own = { "wf.agent": "helper", goal: "Look.", returns: "{ ok: boolean }", budget: "{ steps: 20 }" };
  const others = Object.entries(own).filter(([key]) => !lines.some((line) => line.startsWith(`${key}:`)));
  return `- look:\n${indented([...others.map(([key, value]) => `${key}: ${value}`), ...lines].join("\n"), 4)}`;
};
const withTools = agentStep("tools: [crm.search]");
const CALL = "{ call: crm.search, with: { query: a } }";

/** Where the example of a code belongs: before a remark, and cut at the word that joins its two halves. */
const SCENES: { [C in Code]?: (...example: [string, string]) => Partial<Scene> } = {
  "deployment.invalid": (top) => ({ top }),
  "deployment.missing_secret": (line) => ({
    agent: `provider: openai-compatible\nbase_url: http://127.0.0.1:1/v1\nmodel: m\n${line}`,
    steps: agentStep(),
  }),
  "deployment.missing_setting": (text) => ({ steps: `- tell: { wf.notify: "${text}" }` }),
  "catalog.unknown_action": (call) => ({ steps: `- look: { ${call} }` }),
  "catalog.no_default_connection": (line) => ({ connector: `stub: ./tools.yaml\n${line}` }),
  "catalog.missing_scope": (line) => ({
    connector: `stub: ./tools.yaml\n${line}`,
    action: `${PLAIN.action}\nscopes: [crm.read, crm.write]`,
  }),
  "catalog.unavailable": (connector) => ({ connector, real: true }),
  "catalog.invalid_manifest": (line) => ({ action: `effects: write\n${line}` }),
  "catalog.not_a_tool": (line) => ({
    properties: line,
    action: "effects: write\nidempotency: { keyed: request_key }",
    steps: withTools,
  }),
  "agent.unresolved": (line) => ({ steps: agentStep(line) }),
  "capability.unsupported": (top) => ({ top, steps: agentStep() }),
  "plan.ceiling_exceeded": (budget, top) => ({ top, steps: agentStep("tools: [crm.search]", budget) }),
  "plan.unbounded": (budget, ceiling) => ({ top: `policy: { ${ceiling} }`, steps: agentStep(budget) }),
  tool_not_authorized: (top) => ({ top: top.replace("billing.refund", "crm.search") }),
  "agent.budget_exhausted": (budget) => ({
    steps: agentStep("tools: [crm.search]", budget),
    script: `turns: [ ${CALL}, ${CALL}, ${CALL} ]`,
  }),
  "agent.invalid_result": (returns) => ({
    steps: agentStep(returns),
    script: "turns: [ { finish: { id: a-1 } } ]",
  }),
  "agent.no_result": (script) => ({ steps: agentStep(), script }),
  "agent.no_progress": (tools) => ({
    steps: agentStep(tools),
    script: "turns: [ { call: crm.delete, with: {}, repeat: forever } ]",
  }),
  "agent.gave_up": (script) => ({ steps: agentStep(), script }),
  "agent.rejected": (error) => ({ steps: agentStep(), script: `turns: [ { ${error} } ]` }),
  "agent.undeclared_tool": (tools) => ({
    steps: agentStep(tools),
    script: "turns: [ { call: search, with: {} }, { finish: { ok: true } } ]",
  }),
  "agent.reserved_key": () => ({
    properties: "amount: { type: integer }, idempotency_key: { type: string }",
    action: "effects: write\nidempotency: { keyed: idempotency_key }",
    steps: withTools,
    script: `turns: [ { ${CODES["agent.reserved_key"].example.replace("billing.charge", "crm.search")} }, { finish: { ok: true } } ]`,
  }),
  "agent.result_given": (script) => ({ steps: withTools, script }),
  "action.invalid_input": (call) => ({ steps: `- look: { ${call} }` }),
  "action.failed": (tools) => ({ tools }),
  "action.unavailable": (tools) => ({ tools }),
  "action.rate_limited": (tools) => ({ tools }),
  "stub.unmatched": (tools) => ({
    tools,
    steps: "- one: { crm.search: { query: a } }\n- two: { crm.search: { query: a } }",
  }),
  "files.not_found": (call) => ({ connectors: "files: { root: . }", steps: `- read: { ${call} }`, real: true }),
  "files.not_text": (call) => ({ connectors: "files: { root: . }", steps: `- read: { ${call} }`, real: true }),
  "flow.timeout": (step) => ({ tools: "crm.search: [ { hang: true } ]", steps: `- ${step}` }),
  "flow.limit_exceeded": (head) => ({
    head,
    steps: `- loop: { wf.each: [${Array.from({ length: 20 }).fill(0).join(", ")}], as: n, steps: [ { tell: { wf.notify: hello } } ] }`,
  }),
};

let folder = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "ambit-examples-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

test.each(Object.keys(SCENES) as Code[])("the example of %s raises it", async (code) => {
  const [line = ""] = CODES[code].example.split(/ {2,}#/);
  const [first = "", second = ""] = line.split(/ (?:under|with|and) (?=a |policy|ceiling)/);
  const scene = { ...PLAIN, ...SCENES[code]?.(first.trim(), second.trim()) };
  expect(await codesOf(scene)).toContain(code);
});

test("the plain scenes raise nothing", async () => {
  for (const steps of [PLAIN.steps, withTools]) expect(await codesOf({ ...PLAIN, steps })).toEqual([]);
});

/** Every code that a run of a scene comes to: of findings, of its end, of its records. */
async function codesOf(scene: Scene): Promise<string[]> {
  write(scene);
  const clock = scene.real ? null : createVirtualClock({ start: Date.UTC(2026, 0, 1) });
  const engine = await createEngine({
    cwd: folder,
    store: "memory",
    env: { PATH: process.env["PATH"] ?? "" },
    clock: clock ?? systemClock,
    say: () => {},
  });
  try {
    const run = await engine.start("example.workfile.yaml");
    await run.result();
    const records: unknown[] = [];
    for await (const record of new Cursor(pagesOfRun(await engine.journal(null), run.id))) records.push(record.body);
    return [...JSON.stringify(records).matchAll(/"code":"([^"]+)"/g)].map(([, found]) => found ?? "");
  } catch (error) {
    const { fault, diagnostics } = asRefused(error);
    return [fault.code, ...diagnostics.map((entry) => entry.code)];
  } finally {
    clock?.stop();
    await engine.close();
  }
}

function write(scene: Scene): void {
  const files: { [name: string]: string | Uint8Array } = {
    "ambit.yaml": `${scene.top}
agents:
  helper:
${indented(scene.agent, 4)}
connectors:
${indented(scene.connectors, 2)}
  crm:
${indented(scene.connector, 4)}
    manifest:
      connector: crm
      version: 1.0.0
      actions:
        search:
          description: Find accounts by text.
          input: { type: object, additionalProperties: false, properties: { ${scene.properties} } }
          output: { type: object }
${indented(scene.action, 10)}
`,
    "tools.yaml": `actions:\n${indented(scene.tools, 2)}\n`,
    "scripted.yaml": `agents:\n  helper:\n    - ${scene.script}\n`,
    "example.workfile.yaml": `workfile: "1"\nname: example\n${scene.head}\nsteps:\n${indented(scene.steps, 2)}\n`,
    "report.md": "report\n",
    "logo.png": Uint8Array.of(0x89, 0x50, 0x4e, 0x47, 0xff),
  };
  for (const [name, content] of Object.entries(files)) writeFileSync(join(folder, name), content);
}

function indented(text: string, by: number): string {
  return text.replaceAll(/^(?=.)/gm, " ".repeat(by));
}
