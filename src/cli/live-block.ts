import { type Clock, systemClock, type Timer } from "../base/clock.ts";
import { typed } from "../journal/bodies.ts";
import type { RunRecord } from "../journal/event.ts";
import { counted, lasted } from "../view/words.ts";
import { oneLine, type Terminal } from "./terminal.ts";

const MAX_LINES = 8;
const EVERY_MS = 200;
const FRAMES = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];

interface Running {
  agent: string;
  since: number;
  turns: number;
}

/**
 * The agents that are at work, below the finished lines: at most eight lines that are drawn over. On what is no
 * terminal it draws nothing, and lines are just lines.
 */
export class LiveBlock {
  readonly #terminal: Terminal;
  readonly #clock: Clock;
  readonly #on: boolean;
  readonly #running = new Map<string, Running>();
  #drawn = 0;
  #frame = 0;
  #timer: Timer | null = null;

  constructor(terminal: Terminal, on: boolean, clock: Clock = systemClock) {
    this.#terminal = terminal;
    this.#clock = clock;
    this.#on = on;
  }

  /** A finished line goes into the scrollback, above the block. */
  line(text: string): void {
    this.#erase();
    this.#terminal.err(`${text}\n`);
    this.#draw();
  }

  see(raw: RunRecord): void {
    if (!this.#on) return;
    const record = typed(raw);
    if (record.kind === "agent.started") {
      this.#running.set(record.position, { agent: record.body.agent.name, since: this.#clock.now(), turns: 0 });
    } else if (record.kind === "agent.turn") {
      const entry = this.#running.get(record.position.slice(0, record.position.lastIndexOf(".(turns)")));
      if (entry) entry.turns++;
    } else if (record.kind === "agent.ended") {
      this.#running.delete(record.position);
    }
    this.#erase();
    this.#draw();
  }

  end(): void {
    this.#running.clear();
    this.#erase();
    this.#timer?.cancel();
    this.#timer = null;
  }

  #erase(): void {
    if (this.#drawn > 0) this.#terminal.err(`\u001b[${this.#drawn}A\u001b[0J`);
    this.#drawn = 0;
  }

  #draw(): void {
    if (!this.#on || this.#running.size === 0) return;
    const { color } = this.#terminal;
    const frame = FRAMES[this.#frame % FRAMES.length] ?? "";
    const lines = [...this.#running].map(
      ([at, { agent, since, turns }]) =>
        `  ${color.cyan(frame)} ${oneLine(at, 40)} ${color.dim(`${oneLine(agent, 24)}, ${counted(turns, "turn")}, ${lasted(Math.floor((this.#clock.now() - since) / 1_000) * 1_000)}`)}`,
    );
    const shown = lines.slice(0, MAX_LINES);
    if (lines.length > MAX_LINES) shown[MAX_LINES - 1] = color.dim(`  and ${lines.length - MAX_LINES + 1} more`);
    this.#terminal.err(`${shown.join("\n")}\n`);
    this.#drawn = shown.length;
    this.#timer ??= this.#clock.after(EVERY_MS, () => this.#tick());
  }

  #tick(): void {
    this.#timer = null;
    this.#frame++;
    this.#erase();
    this.#draw();
  }
}
