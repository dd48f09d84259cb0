import { describe, expect, test } from "vitest";
import type { Span } from "../base/span.ts";
import { START_OF_TEXT } from "../base/span.ts";
import { Catalog } from "../catalog/catalog.ts";
import type { ActionManifest } from "../catalog/manifest.ts";
import type { Step } from "../plan/step.ts";
import { action, agent, common, each, expr, manifest, plan } from "../run/testing/plan.ts";
import type { AdmissionInput, StepPlaces } from "./admission.ts";
import { admit } from "./admit.ts";
import { type AgentConfig, DEFAULT_LIMITS } from "./deployment.ts";
import { covers } from "./policy-match.ts";

const tries = (name: string, attempts: number, more: Partial<ActionManifest> = {}): ActionManifest =>
  manifest(name, { retry: { attempts, backoff: 0, on: [] }, ...more });

/** What is admitted unless a test says otherwise: `messaging.post` (twice at most), `crm.find` (once), no agents. */
function input(steps: Step[], more: Partial<AdmissionInput> = {}): AdmissionInput {
  const connector = (name: string, ...actions: ActionManifest[]) => ({
    name,
    manifest: {
      connector: name,
      version: "1.0.0",
      actions: Object.fromEntries(actions.map((entry) => [entry.name.slice(name.length + 1), entry])),
    },
    connections: [],
  });
  return {
    plan: plan(steps),
    files: { "a.workfile.yaml": "" },
    file: "a.workfile.yaml",
    catalog: new Catalog([
      connector("messaging", tries("messaging.post", 2, { effects: "write", idempotency: { kind: "none" } })),
      connector("crm", tries("crm.find", 1), tries("crm.check", 3)),
    ]),
    agents: {},
    chosenAgents: {},
    describeAgent: () => ({ protocol: "scripted/1", settings: {} }),
    settings: {},
    notify: { action: "messaging.post", with: { channel: "#ops" } },
    secrets: { messaging: ["env WEBHOOK"] },
    hosts: { messaging: ["hooks.example.org"], other: ["never.example.org"] },
    commands: {},
    policy: { deny: [], approve: [], agents: {}, ceiling: {} },
    limits: DEFAULT_LIMITS,
    capabilities: new Set(["wf.agent-execution"]),
    ...more,
  };
}

const policy = (more: Partial<AdmissionInput["policy"]>): Pick<AdmissionInput, "policy"> => ({
  policy: { deny: [], approve: [], agents: {}, ceiling: {}, ...more },
});

const tell = (id: string): Step => ({ ...common(id), kind: "notify", text: { lit: "Hello." } });

const codes = (result: ReturnType<typeof admit>): string[] => result.diagnostics.map((found) => found.code);

/** A step that stands elsewhere than at the start of the text. */
function at<S extends Step>(line: number, step: S): S {
  return { ...step, span: lineSpan(line) };
}

function lineSpan(line: number): Span {
  return { ...START_OF_TEXT, line, endLine: line };
}

describe("the action behind wf.notify", () => {
  test.each(["messaging.post", "messaging.*"])("is held against policy.approve: %s", (entry) => {
    const result = admit(input([tell("tell")], policy({ approve: [entry] })));
    expect(result.admitted).not.toBeNull();
    expect(result.report.approvals).toEqual(["messaging.post"]);
  });

  test("has its attempts in the worst case, so a ceiling stops it", () => {
    expect(admit(input([tell("tell")])).report.bounds.toolAttempts).toBe(2);
    const result = admit(input([tell("tell")], policy({ ceiling: { toolAttempts: 1 } })));
    expect(result.admitted).toBeNull();
    expect(codes(result)).toEqual(["plan.ceiling_exceeded"]);
    const loop = each("all", { lit: [1, 2, 3] }, [tell("tell")]);
    expect(admit(input([loop])).report.bounds.toolAttempts).toBe(6);
  });

  test("stands in the report: who uses it, what it reaches, which secret it takes", () => {
    const { report } = admit(input([tell("tell")]));
    expect(report.tools).toMatchObject([{ action: "messaging.post", by: ["tell"] }]);
    expect(report.secrets).toEqual(["env WEBHOOK"]);
    expect(report.hosts).toEqual(["hooks.example.org"]);
    expect(report.reach.join()).toContain("write through messaging.post");
  });

  test("is nothing where the deployment names none", () => {
    const { report, admitted } = admit(
      input([tell("tell")], { notify: null, ...policy({ approve: ["messaging.*"] }) }),
    );
    expect(admitted).not.toBeNull();
    expect(report.bounds.toolAttempts).toBe(0);
    expect(report.tools).toEqual([]);
  });
});

describe("the action behind a reconciliation", () => {
  const reconciled = action(
    "pay",
    "crm.find",
    { lit: {} },
    {
      onUnknown: "reconcile",
      reconcile: { action: "crm.check", with: { lit: {} }, succeeded: expr("true"), failed: expr("false") },
    },
  );

  test("is resolved, counted, reported and held against policy.approve like any other", () => {
    const result = admit(input([reconciled], policy({ approve: ["crm.check"] })));
    expect(result.report.bounds.toolAttempts).toBe(1 + 3);
    expect(result.report.tools.map((tool) => [tool.action, tool.by])).toEqual([
      ["crm.check", ["pay"]],
      ["crm.find", ["pay"]],
    ]);
    expect(result.report.approvals).toEqual(["crm.check"]);
  });
});

