// Replay of a long run against reading, parsing and checksumming the same records.
import { join } from "node:path";
import { inFolder, loopFlow, runOnce, withEngine } from "./flow.mjs";
import { median, milliseconds, noise, percent, repeat } from "./measure.mjs";

const LOOPS = 5;
const ROUNDS = 5;

async function readAll(engine, id) {
  const journal = await engine.journal(null);
  let count = 0;
  for (let seq = 1; ; ) {
    const page = await journal.read(id, seq, 256);
    if (page.length === 0) return count;
    count += page.length;
    seq = page[page.length - 1].seq + 1;
  }
}

export async function replay() {
  return inFolder(async (folder) => {
    const file = loopFlow(folder, LOOPS);
    return withEngine(folder, join(folder, "store.db"), async (engine) => {
      const { id } = await runOnce(engine, file);
      const read = [];
      const again = [];
      let events = 0;
      await repeat(ROUNDS, async () => {
        read.push(
          await milliseconds(async () => {
            events = await readAll(engine, id);
          }),
        );
        again.push(
          await milliseconds(async () => {
            const report = await engine.replay(id);
            if (report.is !== "equal") throw new Error(JSON.stringify(report));
          }),
        );
      });
      const ratio = median(again) / median(read);
      const rate = (events / median(again)) * 1_000;
      return [
        { what: `reading ${events} records`, value: `${median(read).toFixed(0)} ms (${percent(noise(read))})` },
        {
          what: "replay",
          value: `${median(again).toFixed(0)} ms, ${ratio.toFixed(2)}x of reading (${percent(noise(again))})`,
          bar: "≤ 6x",
          ok: ratio <= 6,
        },
        { what: "replay rate", value: `${Math.round(rate)} events/s`, bar: "≥ 30000", ok: rate >= 30_000 },
      ];
    });
  });
}
