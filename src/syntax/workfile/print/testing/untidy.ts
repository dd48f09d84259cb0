import * as fc from "fast-check";

/** A value as YAML can hold it, and how untidily it is written. */
export type Sketch =
  | { kind: "scalar"; text: string }
  | { kind: "list"; items: Sketch[] }
  | { kind: "map"; entries: { key: string; value: Sketch }[] };

const KEYS = ["a", "wf.if", "steps", "b-c", "__proto__", "two words", "'", "10", "no: colon", "#", "true"];
const TEXTS = [
  "",
  "plain",
  "two words",
  "{{ inputs.x }}",
  "it's",
  'say "x"',
  "a # b",
  "a: b",
  "- dash",
  "line\nbreak\n",
  "\n\n  indented\n\ntext\n\n",
  "  lead",
  "tail  ",
  "back\\slash",
  "tab\there",
  "x".repeat(90),
  "words ".repeat(30).trim(),
  "if a:\n    return 1  # note\n\n# end",
  "é😀",
  "nb\u00a0sp",
];

export const sketches: fc.Arbitrary<Sketch> = fc.letrec<{ node: Sketch; map: Sketch }>((tie) => ({
  node: fc.oneof(
    { maxDepth: 5, withCrossShrink: true },
    fc.constantFrom(...TEXTS).map((text): Sketch => ({ kind: "scalar", text })),
    fc.array(tie("node"), { maxLength: 4 }).map((items): Sketch => ({ kind: "list", items })),
    tie("map"),
  ),
  map: fc
    .uniqueArray(fc.record({ key: fc.constantFrom(...KEYS), value: tie("node") }), {
      selector: (e) => e.key,
      maxLength: 4,
    })
    .map((entries): Sketch => ({ kind: "map", entries })),
})).map;

/** Choices that one number makes. */
export function chooser(seed: number): (n: number) => number {
  let state = seed >>> 0;
  return (n) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * n);
  };
}

/** Writes a sketch with choices taken from `pick(n)`: 0 to n-1. Comments are numbered, so that each is itself. */
export function untidy(sketch: Sketch, pick: (n: number) => number): string {
  return new Writer(pick).write(sketch);
}

class Writer {
  readonly #pick: (n: number) => number;
  #out = "";
  #comments = 0;

  constructor(pick: (n: number) => number) {
    this.#pick = pick;
  }

  write(sketch: Sketch): string {
    this.#between(0);
    if (sketch.kind === "scalar" || this.#pick(6) === 0 || isEmpty(sketch)) {
      this.#out += this.#flow(sketch, 1);
      this.#lineEnd();
    } else this.#block(sketch, 0);
    this.#between(0);
    return this.#pick(4) === 0 ? this.#out.replaceAll("\n", "\r\n") : this.#out;
  }

