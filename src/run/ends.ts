import type { Fault } from "../errors/fault.ts";
import type {
  CleanupEntry,
  Forgiven,
  Skipped,
  Suppressed,
  Truncated,
  Undetermined,
  UnknownEffect,
} from "../journal/outcome.ts";
import type { Position } from "../plan/position.ts";

const MAX_REASON = 1_024;

/** What a run's end has to name beside its status, so that no end lies (product.md 5). */
export class Ends {
  readonly forgiven: Forgiven[] = [];
  readonly skipped: Skipped[] = [];
  readonly truncated: Truncated[] = [];
  unknown: UnknownEffect[] = [];
  readonly cleanup: CleanupEntry[] = [];
  readonly suppressed: Suppressed[] = [];
  readonly undetermined: Undetermined[] = [];

  forgive(at: Position, fault: Fault): void {
    this.forgiven.push({ at, code: fault.code, reason: fault.message.slice(0, MAX_REASON) });
  }

  skip(at: Position, fault: Fault): void {
    this.skipped.push({
      at,
      cause: "failure",
      step: fault.at,
      reason: `${fault.code}: ${fault.message}`.slice(0, MAX_REASON),
    });
  }

  truncate(at: Position, cause: Truncated["cause"], done: number, left: number | null): void {
    this.truncated.push({ at, cause, done, left });
  }

  cleanedUp(position: Position, status: string, code: string | null): void {
    this.cleanup.push({ position, status, code });
  }

  suppress(entry: Suppressed): void {
    this.suppressed.push(entry);
  }

  leaveOpen(entry: Undetermined): void {
    this.undetermined.push(entry);
  }

  unknownEffect(position: Position, action: string, code: string, key: string | null): void {
    if (this.unknown.some((entry) => entry.position === position)) return;
    this.unknown.push({ position, action, code, ...(key === null ? {} : { key }) });
  }

  /** Somebody knows now what became of it. */
  settle(position: Position): void {
    this.unknown = this.unknown.filter((entry) => entry.position !== position);
  }
}
