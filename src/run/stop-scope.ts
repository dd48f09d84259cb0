import type { Timer } from "../base/clock.ts";
import type { Position } from "../plan/position.ts";
import type { Stop } from "./end.ts";

/** An effect that is under way and can be told to stop. */
export interface Stoppable {
  /** `grace`: a spent budget lets it settle for the drain grace before its signal fires. */
  readonly onBudget: "abort" | "grace";
  abort(stop: Stop): void;
  abortAfterGrace(stop: Stop): void;
}

/** A stop at a moment of logical time, in milliseconds since 1970. */
export interface ScopeTimer {
  due: number;
  readonly stop: Stop;
  armed: Timer | null;
}

/**
 * A part of a run that can be stopped as a whole: the run, a step with a timeout, a branch, an iteration.
 * Scopes form a tree; a stop reaches every effect below. The first stop of a scope counts, later ones are
 * nothing. Only a delivered `stop.decided` sets `stop`, so that a replay stops at the same moment.
 */
export class StopScope {
  readonly position: Position;
  readonly parent: StopScope | null;
  stop: Stop | null = null;
  /** A stop is on its way to the journal. */
  requested = false;
  closed = false;
  readonly timers: ScopeTimer[] = [];
  readonly #children = new Set<StopScope>();
  readonly #effects = new Set<Stoppable>();

  /** Tells scopes of one position apart that come one after the other: of the entries of a cleanup. */
  readonly number: number;

  constructor(position: Position, parent: StopScope | null, number = 1) {
    this.position = position;
    this.number = number;
    this.parent = parent;
    if (parent !== null) parent.#children.add(this);
  }

  /** The stop that counts here: the outermost one, since what is stopped outside unwinds furthest. */
  get current(): Stop | null {
    return this.parent?.current ?? this.stop;
  }

  apply(stop: Stop): void {
    if (this.stop !== null) return;
    this.stop = stop;
    this.requested = true;
    this.#reach(stop);
  }

  #reach(stop: Stop): void {
    for (const effect of this.#effects) {
      if (stop.cause === "budget" && effect.onBudget === "grace") effect.abortAfterGrace(stop);
      else effect.abort(stop);
    }
    for (const child of this.#children) child.#reach(stop);
  }

  enter(effect: Stoppable): void {
    this.#effects.add(effect);
    const stop = this.current;
    if (stop !== null) effect.abort(stop);
  }

  leave(effect: Stoppable): void {
    this.#effects.delete(effect);
  }

  /** Takes back the timers that have not fired. */
  disarm(): void {
    for (const timer of this.timers) timer.armed?.cancel();
    this.timers.length = 0;
  }

  close(): void {
    this.closed = true;
    this.disarm();
    if (this.parent !== null) this.parent.#children.delete(this);
  }

  /** Every effect at or below, for an end that waits for nothing. */
  *effects(): Generator<Stoppable> {
    yield* this.#effects;
    for (const child of this.#children) yield* child.effects();
  }
}
