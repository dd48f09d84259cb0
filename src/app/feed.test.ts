import { expect, test } from "vitest";
import { pagesOfRecords } from "../journal/cursor.ts";
import type { RunRecord } from "../journal/event.ts";
import { History } from "../journal/testing/history.ts";
import { Feed } from "./feed.ts";

const { records } = new History("r1").accepted().started().call("a", 1);

async function all(feed: Feed, stored: readonly RunRecord[]): Promise<number[]> {
  const seen: number[] = [];
  for await (const record of feed.read(pagesOfRecords(stored))) seen.push(record.seq);
  return seen;
}

test("what was told is read from the store, and the end ends it", async () => {
  const feed = new Feed();
  const reading = all(feed, records);
  for (const record of records) feed.push(record);
  feed.end();
  expect(await reading).toEqual(records.map((record) => record.seq));
});

test("a record that was told and is not in the store is damage, and no wait without end", async () => {
  const feed = new Feed();
  for (const record of records) feed.push(record);
  await expect(all(feed, records.slice(0, 2))).rejects.toMatchObject({ code: "journal.corrupt" });
});
