/** Runs a case through the library, in this process. */
import { createEngine, type Engine, type EngineRun } from "../../src/app/engine.ts";
import { sleep, systemClock } from "../../src/base/clock.ts";
import { parseDuration } from "../../src/base/duration.ts";
import { isObject, type JsonObject } from "../../src/base/json.ts";
import { asRefused, printRefusal } from "../../src/cli/refusal.ts";
import { followRun } from "../../src/cli/run-output.ts";
import { paint, type Terminal } from "../../src/cli/terminal.ts";
import { createVirtualClock, type VirtualClock } from "../../src/host/clocks/virtual-clock.ts";
import { globMatches } from "../../src/host/models/script.ts";
import { Cursor, pagesOfRun } from "../../src/journal/cursor.ts";
import type { RunRecord } from "../../src/journal/event.ts";
import type { RunStatus } from "../../src/journal/outcome.ts";
import { StepsFold } from "../../src/journal/steps.ts";
import type { Plan } from "../../src/plan/plan.ts";
import { Answering, nextExpiry } from "./answering.ts";
import type { CaseSettings } from "./case-files.ts";
import type { CaseFolder } from "./case-folder.ts";
import { type Driver, NOTHING, type Outcome } from "./outcome.ts";
import { turnsOf } from "./transcript.ts";

/** Milliseconds of the machine after which a run is given up: a hang is a failure. */
const PATIENCE_MS = 20_000;
/** How often a position is looked for where time is real. */
const LOOK_EVERY_MS = 2;

export class InProcess implements Driver {
  readonly #folder: CaseFolder;
  readonly #settings: CaseSettings;
  readonly #virtual: VirtualClock | null;
  readonly #said: string[] = [];
  readonly #engine: Promise<Engine>;
  readonly #answering: Answering;
  /** Cancels where the case says so; asked whenever the run may have come there. */
  #look: () => boolean = () => false;

  constructor(folder: CaseFolder, settings: CaseSettings) {
    this.#folder = folder;
    this.#settings = settings;
    const { clock } = settings;
    this.#virtual =
      clock === "real" ? null : createVirtualClock({ start: clock.simulated, onRest: () => this.#rests() });
    this.#answering = new Answering(settings.answers);
    this.#engine = createEngine({
      cwd: folder.path,
      identity: "tester",
      label: "a conformance case",
      clock: this.#virtual ?? systemClock,
      say: (line) => this.#said.push(`${line}\n`),
    });
  }

  get engine(): Promise<Engine> {
    return this.#engine;
  }

