import { expect, test } from "vitest";
import { diagnose } from "../syntax/diagnose.ts";
import { callOffered, callPinned, isOffered } from "./offered.ts";
import { allSteps, type Plan } from "./plan.ts";

const ACTION = "{ desk.triage: { sender: ana } }";
const EVERYWHERE = `workfile: "1"
name: everywhere
steps:
  - plain: ${ACTION}
  - other: { crm.search: {}, catch: [ { codes: ["*"], steps: [ { in_catch: ${ACTION} } ] } ], cleanup: [ { in_cleanup: ${ACTION} } ] }
  - agent: { wf.agent: a, goal: g, returns: { x: string }, budget: { steps: 1 }, on_exhausted: [ { in_handler: ${ACTION} } ] }
  - if: { wf.if: true, then: [ { in_then: ${ACTION} } ], else: [ { in_else: ${ACTION} } ] }
  - each: { wf.each: [1], steps: [ { in_each: ${ACTION} } ] }
  - repeat: { wf.repeat: { max: 1 }, steps: [ { in_repeat: ${ACTION} } ] }
  - parallel: { wf.parallel: { a: [ { in_branch: ${ACTION} } ] } }
  - asks: { wf.ask: Who?, asked: [ { in_asked: ${ACTION} } ], expires: 1h, on_expired: [ { in_expired: ${ACTION} } ] }
cleanup: [ { at_the_end: ${ACTION} } ]
`;

function planOf(text: string): Plan {
  const { plan, diagnostics } = diagnose(text, "a.workfile.yaml");
  if (plan === null) throw new Error(JSON.stringify(diagnostics));
  return plan;
}

const isTriage = (action: string): boolean => action === "desk.triage";

test("each step that names an offered workflow becomes a call, wherever it stands", () => {
  const plan = planOf(EVERYWHERE);
  const called = [...allSteps(callOffered(plan, isTriage))];
  const calls = called.filter((step) => step.kind === "call");
  expect(called.filter((step) => step.kind === "action").map(({ action }) => action)).toEqual(["crm.search"]);
  const written = /\b(?:plain|in_\w+|at_the_end)(?=: \{ desk)/g;
  expect(calls.map(({ id }) => id ?? "").sort()).toEqual([...(EVERYWHERE.match(written) ?? [])].sort());
  expect(calls[0]).toMatchObject({ id: "plain", callee: "desk.triage", with: { lit: { sender: "ana" } } });
});

test("a plan that names none is left as it is", () => {
  const plan = planOf(EVERYWHERE);
  expect(callOffered(plan, () => false)).toBe(plan);
  expect(callPinned(plan, plan)).toBe(plan);
});

test("a changed file calls what a run has pinned", () => {
  const callee = planOf(`workfile: "1"\nname: triage\ninputs: { sender: string }\nsteps: []\n`);
  const pinned = { ...callOffered(planOf(EVERYWHERE), isTriage), callees: { "desk.triage": callee } };
  const changed = callPinned(planOf(EVERYWHERE.replace("plain", "renamed")), pinned);
  expect(changed.callees).toEqual({ "desk.triage": callee });
  expect(changed.steps[0]).toMatchObject({ id: "renamed", kind: "call" });
});

test("a path and an action's name are never taken for each other", () => {
  expect(["./a.yaml", "a.yml", "desk.awl"].map(isOffered)).toEqual([false, false, false]);
  expect(isOffered("desk.triage")).toBe(true);
});
