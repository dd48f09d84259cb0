// Runs of generated workflows through the library, on a stub connector.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createEngine } from "../dist/app/engine.js";

export async function inFolder(work) {
  const folder = mkdtempSync(join(tmpdir(), "ambit-bench-"));
  mkdirSync(join(folder, ".ambit"));
  try {
    return await work(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** A workflow of N natural writes, and its deployment. */
export function writeFlow(folder, steps, bytes = 20) {
  const lines = ['workfile: "1"', `name: flow-${steps}`, "limits: { steps: 20000 }", "steps:"];
  for (let i = 0; i < steps; i++) lines.push(`  - s${i}: { work.do: { n: ${i} } }`);
  const file = join(folder, `flow-${steps}.workfile.yaml`);
  writeFileSync(file, `${lines.join("\n")}\n`);
  writeFileSync(join(folder, "tools.yaml"), `actions:\n  work.do: [ { return: { text: "${"x".repeat(bytes)}" } } ]\n`);
  writeFileSync(
    join(folder, "ambit.yaml"),
    `connectors:
  work:
    stub: ./tools.yaml
    manifest:
      connector: work
      version: 1.0.0
      actions:
        do: { description: work, input: { type: object, properties: { n: { type: integer } } }, output: { type: object }, effects: write, idempotency: natural }
limits: { steps: 20000 }
`,
  );
  return file;
}

/** Loops of 1,000 natural writes each: a long history over a small plan. */
export function loopFlow(folder, loops) {
  writeFlow(folder, 1);
  const lines = ['workfile: "1"', `name: loops-${loops}`, "limits: { steps: 20000 }", "steps:"];
  for (let i = 0; i < loops; i++) {
    lines.push(
      `  - loop_${i}:`,
      '      wf.each: "{{ range(1000) }}"',
      "      as: n",
      "      max: 1000",
      "      steps:",
      '        - s: { work.do: { n: "{{ n }}" } }',
    );
  }
  const file = join(folder, `loops-${loops}.workfile.yaml`);
  writeFileSync(file, `${lines.join("\n")}\n`);
  return file;
}

/** One loop of N natural writes: what a step costs, without the reading of a longer file. */
export function roundsFlow(folder, rounds) {
  writeFlow(folder, 1);
  const file = join(folder, `rounds-${rounds}.workfile.yaml`);
  writeFileSync(
    file,
    `workfile: "1"
name: rounds-${rounds}
steps:
  - loop_0: { wf.each: "{{ range(${rounds}) }}", as: n, max: 1000, steps: [ { s: { work.do: { n: "{{ n }}" } } } ] }
`,
  );
  return file;
}

export async function withEngine(folder, store, work) {
  const engine = await createEngine({ cwd: folder, say: () => {}, ...(store ? { store } : {}) });
  try {
    return await work(engine);
  } finally {
    await engine.close();
  }
}

export async function runOnce(engine, file) {
  const run = await engine.start(file);
  const result = await run.result();
  if (result.status !== "completed") throw new Error(JSON.stringify(result.error));
  return { id: run.id, result };
}