  async start(): Promise<Outcome> {
    const { inputs, trigger, run_id, dry_run } = this.#settings;
    return this.#follow(async (engine) => {
      const run = await engine.start(this.#folder.workflow, {
        ...(inputs === undefined ? {} : { inputs }),
        ...(trigger === undefined ? {} : { trigger }),
        ...(run_id === undefined ? {} : { runId: run_id }),
        dryRun: dry_run === true,
      });
      this.#cancelWhenDue(run);
      return run;
    });
  }

  async resume(run: string): Promise<Outcome> {
    return this.#follow((engine) => engine.resume(run));
  }

  async replay(run: string): Promise<Outcome> {
    const engine = await this.#engine;
    const records = await this.#records(run);
    try {
      const { is, ...rest } = await engine.replay(run);
      const replay: JsonObject = { result: is, ...rest };
      return { ...NOTHING, exit: is === "diverged" ? 7 : 0, run, replay, records };
    } catch (error) {
      return { ...refusal(error, ""), run, records };
    }
  }

  async close(): Promise<void> {
    this.#virtual?.stop();
    await (await this.#engine).close();
  }

  /** Time passes only where nobody is just answering. */
  #rests(): boolean {
    return this.#look() || this.#answering.isUnderWay;
  }

  /** Follows a run, and goes on with it as long as its questions are answered or their time is up. */
  async #follow(begin: (engine: Engine) => Promise<EngineRun>): Promise<Outcome> {
    let outcome = await this.#followOnce(begin);
    for (;;) {
      const isAnswered = await this.#answering.said();
      this.#answering.left();
      const { run, result, output } = outcome;
      if (run === null || result?.["status"] !== "suspended") return outcome;
      const due = nextExpiry(outcome.records);
      if (!isAnswered && due === null) return outcome;
      const clock = this.#virtual ?? systemClock;
      if (!isAnswered && due !== null) await sleep(clock, Math.max(0, due - clock.now()));
      outcome = await this.#followOnce((engine) => engine.resume(run));
      outcome = { ...outcome, output: output + outcome.output };
    }
  }

  async #followOnce(begin: (engine: Engine) => Promise<EngineRun>): Promise<Outcome> {
    const engine = await this.#engine;
    const terminal = new Captured();
    let run: EngineRun;
    try {
      run = await begin(engine);
    } catch (error) {
      return refusal(error, this.#output(terminal));
    }
    const impatience = setTimeout(() => run.abandon("the test's patience"), PATIENCE_MS);
    const answering = this.#answer(engine, run);
    answering.catch(() => {});
    const looking = this.#virtual === null ? setInterval(() => this.#look(), LOOK_EVERY_MS) : undefined;
    try {
      const exit = await followRun(terminal, run, { goOn: `Look at it with: ambit runs show ${run.id}` });
      const result = await run.result();
      await answering;
      const records = await this.#records(run.id);
      return {
        ...NOTHING,
        exit,
        run: run.id,
        result: { ...(result as unknown as JsonObject), steps: stepsOf(records, result.status) },
        records,
        output: this.#output(terminal),
      };
    } catch (error) {
      return {
        ...refusal(error, this.#output(terminal)),
        run: run.id,
        records: await this.#records(run.id).catch(() => []),
      };
    } finally {
      clearTimeout(impatience);
      clearInterval(looking);
      this.#look = () => false;
    }
  }

  async #answer(engine: Engine, run: EngineRun): Promise<void> {
    for await (const record of run.events()) this.#answering.see(engine, record);
  }

  async #records(run: string): Promise<RunRecord[]> {
    const journal = await (await this.#engine).journal(null);
    const records: RunRecord[] = [];
    for await (const record of new Cursor(pagesOfRun(journal, run))) records.push(record);
    return records;
  }

  #output(terminal: Captured): string {
    return [...terminal.printed, ...this.#said].join("");
  }

  /** A time from the start, or the moment in which something happens or begins at a position. */
  #cancelWhenDue(run: EngineRun): void {
    const { cancel_at: at } = this.#settings;
    if (at === undefined) return;
    const duration = parseDuration(at);
    if (duration.ok) {
      (this.#virtual ?? systemClock).after(duration.ms, () => run.cancel());
      return;
    }
    let reached = false;
    this.#look = () => {
      const before = reached;
      reached ||=
        this.#folder.dispatches().some((line) => globMatches(at, line.position)) ||
        turnsOf(run.id).some((turn) => globMatches(at, turn.step));
      if (!reached || before) return false;
      run.cancel();
      return true;
    };
    void (async () => {
      for await (const record of run.events()) {
        if (record.position === "" || !globMatches(at, record.position) || reached) continue;
        reached = true;
        run.cancel();
      }
    })().catch(() => {});
  }
}

/** The rows that `runs show` adds to the result. */
export function stepsOf(records: readonly RunRecord[], status: RunStatus): JsonObject[] {
  const definition = records[0]?.body["definition"];
  if (!isObject(definition)) return [];
  const fold = new StepsFold();
  for (const record of records) fold.add(record);
  return fold.rows(definition["plan"] as unknown as Plan, status) as unknown as JsonObject[];
}

class Captured implements Terminal {
  readonly printed: string[] = [];
  readonly color = paint(false);
  readonly json = false;

  out(text: string): void {
    this.printed.push(text);
  }

  err(text: string): void {
    this.printed.push(text);
  }

  say(line: string): void {
    this.err(`${line}\n`);
  }

  route(): void {}
}

function refusal(error: unknown, output: string): Outcome {
  const refused = asRefused(error);
  const terminal = new Captured();
  printRefusal(terminal, error);
  return {
    ...NOTHING,
    exit: refused.exit,
    error: refused.fault.toJSON(),
    diagnostics: refused.diagnostics,
    output: output + terminal.printed.join(""),
  };
}
