import { test } from "vitest";
import { fileURLToPath } from "node:url";
import { listCases, trialsOf } from "./case-files.ts";
import { CaseFolder } from "./case-folder.ts";
import { InProcess } from "./in-process.ts";
test("t", async () => {
  const trials = listCases(fileURLToPath(new URL("../../conformance", import.meta.url))).flatMap(trialsOf);
  for (let i = 0; i < 3; i++) for (const t of trials.slice(0, 1)) {
    const m = (w: string) => { console.log(w, Math.round(performance.now() - a)); a = performance.now(); };
    let a = performance.now();
    const f = new CaseFolder(t); m("folder");
    const p = new InProcess(f, t.case.settings); const e = await p.engine; m("engine");
    await e.plan(f.workflow); m("plan");
    const o = await p.start(); m("start " + o.records.length);
    await p.replay(o.run!); m("replay");
    await p.close(); m("close"); f.dispose(); m("dispose");
  }
});
