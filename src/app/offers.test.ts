import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { checkConnectors } from "./connector-tools.ts";
import { createEngine } from "./engine.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "ambit-offers-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function write(files: { [path: string]: string }): void {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(join(folder, path, ".."), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
}

const SAID = `workfile: "1"\nname: said\ninputs: { word: string }\nsteps: [ { made: { wf.let: { text: "{{ inputs.word }}!" } } } ]\noutputs: { text: "{{ made.text }}" }\n`;
const CALLS = `workfile: "1"\nname: calls\nsteps: [ { one: { desk.said: { word: hey } } } ]\noutputs: { text: "{{ one.text }}" }\n`;

test("a workflow is offered from outside of the project that calls it, and a changed file replays", async () => {
  write({
    "ambit.yaml": "connectors: { desk: { workflows: { said: ./shared/said.workfile.yaml } } }",
    "shared/said.workfile.yaml": SAID,
    "app/package.json": "{}",
    "app/calls.workfile.yaml": CALLS,
  });
  const engine = await createEngine({ cwd: join(folder, "app"), store: "memory" });
  try {
    const run = await engine.start("calls.workfile.yaml");
    expect(await run.result()).toMatchObject({ status: "completed", outputs: { text: "hey!" } });
    // The run has pinned what it called: what becomes of the file is no matter to it.
    write({
      "shared/said.workfile.yaml": SAID.replace("!", "?"),
      "app/other.workfile.yaml": CALLS.replace("hey", "you"),
    });
    expect(await engine.replay(run.id)).toMatchObject({ is: "equal" });
    expect(await engine.replay(run.id, { with: "other.workfile.yaml" })).toMatchObject({
      is: "reevaluated",
      outputs: { text: "you!" },
    });
  } finally {
    await engine.close();
  }
});

test("connectors check reads the files, what they call included", async () => {
  write({
    "ambit.yaml": "connectors: { desk: { workflows: { said: ./said.workfile.yaml, again: ./again.workfile.yaml } } }",
    "said.workfile.yaml": SAID,
    "again.workfile.yaml": CALLS.replace("desk.said", "desk.again"),
  });
  const engine = await createEngine({ cwd: folder, store: "memory" });
  try {
    const deployment = await engine.deployment(folder);
    const findings = await checkConnectors(deployment, {}, () => {});
    expect(findings).toEqual([
      {
        connector: "desk",
        ok: false,
        problems: [expect.stringMatching(/^desk\.again: .*is called while it is under way/)],
      },
    ]);
    write({ "again.workfile.yaml": CALLS });
    expect(await checkConnectors(deployment, {}, () => {})).toEqual([{ connector: "desk", ok: true, problems: [] }]);
    rmSync(join(folder, "said.workfile.yaml"));
    expect((await checkConnectors(deployment, {}, () => {}))[0]?.problems).toHaveLength(2);
  } finally {
    await engine.close();
  }
});
