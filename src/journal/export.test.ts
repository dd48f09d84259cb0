import { describe, expect, test } from "vitest";
import { Refusal } from "../errors/fault.ts";
import type { RunRecord } from "./event.ts";
import { exportLine, readExport } from "./export.ts";
import { changed, did, History } from "./testing/history.ts";

function sample(): RunRecord[] {
  return new History("r1")
    .accepted()
    .started()
    .call("find", { text: "line\nbreak" }, {}, { trail: [did("x", "skipped")] })
    .ended("completed").records;
}

const file = (records: readonly RunRecord[]): string => records.map(exportLine).join("");

function refused(text: string): Refusal {
  try {
    readExport(text);
  } catch (error) {
    if (error instanceof Refusal) return error;
    throw error;
  }
  throw new Error("it was read");
}

/** The records with one of them changed: by number, from 1. */
function but(seq: number, change: (record: RunRecord) => unknown): string {
  return sample()
    .map((record) => (record.seq === seq ? `${JSON.stringify(change(record))}\n` : exportLine(record)))
    .join("");
}

describe("an exported file (DU-23)", () => {
  test("is read back as it was", () => {
    expect(readExport(file(sample()))).toEqual({ records: sample(), dropped: null });
    expect(file(sample()).split("\n").length).toBe(5);
  });

  test("I2: an unfinished last line is dropped, and said", () => {
    const whole = file(sample());
    for (const cut of [20, 200]) {
      const read = readExport(whole.slice(0, whole.length - cut));
      expect(read.records.length).toBe(3);
      expect(read.dropped).toContain("line 4");
    }
    expect(readExport(whole.trimEnd()).records.length).toBe(4);
  });

  test("a last line that is finished and damaged is not dropped", () => {
    expect(refused(`${file(sample()).slice(0, -30)}\n`).fault.details).toEqual({ line: 4 });
  });

  test.each<[string, string, number]>([
    ["a line in the middle that is cut", file(sample()).replace(/"kind":"run\.started".*/, ""), 2],
    ["an empty line", file(sample()).replace("\n", "\n\n"), 2],
    ["a missing record", file(sample().filter((record) => record.seq !== 2)), 2],
    [
      "records in another order",
      file(sample().toSorted((a, b) => (a.seq === 2 ? 1 : b.seq === 2 ? -1 : a.seq - b.seq))),
      2,
    ],
    ["a record twice", but(4, () => ({ ...(sample()[2] as RunRecord), seq: 4 })), 4],
    ["an unknown kind", but(2, (record) => ({ ...record, kind: "run.paused" })), 2],
    ["a body that does not hash to its out", but(3, (record) => changed(record, { value: 1 })), 3],
    ["an in that does not fit", but(3, (record) => ({ ...record, in: "0".repeat(64) })), 3],
    ["another run", but(3, (record) => ({ ...record, run: "r2" })), 3],
    ["another definition", but(3, (record) => ({ ...record, def: "0".repeat(64) })), 3],
    [
      "a definition that was edited",
      but(1, (r) => changed(r, { definition: { ...(r.body["definition"] as object), settings: { a: 1 } } })),
      1,
    ],
    ["a newer format", but(2, (record) => ({ ...record, v: 2 })), 2],
    ["a trail that cannot be read", but(3, (record) => ({ ...record, trail: [{ position: "a", what: "danced" }] })), 3],
    ["a time that is none", but(2, (record) => ({ ...record, at: "yesterday" })), 2],
    ["no body", but(2, (record) => ({ ...record, body: null })), 2],
    ["text with half a character", but(3, (record) => changed(record, { action: "\ud800" })), 3],
    ["a key twice", file(sample()).replace('"seq":2', '"seq":2,"seq":2'), 2],
    ["a number that would be read as another", file(sample()).replace('"body":{}', '"body":{"n":9007199254740993}'), 2],
    ["no record at all", "\n", 1],
    ["nothing", "", 1],
  ])("I1: %s is journal.corrupt with its line", (_, text, line) => {
    const refusal = refused(text);
    expect(refusal.code).toBe("journal.corrupt");
    expect(refusal.fault.details).toEqual({ line });
  });

  test("I3: a body without the shape of its kind, and an id that no run may have, are refused", () => {
    const shapeless = but(3, (record) => changed(record, { outcome: null }));
    expect(refused(shapeless).message).toMatch(/Line 3 .*record 3 \(call\.ended\): `outcome` must be/);
    const bad = (run: string): string => file(sample().map((record) => ({ ...record, run })));
    for (const run of ["@last", "a/b", "", "a\u202eb"]) expect(refused(bad(run)).message).toContain("its run id");
  });

  test("I4: what a refusal quotes can be shown as it is, and is short", () => {
    const kind = `\u001b[2J\u202e${"x".repeat(900)}`;
    const { message } = refused(but(2, (record) => ({ ...record, kind })));
    expect(message).toContain("[2J");
    expect(message).not.toMatch(/[\p{Cc}\p{Cf}]/u);
    expect(message.length).toBeLessThan(300);
  });

  test("a file nested without end is refused, not followed", () => {
    const deep = `${"[".repeat(100_000)}${"]".repeat(100_000)}`;
    const line = exportLine(sample()[1] as RunRecord).replace('"body":{}', `"body":{"a":${deep}}`);
    expect(refused(exportLine(sample()[0] as RunRecord) + line).fault.details).toEqual({ line: 2 });
  });
});
