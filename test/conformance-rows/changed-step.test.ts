import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createEngine, type Engine } from "../../src/app/engine.ts";

const folder = mkdtempSync(join(tmpdir(), "ambit-changed-"));
let engine: Engine;
let run = "";

const file = (name: string, rest: string): string => {
  const path = join(folder, name);
  writeFileSync(
    path,
    `workfile: "1"
name: changed
steps:
  - resolve:
      wf.agent: helper
      goal: Find it.
      returns: { answer: string }
      budget: { tokens: 100 }
${rest}`,
  );
  return path;
};

beforeAll(async () => {
  writeFileSync(join(folder, "s.yaml"), "agents: { helper: [ { turns: [ { finish: { answer: yes } } ] } ] }\n");
  engine = await createEngine({
    cwd: folder,
    store: "memory",
    deployment: { agents: { helper: { provider: "scripted", script: "./s.yaml" } } },
    say: () => {},
  });
  const started = await engine.start(file("first.workfile.yaml", 'outputs: { said: "{{ resolve.answer }}" }\n'));
  expect((await started.result()).outputs).toEqual({ said: "yes" });
  run = started.id;
});

afterAll(async () => {
  await engine.close();
  rmSync(folder, { recursive: true, force: true });
});

test("WX-104: a changed later step is evaluated with the agent's recorded output", async () => {
  const changed = file("later.workfile.yaml", 'outputs: { said: "{{ resolve.answer.upperAscii() }}" }\n');
  rmSync(join(folder, "s.yaml"));
  expect(await engine.replay(run, { with: changed })).toMatchObject({
    is: "reevaluated",
    status: "completed",
    outputs: { said: "YES" },
  });
  expect(await engine.replay(run)).toMatchObject({ is: "equal" });
});

test("WX-104: where the history has no record, the evaluation is refused and nobody is called", async () => {
  const again = file(
    "again.workfile.yaml",
    '  - second:\n      wf.agent: helper\n      goal: Again.\n      returns: { answer: string }\n      budget: { tokens: 100 }\noutputs: { said: "{{ second.answer }}" }\n',
  );
  expect(await engine.replay(run, { with: again })).toMatchObject({ is: "diverged", position: "second.(turns)[0]" });
  const other = file("other.workfile.yaml", "  - post: { messaging.post: { channel: a, text: b } }\n");
  await expect(engine.replay(run, { with: other })).rejects.toMatchObject({
    exit: 7,
    fault: { code: "history.mismatch" },
  });
});
