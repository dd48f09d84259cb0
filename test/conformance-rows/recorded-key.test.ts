import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { afterEach, expect, test } from "vitest";
import { createEngine } from "../../src/app/engine.ts";
import { createVirtualClock } from "../../src/host/clocks/virtual-clock.ts";
import { exportLine, readExport } from "../../src/journal/export.ts";
import { readCase } from "../conformance/case-files.ts";
import { CaseFolder } from "../conformance/case-folder.ts";
import { play } from "./played.ts";

const CASE = "WX-54-one-key-for-all-attempts";
const CASES = fileURLToPath(new URL("../../conformance", import.meta.url));
/** Of the right form, and derived from nothing. */
const OTHER = `wf-agent-v1:${"0".repeat(64)}`;

const open: { end(): Promise<void> }[] = [];
afterEach(async () => {
  for (const entry of open.splice(0)) await entry.end();
});

test("WX-55: the recorded key is sent, whatever would be derived and whatever the file says by then", async () => {
  const whole = await play(CASE);
  open.push(whole);
  const [derived = ""] = /wf-agent-v1:[0-9a-f]{64}/.exec(whole.exported) ?? [];
  expect(new Set(whole.folder.dispatches().map((line) => line.key))).toEqual(new Set([derived]));

  // The same run as if its process had died behind the turn, another key in its history.
  const turn = whole.records.findIndex((record) => record.kind === "agent.turn");
  const until = whole.records
    .slice(0, turn + 1)
    .map(exportLine)
    .join("");
  const found = readCase(`${CASES}/${CASE}`, CASE);
  const folder = new CaseFolder({ name: CASE, case: found, variant: null, olderSpelling: false });
  const clock = createVirtualClock({ start: Date.UTC(2026, 0, 1) });
  const engine = await createEngine({ cwd: folder.path, identity: "tester", clock, say: () => {} });
  open.push({
    end: async () => {
      clock.stop();
      await engine.close();
      folder.dispose();
    },
  });
  const journal = await engine.journal(null);
  await journal.import([...readExport(until.replaceAll(derived, OTHER)).records]);
  // The step has another name in the file: the run goes on with what it was started with.
  const text = readFileSync(`${folder.path}/workflow.yaml`, "utf8");
  folder.write("workflow.yaml", text.replace("resolve:", "renamed:"));

  const run = await engine.resume(whole.run);
  expect((await run.result()).status).toBe("completed");
  expect(folder.dispatches().map(({ key, position, attempt }) => [key, position, attempt])).toEqual([
    [OTHER, "resolve.(tools)[0]", 1],
    [OTHER, "resolve.(tools)[0]", 2],
    [OTHER, "resolve.(tools)[0]", 3],
  ]);
  expect(await engine.replay(whole.run)).toMatchObject({ is: "equal" });
});
