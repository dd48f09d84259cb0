// Bytes of history for N tool calls of R-byte results, and growth from few to many steps.
import { inFolder, runOnce, withEngine, writeFlow } from "./flow.mjs";
import { milliseconds } from "./measure.mjs";

async function bytesOf(engine, id) {
  const journal = await engine.journal(null);
  let bytes = 0;
  for (let seq = 3; ; ) {
    const page = await journal.read(id, seq, 256);
    if (page.length === 0) return bytes;
    for (const record of page) {
      bytes += Buffer.byteLength(JSON.stringify(record));
      seq = record.seq + 1;
    }
  }
}

export async function history() {
  const rows = [];
  await inFolder(async (folder) => {
    await withEngine(folder, "memory", async (engine) => {
      const sizes = [];
      for (const n of [10, 100, 1_000]) {
        const file = writeFlow(folder, n, 2_000);
        let id = "";
        const time = await milliseconds(async () => {
          id = (await runOnce(engine, file)).id;
        });
        sizes.push({ n, bytes: await bytesOf(engine, id), time });
      }
      const last = sizes[sizes.length - 1];
      const bar = 2 * last.n * 2_000 + 1_024 * last.n;
      rows.push({
        what: `history of ${last.n} calls with 2,000-byte results`,
        value: `${last.bytes} bytes`,
        bar: `≤ ${bar}`,
        ok: last.bytes <= bar,
      });
      for (const { n, bytes, time } of sizes)
        rows.push({
          what: `${n} steps`,
          value: `${(bytes / n).toFixed(0)} bytes and ${(time / n).toFixed(2)} ms a step`,
        });
    });
  });
  return rows;
}
