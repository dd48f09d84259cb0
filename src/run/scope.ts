import type { Env } from "../expression/cel.ts";
import type { Val } from "../plan/marked.ts";
import type { Step } from "../plan/step.ts";

/**
 * What expressions read and steps write (product.md 4). `enter` opens a frame in which the given names are
 * readable; what is written in it is not visible behind it.
 */
export interface Scope extends Env {
  write(step: Step, value: Val): void;
  enter(locals: { [name: string]: Val }): Scope;
}

/** A frame per list, branch and iteration; a step binds its id. Siblings do not see each other's frames. */
export class LexicalScope implements Scope {
  readonly #names: Map<string, Val>;
  readonly #outer: LexicalScope | null;

  constructor(names: Iterable<readonly [string, Val]>, outer: LexicalScope | null = null) {
    this.#names = new Map(names);
    this.#outer = outer;
  }

  read(name: string): Val | undefined {
    for (let at: LexicalScope | null = this; at !== null; at = at.#outer) {
      const value = at.#names.get(name);
      if (value !== undefined) return value;
    }
    return undefined;
  }

  write(step: Step, value: Val): void {
    if (step.id !== undefined) this.#names.set(step.id, value);
  }

  enter(locals: { [name: string]: Val }): Scope {
    return new LexicalScope(Object.entries(locals), this);
  }
}
