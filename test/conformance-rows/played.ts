/** One run of a conformance folder, its engine left open: for rows that a case file cannot state. */
import { fileURLToPath } from "node:url";
import { createEngine, type Engine } from "../../src/app/engine.ts";
import type { JsonObject } from "../../src/base/json.ts";
import { createVirtualClock } from "../../src/host/clocks/virtual-clock.ts";
import type { RunRecord } from "../../src/journal/event.ts";
import { exportLine, readExport } from "../../src/journal/export.ts";
import type { RunResult } from "../../src/journal/result.ts";
import { readCase } from "../conformance/case-files.ts";
import { CaseFolder } from "../conformance/case-folder.ts";

const CASES = fileURLToPath(new URL("../../conformance", import.meta.url));

export interface Played {
  engine: Engine;
  folder: CaseFolder;
  run: string;
  result: RunResult;
  /** As `runs export` writes them. */
  exported: string;
  records: RunRecord[];
  end(): Promise<void>;
}

/** Plays the case of that name; `edit` changes its files before, `given` stands in place of its inputs. */
export async function play(
  name: string,
  edit: (folder: CaseFolder) => void = () => {},
  given?: JsonObject,
): Promise<Played> {
  const found = readCase(`${CASES}/${name}`, name);
  const folder = new CaseFolder({ name, case: found, variant: null, olderSpelling: false });
  edit(folder);
  const clock = createVirtualClock({ start: Date.UTC(2026, 0, 1) });
  const engine = await createEngine({ cwd: folder.path, identity: "tester", clock, say: () => {} });
  const { trigger, run_id } = found.settings;
  const inputs = given ?? found.settings.inputs;
  const run = await engine.start(found.workflow, {
    ...(inputs === undefined ? {} : { inputs }),
    ...(trigger === undefined ? {} : { trigger }),
    ...(run_id === undefined ? {} : { runId: run_id }),
  });
  const result = await run.result();
  const lines: string[] = [];
  for await (const record of run.events()) lines.push(exportLine(record));
  const exported = lines.join("");
  return {
    engine,
    folder,
    run: run.id,
    result,
    exported,
    records: [...readExport(exported).records],
    end: async () => {
      clock.stop();
      await engine.close();
      folder.dispose();
    },
  };
}
