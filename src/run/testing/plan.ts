import { admit } from "../../admit/admit.ts";
import type { AdmittedPlan } from "../../admit/admitted-plan.ts";
import { DEFAULT_LIMITS } from "../../admit/deployment.ts";
import { START_OF_TEXT } from "../../base/span.ts";
import { Catalog } from "../../catalog/catalog.ts";
import type { ActionManifest } from "../../catalog/manifest.ts";
import { compile } from "../../expression/cel.ts";
import type { Expr, Value } from "../../plan/expression.ts";
import type { Plan } from "../../plan/plan.ts";
import type { ActionStep, AgentStep, Common, EachStep, Step } from "../../plan/step.ts";

/** Plans for tests of the interpreter, without a text. */
export function expr(source: string): Expr {
  const compiled = compile(source);
  if (!compiled.ok) throw new Error(compiled.problems[0]?.message);
  return { lang: "cel", source, span: START_OF_TEXT, reads: [...compiled.expr.reads] };
}

export function common(id: string): Common & { id: string } {
  return { id, span: START_OF_TEXT, reads: [], writes: [], catch: [], cleanup: [], onUnknown: "abort" };
}

export function action(id: string, name: string, args: Value = { lit: {} }, more: Partial<ActionStep> = {}): Step {
  return { ...common(id), kind: "action", action: name, args, ...more };
}

export function agent(id: string, tools: string[], more: Partial<AgentStep> = {}): Step {
  return {
    ...common(id),
    kind: "agent",
    agent: "helper",
    goal: { lit: "Do it." },
    with: { lit: {} },
    tools,
    returns: [{ name: "answer", type: "string", required: true }],
    budget: { steps: 8 },
    finish: "result",
    ...more,
  };
}

export function each(id: string, list: Value, steps: Step[], more: Partial<EachStep> = {}): Step {
  return { ...common(id), kind: "each", list, item: "item", concurrency: 1, steps, onItemFailure: "fail", ...more };
}

export function plan(steps: Step[], outputs?: Value): Plan {
  return {
    v: 1,
    notation: "workfile",
    name: "test",
    scope: "lexical",
    inputs: [],
    steps,
    cleanup: [],
    ...(outputs === undefined ? {} : { outputs }),
    consts: {},
    settings: [],
    limits: {},
    triggers: [],
    callees: {},
  };
}

export function manifest(name: string, more: Partial<ActionManifest> = {}): ActionManifest {
  return {
    name,
    description: name,
    input: { type: "object" },
    output: {},
    effects: "read",
    idempotency: { kind: "natural" },
    retry: { attempts: 1, backoff: 0, on: [] },
    timeout: 1_000,
    dryRun: { kind: "execute" },
    scopes: [],
    requires: [],
    ambiguous: [],
    ...more,
  };
}

/** Admits a plan over some actions; a refusal fails the test. */
export function admitted(flow: Plan, actions: ActionManifest[] = [], limits = {}): AdmittedPlan {
  const byConnector = new Map<string, { [name: string]: ActionManifest }>();
  for (const entry of actions) {
    const [connector = "", name = ""] = entry.name.split(".");
    byConnector.set(connector, { ...byConnector.get(connector), [name]: entry });
  }
  const result = admit({
    plan: flow,
    files: { "test.workfile.yaml": "" },
    file: "test.workfile.yaml",
    catalog: new Catalog(
      [...byConnector].map(([name, entries]) => ({
        name,
        manifest: { connector: name, version: "1.0.0", actions: entries },
        connections: [],
      })),
    ),
    agents: {
      helper: [
        {
          name: "helper",
          id: "helper",
          isDefault: false,
          provider: "scripted",
          model: "scripted",
          maxOutputTokens: 100,
          tools: true,
          tokenMethod: "reported",
          stall: 1_000,
          retries: 0,
        },
      ],
    },
    chosenAgents: {},
    describeAgent: () => ({ protocol: "scripted/1", settings: {} }),
    settings: {},
    notify: null,
    secrets: {},
    hosts: {},
    commands: {},
    policy: { deny: [], approve: [], agents: {}, ceiling: {} },
    limits: { ...DEFAULT_LIMITS, drainGrace: 50, ...limits },
    capabilities: new Set(["wf.agent-execution"]),
  });
  if (result.admitted === null) throw new Error(JSON.stringify(result.diagnostics));
  return result.admitted;
}
