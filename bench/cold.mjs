// Cold starts of the command line against `node -e 0`.
import { execFileSync } from "node:child_process";
import { join, resolve } from "node:path";
import { median, noise, percent, repeat } from "./measure.mjs";

const root = resolve(import.meta.dirname, "..");
const main = join(root, "dist/cli/main.js");
const ROUNDS = 15;

function time(args) {
  const start = process.hrtime.bigint();
  execFileSync(process.execPath, args, { stdio: "ignore", cwd: root });
  return Number(process.hrtime.bigint() - start) / 1e6;
}

export async function cold() {
  const file = join(root, "examples/triage/triage.workfile.yaml");
  const kinds = { node: ["-e", "0"], version: [main, "--version"], check: [main, "check", file] };
  const times = { node: [], version: [], check: [] };
  // Interleaved, so that what else the machine does hits all three.
  await repeat(ROUNDS, async () => {
    for (const [kind, args] of Object.entries(kinds)) times[kind].push(time(args));
  });
  const base = median(times.node);
  const row = (what, kind, most) => {
    const ratio = median(times[kind]) / base;
    return {
      what,
      value: `${ratio.toFixed(2)}x of node -e 0 (${median(times[kind]).toFixed(0)} ms to ${base.toFixed(0)} ms, ${percent(noise(times[kind]))})`,
      bar: `≤ ${most}x`,
      ok: ratio <= most,
    };
  };
  return [row("ambit --version", "version", 1.6), row("ambit check", "check", 4)];
}
