import fc from "fast-check";
import { expect, test } from "vitest";
import { deepFreeze } from "../base/json.ts";
import { DELIVERY_KINDS, type EventKind, NOTE_KINDS, type RunRecord, TRAIL_WHATS } from "./event.ts";
import { applyRecord, foldRecords, initialState, toResult } from "./fold.ts";

const positions = fc.constantFrom("", "a", "b", "l[0].a", "l[1].a", "g.(turns)[0]", "g.(tools)[0]", "g.(tools)[1]");
const member = fc.oneof(fc.string({ maxLength: 6 }), fc.nat(9), fc.boolean(), fc.constant(null), fc.constant({}));
const body = fc.dictionary(
  fc.constantFrom(
    "outcome",
    "retry",
    "status",
    "positions",
    "reason",
    "for",
    "due",
    "usage",
    "calls",
    "key",
    "action",
    "dispatched",
    "unknown",
  ),
  fc.oneof(
    member,
    fc.constantFrom("ok", "failed", "unknown", "suppressed", "completed", "timed_out"),
    fc.array(
      fc.oneof(positions, fc.record({ n: fc.nat(2), key: member, verdict: fc.constantFrom("accepted", "refused") })),
    ),
    fc.record({ input: fc.nat(100), output: fc.nat(100) }),
  ),
);
const trail = fc.array(fc.record({ position: positions, what: fc.constantFrom(...TRAIL_WHATS), detail: member }), {
  maxLength: 3,
});
const record = fc.record({
  kind: fc.constantFrom<EventKind>(...DELIVERY_KINDS, ...NOTE_KINDS),
  position: positions,
  attempt: fc.integer({ min: 1, max: 3 }),
  trail,
  body,
});

const histories = fc.array(record, { maxLength: 30 }).map((parts) =>
  parts.map(
    (part, index): RunRecord =>
      deepFreeze({
        v: 1 as const,
        run: "r1",
        seq: index + 1,
        at: new Date(1_700_000_000_000 + index).toISOString(),
        def: "0".repeat(64),
        in: null,
        out: null,
        ...part,
      } as RunRecord),
  ),
);

test("I2: the fold of two parts is the fold of the second onto the fold of the first", () => {
  fc.assert(
    fc.property(histories, fc.nat(30), (records, cut) => {
      const whole = foldRecords(records);
      const first = foldRecords(records.slice(0, cut));
      expect(foldRecords(records.slice(cut), first)).toEqual(whole);
      expect(toResult(whole).counts.events).toBe(records.length);
    }),
  );
});

test("I1: a state is never changed by a later record", () => {
  fc.assert(
    fc.property(histories, (records) => {
      let state = initialState();
      for (const one of records) {
        const before = JSON.stringify({ ...state, standing: [...state.standing], openCalls: [...state.openCalls] });
        const next = applyRecord(state, one);
        expect(JSON.stringify({ ...state, standing: [...state.standing], openCalls: [...state.openCalls] })).toBe(
          before,
        );
        state = next;
      }
    }),
  );
});
