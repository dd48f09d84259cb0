import { describe, expect, test } from "vitest";
import type { Step } from "../plan/step.ts";
import type { RunStatus } from "./outcome.ts";
import { type StepRow, StepsFold } from "./steps.ts";
import {
  actionStep,
  askStep,
  assignStep,
  branchStep,
  did,
  eachStep,
  History,
  parallelStep,
  planOf,
} from "./testing/history.ts";

function rowsOf(steps: Step[], history: History, status: RunStatus): StepRow[] {
  const fold = new StepsFold();
  for (const record of history.records) fold.add(record);
  return fold.rows(planOf(steps), status);
}

/** `position status` of each row. */
function seen(steps: Step[], history: History, status: RunStatus): string[] {
  return rowsOf(steps, history, status).map((row) => `${row.position} ${row.status}`);
}

describe("the rows of runs show", () => {
  test("records tell what was done, the plan what was not", () => {
    const steps = [actionStep("a"), assignStep("b"), actionStep("c"), actionStep("d")];
    const history = new History()
      .accepted()
      .started()
      .callFailed("a", "action.unavailable", { retry: true, queued_ms: 3 }, { after: 100 })
      .call("a", 1, { queued_ms: 4 }, { attempt: 2, after: 100 })
      .callFailed("c", "action.auth", { late: true }, { after: 50 });
    expect(seen(steps, history, "failed")).toEqual(["a completed", "b completed", "c failed", "d not_started"]);
    const [a, b, c, d] = rowsOf(steps, history, "failed");
    expect(a).toMatchObject({ kind: "action", attempts: 2, queued_ms: 7, code: null, because: null, late: false });
    expect(a?.started_at).toBe("2026-01-01T00:00:00.112Z");
    expect(a?.duration_ms).toBe(108);
    expect(b).toMatchObject({ kind: "assign", started_at: null, duration_ms: null });
    expect(c).toMatchObject({ code: "action.auth", late: true });
    expect(d).toMatchObject({ attempts: 0, started_at: null, duration_ms: null });
  });

  test("a guard that was false, a failure that was handled, and a handler's steps", () => {
    const withCatch = actionStep("b", { catch: [{ codes: ["*"], steps: [actionStep("mend")] }] });
    const history = new History()
      .accepted()
      .callFailed("b", "action.auth", {}, { trail: [did("a", "skipped")] })
      .call("b.(catch).mend", 1)
      .call("c", 1, {}, { trail: [did("b", "handled", { code: "action.auth", reason: "" })] });
    expect(seen([actionStep("a"), withCatch, actionStep("c")], history, "completed")).toEqual([
      "a skipped",
      "b handled",
      "b.(catch).mend completed",
      "c completed",
    ]);
  });

  test("what follows a failed step of an item that was left out never ran, however well the run ended", () => {
    const steps = [eachStep("e", [actionStep("x"), actionStep("y"), assignStep("z")])];
    const history = new History()
      .accepted()
      .callFailed("e[0].x", "action.auth")
      .call("e[1].x", 1)
      .call("e[1].y", 1, {}, { trail: [did("e", "loop_ended", { rounds: 2 })] });
    expect(seen(steps, history, "completed")).toEqual([
      "e completed",
      "e[0].x failed",
      "e[0].y not_started",
      "e[0].z not_started",
      "e[1].x completed",
      "e[1].y completed",
      "e[1].z completed",
    ]);
  });

  test("I3: of a branch only the arm that was taken is shown", () => {
    const steps = [branchStep("b", [actionStep("x"), assignStep("y")], [actionStep("z")]), actionStep("c")];
    const taken = new History().accepted().call("b.x", 1, {}, { trail: [did("b", "then")] });
    expect(seen(steps, taken, "running")).toEqual(["b running", "b.x completed", "b.y not_started", "c not_started"]);
    expect(seen(steps, taken, "completed")).toEqual(["b completed", "b.x completed", "b.y completed", "c completed"]);
    const other = new History().accepted().call("b.z", 1, {}, { trail: [did("b", "else")] });
    expect(seen(steps, other, "completed")).toEqual(["b completed", "b.z completed", "c completed"]);
    expect(seen(steps, new History().accepted(), "running")).toEqual(["b not_started", "c not_started"]);
  });

  test("I1: iterations stand in the order of their index, however they came", () => {
    const steps = [eachStep("l", [actionStep("x")])];
    const history = new History().accepted();
    for (const i of [10, 2, 0]) history.call(`l[${i}].x`, i);
    expect(seen(steps, history, "completed")).toEqual([
      "l completed",
      "l[0].x completed",
      "l[2].x completed",
      "l[10].x completed",
    ]);
  });

  test("an iteration number without sense does not make rows without end", () => {
    const history = new History().accepted().call("l[999999999].x", 1);
    expect(seen([eachStep("l", [actionStep("x")])], history, "completed").length).toBe(2);
  });

  test("branches side by side, named or not; a nameless step has no row", () => {
    const steps = [
      parallelStep("p", [
        { name: "left", steps: [actionStep("x")] },
        { name: "right", steps: [actionStep("y")] },
      ]),
      parallelStep(undefined, [{ steps: [actionStep("m")] }, { steps: [actionStep("n")] }]),
    ];
    const history = new History().accepted().call("p.left.x", 1).call("p.right.y", 1).call("n", 1);
    expect(seen(steps, history, "running")).toEqual([
      "p completed",
      "p.left.x completed",
      "p.right.y completed",
      "m not_started",
      "n completed",
    ]);
  });

  test("what was stopped says because of what", () => {
    const history = new History()
      .accepted()
      .callFailed("a", "store.out_of_stock")
      .add("stop.decided", "b", { cause: "sibling_failed", because: { position: "a", code: "store.out_of_stock" } })
      .add("call.ended", "b", {
        action: "x.y",
        connection: "main",
        args: {},
        outcome: "cancelled",
        effect: "none",
        retry: false,
        late: false,
        queued_ms: 0,
        duration_ms: 5,
      })
      .add("stop.decided", "c", { cause: "timeout", limit: 100 });
    const rows = rowsOf([actionStep("a"), actionStep("b"), actionStep("c")], history, "failed");
    expect(rows.map((row) => row.status)).toEqual(["failed", "cancelled", "timed_out"]);
    expect(rows[1]?.because).toEqual({ position: "a", code: "store.out_of_stock" });
    expect(rows[2]?.code).toBe("flow.timeout");
  });

  test("what comes after a stop changes nothing for the step, and is marked", () => {
    const history = new History()
      .accepted()
      .add("stop.decided", "a", { cause: "timeout", limit: 100 })
      .call("a", 1, { late: true });
    expect(rowsOf([actionStep("a")], history, "failed")[0]).toMatchObject({ status: "timed_out", late: true });
  });

  test("a question that stands is suspended, under way or given up as the run is", () => {
    const history = new History().accepted().add("ask.opened", "q", {
      for: "ask",
      id: "1",
      url: null,
      text: "",
      returns: [],
      assignees: [],
      approvers: null,
      expires_at: null,
    });
    const steps = [askStep("q"), actionStep("a")];
    expect(seen(steps, history, "suspended")).toEqual(["q suspended", "a not_started"]);
    expect(seen(steps, history, "running")).toEqual(["q running", "a not_started"]);
    expect(seen(steps, history, "cancelled")).toEqual(["q cancelled", "a not_started"]);
    history.add("ask.ended", "q", { how: "answered", by: ["ana"], value: {} });
    expect(seen(steps, history, "running")).toEqual(["q completed", "a not_started"]);
  });

  test("cleanups have rows where they were due, under the step and at the end", () => {
    const booked = actionStep("a", { cleanup: [{ on: "failure", steps: [actionStep("undo")] }] });
    const plan = planOf([booked], { cleanup: [{ on: "always", steps: [actionStep("tell")] }] });
    const fold = new StepsFold();
    const rows = (): string[] => fold.rows(plan, "failed").map((row) => `${row.position} ${row.status}`);
    const history = new History().accepted().call("a", 1);
    for (const record of history.records) fold.add(record);
    expect(rows()).toEqual(["a completed"]);
    history.call("a.(cleanup).undo", 1).callFailed("(cleanup).tell", "action.auth");
    for (const record of history.records.slice(2)) fold.add(record);
    expect(rows()).toEqual(["a completed", "a.(cleanup).undo completed", "(cleanup).tell failed"]);
  });
});