  #comment(): string {
    return `#${" ".repeat(this.#pick(2))}c${this.#comments++}${" ".repeat(this.#pick(2))}`;
  }

  /** Blank lines and comments on lines of their own, at about an indentation. */
  #between(indent: number): void {
    for (let i = this.#pick(5); i > 2; i--) {
      if (this.#pick(2) === 0) this.#out += `${" ".repeat(this.#pick(3))}\n`;
      else this.#out += `${" ".repeat(Math.max(0, indent + this.#pick(5) - 2))}${this.#comment()}\n`;
    }
  }

  #lineEnd(): void {
    this.#out +=
      this.#pick(5) === 0 ? `${" ".repeat(1 + this.#pick(3))}${this.#comment()}\n` : `${" ".repeat(this.#pick(2))}\n`;
  }

  #block(sketch: Sketch, indent: number): void {
    const pad = " ".repeat(indent);
    if (sketch.kind === "map") {
      for (const [i, { key, value }] of sketch.entries.entries()) {
        if (i > 0) this.#between(indent);
        this.#out += `${i === 0 ? "" : pad}${this.#key(key)}:`;
        this.#value(value, indent, true);
      }
    } else if (sketch.kind === "list") {
      for (const [i, item] of sketch.items.entries()) {
        if (i > 0) this.#between(indent);
        this.#out += `${i === 0 ? "" : pad}-`;
        this.#value(item, indent, false);
      }
    }
  }

  /** What stands behind a colon or a dash. */
  #value(value: Sketch, indent: number, behindKey: boolean): void {
    if (value.kind === "scalar") {
      this.#blockScalar(value.text, indent);
      return;
    }
    if (isEmpty(value) || this.#pick(3) === 0) {
      const below = this.#pick(4) === 0;
      if (below) {
        this.#lineEnd();
        this.#between(indent + 2);
      }
      this.#out += `${below ? " ".repeat(indent + 2) : " "}${this.#flow(value, indent + 1)}`;
      this.#lineEnd();
      return;
    }
    const width = 1 + this.#pick(4);
    if (!behindKey && this.#pick(3) > 0) {
      this.#out += " ".repeat(width);
      this.#block(value, indent + 1 + width);
      return;
    }
    this.#lineEnd();
    const flush = behindKey && value.kind === "list" && this.#pick(2) === 0;
    const inner = flush ? indent : indent + width;
    this.#between(inner);
    this.#out += " ".repeat(inner);
    this.#block(value, inner);
  }

  #blockScalar(text: string, indent: number): void {
    const literal = !/[^\n\S]$|\n[^\n\S]+$/m.test(text) && !/[\t\u00a0]/.test(text) && text.trim() !== "";
    if (!literal || this.#pick(3) === 0) {
      this.#out += ` ${this.#quoted(text, indent + 1)}`;
      this.#lineEnd();
      return;
    }
    const width = 1 + this.#pick(4);
    const chomp =
      text.endsWith("\n\n") || (text.endsWith("\n") && this.#pick(3) === 0) ? "+" : text.endsWith("\n") ? "" : "-";
    const explicit = /^\n*[ \n]/.test(text) || this.#pick(4) === 0 ? String(width) : "";
    this.#out += ` |${explicit}${chomp}`;
    this.#lineEnd();
    const lines = text.replace(/\n$/, "").split("\n");
    for (const line of lines) this.#out += line === "" ? "\n" : `${" ".repeat(indent + width)}${line}\n`;
    if (chomp !== "+" && this.#pick(3) === 0) this.#out += "\n";
  }

  #key(key: string): string {
    return /^[\w.-]+$/.test(key) && this.#pick(3) > 0 ? key : this.#quoted(key, null);
  }

  /** A text in some quotes or none; `indent` is where further lines may stand, null for one line only. */
  #quoted(text: string, indent: number | null): string {
    const simple = /^[\w{][\w ]*$/.test(text) && !/ $|^\d|^true$/.test(text);
    const flat = !/[\n\t]/.test(text);
    const fold = (words: string): string =>
      indent === null || this.#pick(3) > 0
        ? words
        : words.replaceAll(/(?<=\w) (?=\w)/g, () =>
            this.#pick(3) === 0 ? ` \n${" ".repeat(indent + this.#pick(3))}` : " ",
          );
    switch (this.#pick(3)) {
      case 0:
        if (simple) return fold(text);
        break;
      case 1:
        if (flat) return fold(`'${text.replaceAll("'", "''")}'`);
        break;
    }
    return fold(JSON.stringify(text));
  }

  #flow(sketch: Sketch, indent: number): string {
    const spread = this.#pick(2) === 0;
    const gap = (): string => {
      if (!spread) return " ".repeat(this.#pick(3));
      const more = this.#pick(6) === 0 ? ` ${this.#comment()}` : "";
      const own = this.#pick(6) === 0 ? `${" ".repeat(1 + this.#pick(8))}${this.#comment()}\n` : "";
      return this.#pick(2) === 0 ? " " : `${more}\n${own}${" ".repeat(indent + this.#pick(3))}`;
    };
    const parts = (items: string[], open: string, close: string): string =>
      items.length === 0 && !spread
        ? open + close
        : `${open}${gap()}${items.map((item) => `${item}${gap()}`).join(`,${gap() || " "}`)}${close}`;
    if (sketch.kind === "scalar") return this.#quoted(sketch.text, spread ? indent : null);
    if (sketch.kind === "list") {
      return parts(
        sketch.items.map((item) => this.#flow(item, indent)),
        "[",
        "]",
      );
    }
    return parts(
      sketch.entries.map(({ key, value }) => `${this.#key(key)}: ${this.#flow(value, indent)}`),
      "{",
      "}",
    );
  }
}

function isEmpty(sketch: Sketch): boolean {
  return sketch.kind === "list" ? sketch.items.length === 0 : sketch.kind === "map" && sketch.entries.length === 0;
}
