// A durable step of one run against a raw SQLite append with the same settings and the same bytes.
import { join } from "node:path";
import { DatabaseSync } from "@photostructure/sqlite";
import { inFolder, roundsFlow, runOnce, withEngine } from "./flow.mjs";
import { median, milliseconds, noise, percent, repeat } from "./measure.mjs";

/** Runs before anything counts: the measure is of a warm engine (a compiler that has seen the code). */
const WARM_UP = 10;
const ROUNDS = 15;

function rawAppends(path, n, text) {
  const db = new DatabaseSync(path);
  db.exec(
    "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; CREATE TABLE IF NOT EXISTS r (id INTEGER PRIMARY KEY, body TEXT)",
  );
  const insert = db.prepare("INSERT INTO r (body) VALUES (?)");
  const start = process.hrtime.bigint();
  for (let i = 0; i < n; i++) {
    db.exec("BEGIN IMMEDIATE");
    insert.run(text);
    db.exec("COMMIT");
  }
  const each = Number(process.hrtime.bigint() - start) / 1e3 / n;
  db.close();
  return each;
}

export async function durable() {
  return inFolder(async (folder) => {
    const ten = roundsFlow(folder, 10);
    const hundred = roundsFlow(folder, 100);
    const text = "x".repeat(900);
    const raw = [];
    const step = [];
    await withEngine(folder, join(folder, "store.db"), async (engine) => {
      await repeat(WARM_UP, () => runOnce(engine, hundred));
      await repeat(ROUNDS, async (i) => {
        raw.push(rawAppends(join(folder, `raw-${i}.db`), 100, text));
        const short = await milliseconds(() => runOnce(engine, ten));
        const long = await milliseconds(() => runOnce(engine, hundred));
        step.push(((long - short) / 90) * 1_000);
      });
    });
    const memory = [];
    await withEngine(folder, "memory", async (engine) => {
      await repeat(WARM_UP, () => runOnce(engine, hundred));
      await repeat(ROUNDS, async () => {
        const short = await milliseconds(() => runOnce(engine, ten));
        const long = await milliseconds(() => runOnce(engine, hundred));
        memory.push(((long - short) / 90) * 1_000);
      });
    });
    const bar = 1.5 * median(raw) + 50;
    return [
      { what: "raw append", value: `${median(raw).toFixed(0)} µs (${percent(noise(raw))})` },
      {
        what: "durable step",
        value: `${median(step).toFixed(0)} µs, ${(median(step) / median(raw)).toFixed(2)}x of a raw append (${percent(noise(step))})`,
        bar: `≤ 1.5x + 50 µs = ${bar.toFixed(0)} µs`,
        ok: median(step) <= bar,
      },
      {
        what: "step in memory",
        value: `${median(memory).toFixed(0)} µs (${percent(noise(memory))})`,
        bar: "< 1000 µs",
        ok: median(memory) < 1_000,
      },
    ];
  });
}
