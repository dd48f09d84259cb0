// From the caller's cancel to the signal of the tool that is running, in one process.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { inFolder, withEngine } from "./flow.mjs";
import { median, noise, percent, repeat } from "./measure.mjs";

const ROUNDS = 15;
const BAR = 50;

export async function cancel() {
  return inFolder(async (folder) => {
    writeFileSync(
      join(folder, "slow.mjs"),
      `import { defineConnector } from ${JSON.stringify(new URL("../dist/index.js", import.meta.url).href)};
export const slow = defineConnector({
  connector: "slow",
  manifest: {
    connector: "slow",
    version: "1.0.0",
    actions: { wait: { description: "Waits for its signal.", input: { type: "object" }, output: { type: "object" }, effects: "read" } },
  },
  actions: {
    wait: (_args, { signal }) =>
      new Promise((resolve) => {
        globalThis.ambitBench.started();
        signal.addEventListener("abort", () => {
          globalThis.ambitBench.stopped();
          resolve({});
        });
      }),
  },
});
`,
    );
    writeFileSync(join(folder, "ambit.yaml"), "connectors:\n  slow: { module: ./slow.mjs }\n");
    const file = join(folder, "flow.workfile.yaml");
    writeFileSync(file, 'workfile: "1"\nname: flow\nsteps:\n  - wait: { slow.wait: {} }\n');
    return withEngine(folder, join(folder, "store.db"), async (engine) => {
      const times = await repeat(ROUNDS, async () => {
        let stopped = 0n;
        const started = new Promise((resolve) => {
          globalThis.ambitBench = {
            started: resolve,
            stopped: () => {
              stopped = process.hrtime.bigint();
            },
          };
        });
        const run = await engine.start(file);
        await started;
        const asked = process.hrtime.bigint();
        run.cancel();
        const { status } = await run.result();
        if (status !== "cancelled" || stopped === 0n) throw new Error(`the run ended ${status}`);
        return Number(stopped - asked) / 1e6;
      });
      const worst = Math.max(...times);
      return [
        {
          what: "cancel to the running tool's signal",
          value: `${median(times).toFixed(2)} ms (${percent(noise(times))})`,
          bar: `< ${BAR} ms`,
          ok: median(times) < BAR,
        },
        { what: `the slowest of ${ROUNDS}`, value: `${worst.toFixed(2)} ms` },
      ];
    });
  });
}
