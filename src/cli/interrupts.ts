/**
 * Ctrl-C and SIGTERM while a run is started, and while it runs.
 *
 * I1: they are listened to from the moment the command begins: before there is a run the first one stops its start,
 *     so that servers which were started are ended and not left behind.
 * I2: the first one asks, the second one waits for nothing.
 */
import type { EngineRun } from "../app/engine.ts";
import type { StopSignal } from "../journal/result.ts";
import type { Terminal } from "./terminal.ts";

/** A signal came before there was a run. */
export class Interrupted extends Error {
  override readonly name = "Interrupted";
  readonly signal: "SIGINT" | "SIGTERM";
  constructor(signal: "SIGINT" | "SIGTERM") {
    super(`Stopped by ${signal} before anything ran.`);
    this.signal = signal;
  }
  get exit(): 130 | 143 {
    return this.signal === "SIGINT" ? 130 : 143;
  }
}

export class Interrupts {
  readonly #terminal: Terminal;
  readonly #stop = new AbortController();
  readonly #hurried: Promise<never>;
  #hurry: (error: Interrupted) => void = () => {};
  #first: StopSignal = null;
  #run: EngineRun | null = null;
  readonly #onInt = (): void => this.#on("SIGINT");
  readonly #onTerm = (): void => this.#on("SIGTERM");

  constructor(terminal: Terminal) {
    this.#terminal = terminal;
    this.#hurried = new Promise((_, reject) => {
      this.#hurry = reject;
    });
    this.#hurried.catch(() => {});
    process.on("SIGINT", this.#onInt);
    process.on("SIGTERM", this.#onTerm);
  }

  /** The first signal that came. */
  get first(): StopSignal {
    return this.#first;
  }

  /** Starts a run that the first signal cancels, its start included. Throws `Interrupted` if it never came to run. */
  async start(work: (signal: AbortSignal) => Promise<EngineRun>): Promise<EngineRun> {
    const starting = work(this.#stop.signal);
    starting.catch(() => {});
    try {
      this.#run = await Promise.race([starting, this.#hurried]);
      return this.#run;
    } catch (error) {
      throw this.#first === null ? error : new Interrupted(this.#first);
    }
  }

  /** From now on signals are the process's own again. */
  end(): void {
    process.off("SIGINT", this.#onInt);
    process.off("SIGTERM", this.#onTerm);
  }

  #on(name: "SIGINT" | "SIGTERM"): void {
    if (this.#first !== null) {
      if (this.#run === null) this.#hurry(new Interrupted(this.#first));
      else this.#run.abandon();
      return;
    }
    this.#first = name;
    const again = name === "SIGINT" ? "Ctrl-C again" : "SIGTERM again";
    this.#terminal.err(this.#terminal.color.yellow(`\nCancelling. ${again} ends it at once.\n`));
    this.#stop.abort();
  }
}
