import { expect, test } from "vitest";
import { FAILED_STATES, identityOf, OPEN_STATES, statusAfter } from "../../src/host/stores/first-records.ts";
import { recordKey } from "../../src/journal/event.ts";
import { applyRecord, initialState } from "../../src/journal/fold.ts";
import { isOver, OPEN_STATES as OPEN, OUTCOMES } from "../../src/journal/outcome.ts";
import { History } from "../../src/journal/testing/history.ts";

// Stores may not import the journal (layers.mjs): what they have to know of its records they say themselves, and it is
// held against the journal's own here.

test("a store tells records apart as the journal does", () => {
  for (const position of ["", "a", "l[2].b.(tools)[0]", "a agent.turn 1"]) {
    const record = { position, kind: "call.ended", attempt: 3 } as const;
    expect(identityOf(record)).toBe(recordKey(record));
  }
});

test("the status that a store keeps is the one of the fold, record by record", () => {
  for (const outcome of OUTCOMES.filter((entry) => entry !== "suspended")) {
    const { records } = new History()
      .accepted()
      .started()
      .call("a", 1)
      .add("run.suspended", "", { reason: "halt", positions: ["a"] })
      .add("run.resumed", "", { by: "ana", epoch: 2 } as never)
      .add("stop.decided", "a", { cause: "cancel" } as never)
      .ended(outcome);
    let state = initialState();
    let status = "running";
    for (const record of records) {
      state = applyRecord(state, record);
      status = statusAfter(status, record);
      expect(status, record.kind).toBe(state.status);
    }
  }
});

test("the open and the failed states are the journal's", () => {
  expect([...OPEN_STATES]).toEqual([...OPEN]);
  for (const status of ["running", ...OUTCOMES] as const)
    expect(isOver(status)).toBe(!(OPEN as readonly string[]).includes(status));
  expect(OUTCOMES).toEqual(expect.arrayContaining([...FAILED_STATES]));
});
