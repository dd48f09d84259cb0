import type { Shape } from "../../expression/shape.ts";

/**
 * The names an expression may read at one place: layers, one per list, loop or handler, each seeing those around
 * it. What is bound in a layer ends with it (lexical scope).
 */
export class Names implements ReadonlyMap<string, Shape> {
  readonly #parent: Names | null;
  readonly #own = new Map<string, Shape>();
  #reading = "";
  /** Ids of the list at hand that are not bound yet, for the hint. */
  readonly later: ReadonlySet<string>;
  /** The step whose handlers see this layer. */
  readonly handlerOf: string | null;

  constructor(parent: Names | null, own: { readonly [name: string]: Shape } = {}, hints: NameHints = {}) {
    this.#parent = parent;
    this.later = hints.later ?? new Set();
    this.handlerOf = hints.handlerOf ?? null;
    for (const name of Object.keys(own)) {
      const shape = own[name];
      if (shape !== undefined) this.#own.set(name, shape);
    }
  }

  /** Says which step of this layer is being read. */
  read(name: string): void {
    this.#reading = name;
  }

  bind(name: string, shape: Shape): void {
    this.#own.set(name, shape);
  }

  child(own: { readonly [name: string]: Shape } = {}, hints: NameHints = {}): Names {
    return new Names(this, own, hints);
  }

  /** Why a name that is not readable here may have been expected to be; null if there is nothing to say. */
  whyNot(name: string): "later" | "handler" | "itself" | null {
    for (let layer: Names | null = this; layer !== null; layer = layer.#parent) {
      if (layer.handlerOf === name) return "handler";
      if (layer.#reading === name) return "itself";
      if (layer.later.has(name) && !layer.#own.has(name)) return "later";
    }
    return null;
  }

  get(name: string): Shape | undefined {
    for (let layer: Names | null = this; layer !== null; layer = layer.#parent) {
      const shape = layer.#own.get(name);
      if (shape !== undefined) return shape;
    }
    return undefined;
  }

  has(name: string): boolean {
    return this.get(name) !== undefined;
  }

  #flat(): Map<string, Shape> {
    const all = this.#parent === null ? new Map<string, Shape>() : this.#parent.#flat();
    for (const [name, shape] of this.#own) all.set(name, shape);
    return all;
  }

  get size(): number {
    return this.#flat().size;
  }

  keys(): MapIterator<string> {
    return this.#flat().keys();
  }

  values(): MapIterator<Shape> {
    return this.#flat().values();
  }

  entries(): MapIterator<[string, Shape]> {
    return this.#flat().entries();
  }

  [Symbol.iterator](): MapIterator<[string, Shape]> {
    return this.entries();
  }

  forEach(each: (shape: Shape, name: string, map: ReadonlyMap<string, Shape>) => void): void {
    for (const [name, shape] of this.entries()) each(shape, name, this);
  }
}

export interface NameHints {
  later?: ReadonlySet<string>;
  handlerOf?: string;
}
