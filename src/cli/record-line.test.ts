import { expect, test } from "vitest";
import type { Json } from "../base/json.ts";
import { History } from "../journal/testing/history.ts";
import { recordLine } from "./record-line.ts";
import { paint } from "./terminal.ts";

const ESC = String.fromCharCode(27);

test.each<[Json, string]>([
  ["all is well", "all is well"],
  [{ $sensitive: true }, "[sensitive]"],
  [{ for: "ana", token: { $sensitive: true } }, '{"for":"ana","token":"[sensitive]"}'],
  [7, "7"],
])("a notice of %j reads %s", (text, words) => {
  const [record] = new History().add("notice.sent", "tell", { text }).records;
  expect(record && recordLine(record, paint(false))).toBe(`  • tell ${words}`);
});

test("nothing of a record reaches the terminal raw", () => {
  const fault = { code: `x.${ESC}[2J`, position: "", message: "", details: {}, cause: null };
  const history = new History(`r${ESC}c`)
    .accepted({ name: `n${ESC}c` })
    .callFailed(`find${ESC}c`, "a.b", { fault })
    .add("run.suspended", "", { reason: `${ESC}c` as never, positions: [] })
    .add("run.resumed", "", { by: "me", redispatched: [`${ESC}c`] })
    .add("stop.decided", "", { cause: `${ESC}c` as never })
    .add("notice.sent", "tell", { text: `\u202e${ESC}c` });
  for (const record of history.records) {
    expect(recordLine(record, paint(false)) ?? "").not.toMatch(/[\p{Cc}\p{Cf}]/u);
  }
});

test("a refused proposal says why, with the field", () => {
  const call = {
    tool: "crm.search",
    args: {},
    verdict: "refused",
    code: "action.invalid_input",
    n: 0,
    key: null,
    message: 'crm.search: "query" is missing, expected string',
  };
  const [record] = new History().add("agent.turn", "g.(turns)[0]", {
    messages: [],
    calls: [call],
    usage: null,
    finish: "tool",
  }).records;
  expect(record && recordLine(record, paint(false))).toBe(
    '    ✗ refused crm.search action.invalid_input: crm.search: "query" is missing, expected string',
  );
});

test("one is not many, and a script is named once", () => {
  const agent = { name: "helper", provider: "scripted", model: "scripted" };
  const observed = { steps: 1, tokens: 1, duration_ms: 4 };
  const lines = new History()
    .add("agent.started", "g", { agent } as never)
    .add("agent.ended", "g", { reason: "no_result", observed, overshoot: {} } as never)
    .records.map((record) => recordLine(record, paint(false)));
  expect(lines).toEqual(["  ▸ g agent helper (scripted)", "  ✗ g no result, 1 tool attempt, 1 token"]);
});