test("policy lists name an action or all of a connector's, and nothing by half", () => {
  expect(covers(["crm.find"], "crm.find")).toBe(true);
  expect(covers(["crm.*"], "crm.find")).toBe(true);
  expect(covers(["crm.fin", "cr.*", "messaging.*", "*"], "crm.find")).toBe(false);
  expect(covers([], "crm.find")).toBe(false);
});

describe("findings point at the line that makes them", () => {
  const place = (result: ReturnType<typeof admit>, code: string) =>
    result.diagnostics.filter((found) => found.code === code).map((found) => found.line);

  test("a setting that is not there: at the expressions that read it", () => {
    const reads = (line: number, source: string) => ({ ...expr(source), span: lineSpan(line) });
    const flow = input([
      at(2, action("a", "crm.find", { map: { x: { lit: "settings.channel" } } })),
      at(4, action("b", "crm.find", { map: { x: { expr: reads(5, "settings.channel") } } })),
      at(6, { ...tell("c"), guard: reads(7, 'settings["channel"] == settings.other') }),
    ]);
    flow.plan.settings = ["channel", "other", "unseen"];
    const found = admit(flow).diagnostics.filter((entry) => entry.code === "deployment.missing_setting");
    expect(found.map((entry) => [/settings\.(\w+)/.exec(entry.message)?.[1], entry.line])).toEqual([
      ["unseen", 2],
      ["channel", 5],
      ["other", 7],
    ]);
  });

  test("a bound over the ceiling: at the step that makes most of it, outside of a branch", () => {
    const branch: Step = {
      ...common("b"),
      kind: "branch",
      subject: true,
      arms: [{ is: true, steps: [at(5, action("d", "crm.check"))] }],
      else: [],
      span: lineSpan(4),
    };
    const wide = at(6, each("e", { lit: [1] }, [at(7, action("f", "crm.find"))], { concurrency: 4 }));
    const steps = [at(2, action("a", "crm.find")), branch, wide];
    const over = (ceiling: AdmissionInput["policy"]["ceiling"]) =>
      place(admit(input(steps, policy({ ceiling }))), "plan.ceiling_exceeded");
    expect(over({ toolAttempts: 1 })).toEqual([5]);
    expect(over({ width: 2 })).toEqual([6]);
  });

  test("an approval that an agent's duration would wait for: at the tool", () => {
    const helper = agent("b", ["crm.find"], { budget: { duration: 1_000, steps: 1 } });
    const flow = input([at(3, helper)], policy({ approve: ["crm.find"] }));
    expect(place(admit(flow), "agent.approval_in_duration")).toEqual([3]);
  });

  test("an agent over a ceiling of tokens", () => {
    const flow = input([at(2, tell("a")), at(3, agent("b", [], { budget: { tokens: 900 } }))], {
      ...policy({ ceiling: { tokens: 100 } }),
    });
    expect(place(admit(flow), "plan.ceiling_exceeded")).toEqual([3]);
  });
});

describe("findings", () => {
  const config = (name: string): AgentConfig => ({
    name,
    id: `${name}-id`,
    isDefault: false,
    provider: "scripted",
    model: "scripted",
    maxOutputTokens: 1,
    tools: true,
    tokenMethod: "reported",
    stall: 1,
    retries: 0,
  });

  test("stand at the word that is meant, where the text tells", () => {
    const asked: unknown[] = [];
    const places: StepPlaces = {
      find: (step, word) => {
        asked.push([step.id, word]);
        return { span: { line: 7, column: 3, endLine: 7, endColumn: 9 }, path: `of ${step.id}` };
      },
    };
    const { diagnostics } = admit(input([agent("ask", ["crm.fnd"])], { places }));
    expect(diagnostics.map(({ code, line, path }) => [code, line, path])).toEqual(
      expect.arrayContaining([
        ["catalog.unknown_action", 7, "of ask"],
        ["agent.unresolved", 7, "of ask"],
      ]),
    );
    expect(asked).toEqual(
      expect.arrayContaining([
        ["ask", { is: "tool", name: "crm.fnd" }],
        ["ask", { is: "subject" }],
      ]),
    );
  });

  test("name the nearest agent, among configurations and choices", () => {
    const step = agent("ask", []);
    const near = step.kind === "agent" ? `${step.agent}s` : "";
    const missing = admit(input([step], { agents: { [near]: [config(near)] } }));
    expect(missing.diagnostics.map((found) => found.help).join()).toContain(`Did you mean "${near}"?`);
    const chosen = admit(
      input([step], { agents: { other: [config("other")] }, chosenAgents: { [near.slice(0, -1)]: "othr" } }),
    );
    expect(chosen.diagnostics.map((found) => found.help).join()).toContain('Did you mean "other"?');
  });

  test("a connector without a manifest names the command that writes one", () => {
    const bare = { name: "crm", manifest: { connector: "crm", version: "1", actions: {} }, connections: [] };
    const { diagnostics } = admit(input([action("find", "crm.find")], { catalog: new Catalog([bare]) }));
    expect(diagnostics[0]?.help).toContain("ambit connectors import crm > manifests/crm.yaml");
  });
});
