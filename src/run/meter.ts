/**
 * What an agent step has spent of its Budget.
 *
 * I1: what is taken never exceeds `budget.steps`: an attempt is taken before its dispatch and only if one is free.
 * I2: an accepted proposal holds one attempt from the start; a retry needs a further free one.
 * I3: tokens are known at turn boundaries only; an overshoot is recorded, never hidden.
 * I4: `steps`, which is reported, counts what was dispatched; what was held and stopped before that is none.
 */
import type { Budget } from "../plan/budget.ts";

export class Meter {
  readonly budget: Budget;
  #reserved = 0;
  #dispatched = 0;
  #tokens = 0;

  constructor(budget: Budget) {
    this.budget = budget;
  }

  copy(): Meter {
    const copy = new Meter(this.budget);
    copy.#reserved = this.#reserved;
    copy.#dispatched = this.#dispatched;
    copy.#tokens = this.#tokens;
    return copy;
  }

  /** Attempts that were dispatched. */
  get steps(): number {
    return this.#dispatched;
  }

  countDispatch(): void {
    this.#dispatched++;
  }

  get tokens(): number {
    return this.#tokens;
  }

  /** How many further attempts are free. */
  get free(): number {
    return this.budget.steps === undefined ? Number.POSITIVE_INFINITY : this.budget.steps - this.#reserved;
  }

  /** Takes one attempt; false if none is free. */
  take(): boolean {
    if (this.free < 1) return false;
    this.#reserved++;
    return true;
  }

  count(tokens: number | null): void {
    this.#tokens += tokens ?? 0;
  }

  get tokensLeft(): number | null {
    return this.budget.tokens === undefined ? null : Math.max(0, this.budget.tokens - this.#tokens);
  }

  get tokensSpent(): boolean {
    return this.budget.tokens !== undefined && this.#tokens >= this.budget.tokens;
  }

  /** What went beyond the bounds: only tokens can. */
  get overshoot(): { tokens: number } | null {
    const over = this.budget.tokens === undefined ? 0 : this.#tokens - this.budget.tokens;
    return over > 0 ? { tokens: over } : null;
  }
}
