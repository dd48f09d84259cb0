import { describe, expect, test } from "vitest";
import { Refusal } from "../errors/fault.ts";
import { Cursor, type Pages, pagesOfRecords } from "./cursor.ts";
import { History } from "./testing/history.ts";

function long(count: number): History {
  const history = new History().accepted();
  for (let i = 1; i < count; i++) history.call(`s${i}`, i);
  return history;
}

async function numbers(cursor: Cursor): Promise<number[]> {
  const seen: number[] = [];
  for await (const record of cursor) seen.push(record.seq);
  return seen;
}

describe("the cursor", () => {
  test("I2: gives every record once, in order, over many pages", async () => {
    const { records } = long(1_000);
    expect(await numbers(new Cursor(pagesOfRecords(records)))).toEqual(records.map((record) => record.seq));
    expect((await numbers(new Cursor(pagesOfRecords(records), 998))).length).toBe(3);
  });

  test("`seq` is that of the record to come, and the end stays the end", async () => {
    const cursor = new Cursor(pagesOfRecords(long(2).records));
    expect(cursor.seq).toBe(1);
    expect((await cursor.next())?.seq).toBe(1);
    expect(cursor.seq).toBe(2);
    expect((await cursor.next())?.seq).toBe(2);
    expect(await cursor.next()).toBeNull();
    expect(await cursor.next()).toBeNull();
    expect(cursor.seq).toBe(3);
  });

  test("I1: asks for bounded pages only", async () => {
    const { records } = long(2_000);
    const asked: number[] = [];
    const pages: Pages = (from, limit) => {
      asked.push(limit);
      return pagesOfRecords(records)(from, limit);
    };
    await numbers(new Cursor(pages));
    expect(Math.max(...asked)).toBeLessThanOrEqual(256);
  });

  test("I2: a gap is damage, wherever the pages are cut", async () => {
    const records = long(10).records.filter((record) => record.seq !== 5);
    const pages: Pages = async (from) => records.filter((record) => record.seq >= from).slice(0, 2);
    const error = await numbers(new Cursor(pages)).catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(Refusal);
    expect((error as Refusal).fault.details).toEqual({ run: "run_test", seq: 5 });
  });

  test("I3: a short page is not the end, and what is added later is read", async () => {
    const history = long(3);
    const pages: Pages = async (from) => history.records.filter((record) => record.seq >= from).slice(0, 1);
    const cursor = new Cursor(pages);
    for (let i = 0; i < 3; i++) await cursor.next();
    expect(await cursor.next()).toBeNull();
    history.call("later", 1);
    expect((await cursor.next())?.position).toBe("later");
  });
});
