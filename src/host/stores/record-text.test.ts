import { hash } from "node:crypto";
import { expect, test } from "vitest";
import { fromRow, type RecordRow } from "./record-text.ts";

/** A row that somebody else wrote: its checksum is right. */
function row(data: string, blobs: string | null = null): RecordRow {
  const known = { seq: 3, kind: "notice.sent", position: "a", attempt: 1, data, blobs };
  const text = `run\ndef\n3 notice.sent a 1\n${blobs ?? ""}\n${data}`;
  return { ...known, sum: hash("sha256", text, "base64") };
}
const good: unknown[] = [1, "2026-01-01T00:00:00.000Z", null, null, [], { text: "a" }];
const read = (given: RecordRow, blob?: string): unknown => fromRow("run", "def", given, () => blob);

test("a row is a record", () => {
  expect(read(row(JSON.stringify(good)))).toMatchObject({ seq: 3, position: "a", body: { text: "a" } });
});

test.each([
  ["no JSON", "{"],
  ["no list", "{}"],
  ["null", "null"],
  ["a time that is no text", JSON.stringify(good.with(1, 7))],
  ["a hash that is no text", JSON.stringify(good.with(2, {}))],
  ["no trail", JSON.stringify(good.with(4, null))],
  ["a trail of what is no entry", JSON.stringify(good.with(4, ["x"]))],
  ["no body", JSON.stringify(good.with(5, "x"))],
])("a right checksum makes no record of %s", (_name, data) => {
  expect(() => read(row(data))).toThrowError(expect.objectContaining({ code: "journal.corrupt" }));
});

test("nor of large values that are named or kept otherwise", () => {
  const data = JSON.stringify(good.with(5, { text: { $blob: `sha256:${hash("sha256", "{", "hex")}` } }));
  expect(() => read(row(data, "{"))).toThrowError(expect.objectContaining({ code: "journal.corrupt" }));
  expect(() => read(row(data, '["text"]'), "{")).toThrowError(expect.objectContaining({ code: "journal.corrupt" }));
});
