/** Runs a case through the built command line in child processes: for what kills the process of the engine. */
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { createEngine } from "../../src/app/engine.ts";
import { isObject, type JsonObject, parseJson } from "../../src/base/json.ts";
import type { Diagnostic } from "../../src/errors/diagnostic.ts";
import type { FaultJson } from "../../src/errors/fault.ts";
import { globMatches } from "../../src/host/models/script.ts";
import { Cursor, pagesOfRun } from "../../src/journal/cursor.ts";
import type { RunRecord } from "../../src/journal/event.ts";
import { foldRecords, toResult } from "../../src/journal/fold.ts";
import { Answering } from "./answering.ts";
import { CaseError, type CaseSettings } from "./case-files.ts";
import type { CaseFolder } from "./case-folder.ts";
import { stepsOf } from "./in-process.ts";
import { type Driver, NOTHING, type Outcome } from "./outcome.ts";

const MAIN = fileURLToPath(new URL("../../dist/cli/main.js", import.meta.url));
/** Milliseconds after which a child is ended: a hang is a failure. */
const PATIENCE_MS = 20_000;
const KILLED = 137;

export class CommandLine implements Driver {
  readonly #folder: CaseFolder;
  readonly #settings: CaseSettings;
  readonly #answering: Answering;

  constructor(folder: CaseFolder, settings: CaseSettings) {
    if (!existsSync(MAIN)) throw new CaseError("A case that kills its process needs the built program: npm run build.");
    this.#folder = folder;
    this.#settings = settings;
    this.#answering = new Answering(settings.answers);
  }

  async start(): Promise<Outcome> {
    const { inputs, trigger, run_id, kill_at, dry_run } = this.#settings;
    const given: string[] = [];
    if (inputs !== undefined) {
      this.#folder.write(".ambit/inputs.json", JSON.stringify(inputs));
      given.push("--input", "@.ambit/inputs.json");
    }
    if (trigger !== undefined) {
      this.#folder.write(".ambit/trigger.json", JSON.stringify(trigger));
      given.push("--trigger", "@.ambit/trigger.json");
    }
    if (dry_run === true) given.push("--dry-run");
    if (run_id !== undefined) given.push("--run-id", run_id);
    return this.#rested(await this.#outcome(["run", this.#folder.workflow, "--json", ...given], kill_at));
  }

  async resume(run: string): Promise<Outcome> {
    return this.#rested(await this.#outcome(["resume", run, "--json"], undefined));
  }

  /** Goes on with a parked run as long as its questions are answered. */
  async #rested(first: Outcome): Promise<Outcome> {
    let outcome = first;
    for (;;) {
      const { run, result, records, output } = outcome;
      if (run === null || result?.["status"] !== "suspended") return outcome;
      const engine = await createEngine({ cwd: this.#folder.path });
      try {
        for (const record of records) this.#answering.see(engine, record);
        const isAnswered = await this.#answering.said();
        this.#answering.left();
        if (!isAnswered) return outcome;
      } finally {
        await engine.close();
      }
      outcome = await this.#outcome(["resume", run, "--json"], undefined);
      outcome = { ...outcome, output: output + outcome.output };
    }
  }

  async replay(run: string): Promise<Outcome> {
    return this.#outcome(["replay", run, "--json"], undefined);
  }

  async #outcome(args: readonly string[], killAt: string | number | undefined): Promise<Outcome> {
    const { exit, documents, output } = await this.#command(args, killAt);
    const last = (type: string): JsonObject | null => documents.findLast((entry) => entry["type"] === type) ?? null;
    const refused = last("refused");
    const replay = last("replay");
    const { records, run } = await this.#records(documents);
    const result = replay !== null || run === null ? null : (last("result") ?? openResult(records));
    return {
      ...NOTHING,
      exit,
      run,
      result: result === null ? null : { ...result, steps: stepsOf(records, toResult(foldRecords(records)).status) },
      error: (refused?.["error"] ?? null) as FaultJson | null,
      diagnostics: (refused?.["diagnostics"] ?? []) as unknown as Diagnostic[],
      replay,
      records,
      output,
    };
  }

  #command(
    args: readonly string[],
    killAt: string | number | undefined,
  ): Promise<{ exit: number; documents: JsonObject[]; output: string }> {
    return new Promise((resolve, reject) => {
      const child = spawn(process.execPath, [MAIN, ...args], {
        cwd: this.#folder.path,
        env: { ...process.env, NO_COLOR: "1" },
        stdio: ["ignore", "pipe", "pipe"],
      });
      const documents: JsonObject[] = [];
      let output = "";
      let rest = "";
      child.stdout.setEncoding("utf8").on("data", (chunk: string) => {
        output += chunk;
        const lines = (rest + chunk).split("\n");
        rest = lines.pop() ?? "";
        for (const line of lines) {
          const parsed = parseJson(line);
          if (!parsed.ok || !isObject(parsed.value)) continue;
          const document = parsed.value as JsonObject;
          documents.push(document);
          if (document["type"] === "event" && isThere(document, killAt)) child.kill("SIGKILL");
        }
      });
      child.stderr.setEncoding("utf8").on("data", (chunk: string) => {
        output += chunk;
      });
      const impatience = setTimeout(() => child.kill("SIGKILL"), PATIENCE_MS);
      child.once("error", reject);
      child.once("close", (code) => {
        clearTimeout(impatience);
        resolve({ exit: code ?? KILLED, documents, output });
      });
    });
  }

  /** From the store, no process being there any more. */
  async #records(documents: readonly JsonObject[]): Promise<{ records: RunRecord[]; run: string | null }> {
    const engine = await createEngine({ cwd: this.#folder.path });
    try {
      const journal = await engine.journal(null);
      const named = documents.find((entry) => typeof entry["run"] === "string")?.["run"];
      const id = typeof named === "string" ? named : (await journal.list({ limit: 1 }))[0]?.run;
      if (id === undefined) return { records: [], run: null };
      const records: RunRecord[] = [];
      for await (const record of new Cursor(pagesOfRun(journal, id))) records.push(record);
      return { records, run: id };
    } finally {
      await engine.close();
    }
  }
}

function isThere(record: JsonObject, killAt: string | number | undefined): boolean {
  if (typeof killAt === "number") return record["seq"] === killAt;
  const { position } = record;
  return killAt !== undefined && typeof position === "string" && position !== "" && globMatches(killAt, position);
}

/** What is known of a run whose process was killed. */
function openResult(records: readonly RunRecord[]): JsonObject {
  return toResult(foldRecords(records)) as unknown as JsonObject;
}
