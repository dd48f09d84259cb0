/** A pattern as a tree. `takes` is asked about ASCII signs only. */
export type PatternNode =
  | { is: "signs"; takes: (sign: string) => boolean }
  | { is: "empty" }
  | { is: "begin" }
  | { is: "end" }
  | { is: "sequence"; of: PatternNode[] }
  | { is: "either"; of: PatternNode[] }
  | { is: "repeat"; of: PatternNode; min: number; max: number | null };

type Takes = (sign: string) => boolean;

const MAX_DEPTH = 50;
const MAX_REPEAT = 1_000;

class Unknown extends Error {}

/** Reads the part of pattern syntax that is decided here; everything else is an error that names it. */
export function parsePattern(pattern: string): { node: PatternNode } | { error: string } {
  try {
    const reader = new PatternReader(pattern);
    const node = reader.alternatives(MAX_DEPTH);
    if (reader.more()) throw new Unknown("a parenthesis is closed that was not opened");
    return { node };
  } catch (error) {
    if (error instanceof Unknown) return { error: error.message };
    throw error;
  }
}

const CLASSES: { readonly [letter: string]: Takes } = {
  d: (sign) => /[0-9]/.test(sign),
  w: (sign) => /[A-Za-z0-9_]/.test(sign),
  s: (sign) => /[\t\n\v\f\r ]/.test(sign),
};
const CONTROLS: { readonly [letter: string]: string } = { t: "\t", n: "\n", r: "\r", f: "\f", v: "\v", 0: "\0" };

class PatternReader {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  more(): boolean {
    return this.#at < this.#text.length;
  }

  alternatives(left: number): PatternNode {
    if (left === 0) throw new Unknown("it is nested too deeply");
    const of = [this.#sequence(left)];
    while (this.#take("|")) of.push(this.#sequence(left));
    return of.length === 1 && of[0] ? of[0] : { is: "either", of };
  }

  #sequence(left: number): PatternNode {
    const of: PatternNode[] = [];
    while (this.more() && !"|)".includes(this.#peek())) of.push(this.#repeated(left));
    return of.length === 0 ? { is: "empty" } : { is: "sequence", of };
  }

  #repeated(left: number): PatternNode {
    let node = this.#atom(left);
    for (let i = 0; this.more(); i++) {
      const times = this.#quantifier();
      if (!times) break;
      if (i > 0) throw new Unknown("a repetition is repeated");
      // Lazy and greedy match the same texts.
      this.#take("?");
      node = { is: "repeat", of: node, ...times };
    }
    return node;
  }

  #quantifier(): { min: number; max: number | null } | null {
    if (this.#take("*")) return { min: 0, max: null };
    if (this.#take("+")) return { min: 1, max: null };
    if (this.#take("?")) return { min: 0, max: 1 };
    const match = /^\{(\d{1,5})(?:(,)(\d{0,5}))?\}/.exec(this.#text.slice(this.#at, this.#at + 16));
    if (!match) return null;
    this.#at += match[0].length;
    const min = Number(match[1]);
    const max = match[2] === undefined ? min : match[3] === "" ? null : Number(match[3]);
    if (min > MAX_REPEAT || (max !== null && (max > MAX_REPEAT || max < min))) throw new Unknown("it repeats too much");
    return { min, max };
  }

  #atom(left: number): PatternNode {
    const sign = this.#next();
    switch (sign) {
      case "^":
        return { is: "begin" };
      case "$":
        return { is: "end" };
      case ".":
        return { is: "signs", takes: (other) => other !== "\n" && other !== "\r" };
      case "(":
        return this.#group(left);
      case "[":
        return { is: "signs", takes: this.#class() };
      case "\\":
        return { is: "signs", takes: this.#escape() };
      case "*":
      case "+":
      case "?":
        throw new Unknown("a repetition has nothing to repeat");
      default:
        return { is: "signs", takes: (other) => other === sign };
    }
  }

  #group(left: number): PatternNode {
    if (this.#take("?")) {
      const named = /^(?::|P?<[A-Za-z_][A-Za-z0-9_]*>)/.exec(this.#text.slice(this.#at, this.#at + 80));
      if (!named) throw new Unknown("it looks around or sets flags");
      this.#at += named[0].length;
    }
    const node = this.alternatives(left - 1);
    if (!this.#take(")")) throw new Unknown("a parenthesis is not closed");
    return node;
  }

  #escape(): Takes {
    const letter = this.#next();
    const lower = CLASSES[letter];
    if (lower && Object.hasOwn(CLASSES, letter)) return lower;
    const upper = CLASSES[letter.toLowerCase()];
    if (upper && letter !== letter.toLowerCase()) return (sign) => !upper(sign);
    const literal = this.#literal(letter);
    return (sign) => sign === literal;
  }

  /** The sign that an escape stands for. */
  #literal(letter: string): string {
    const control = Object.hasOwn(CONTROLS, letter) ? CONTROLS[letter] : undefined;
    if (control !== undefined) return control;
    const digits = letter === "x" ? 2 : letter === "u" ? 4 : 0;
    if (digits > 0) {
      const hex = this.#text.slice(this.#at, this.#at + digits);
      if (hex.length !== digits || !/^[0-9A-Fa-f]+$/.test(hex))
        throw new Unknown(`it has an escape \\${letter} of another form`);
      this.#at += digits;
      return String.fromCharCode(Number.parseInt(hex, 16));
    }
    if (/[A-Za-z0-9]/.test(letter)) throw new Unknown(`it uses \\${letter}`);
    return letter;
  }

  #class(): Takes {
    const negated = this.#take("^");
    const parts: Takes[] = [];
    for (let first = true; ; first = false) {
      if (!this.more()) throw new Unknown("a class is not closed");
      if (this.#take("]")) {
        // In RE2 a bracket that stands first is a member, in JavaScript it ends the class.
        if (first) throw new Unknown("it has an empty class");
        break;
      }
      if (this.#text.startsWith("[:", this.#at)) throw new Unknown("it names a class");
      parts.push(this.#member());
    }
    return (sign) => parts.some((takes) => takes(sign)) !== negated;
  }

  #member(): Takes {
    const from = this.#classSign();
    if (typeof from !== "string") return from;
    if (this.#peek() !== "-" || this.#text[this.#at + 1] === "]" || this.#text[this.#at + 1] === undefined) {
      return (sign) => sign === from;
    }
    this.#at++;
    const to = this.#classSign();
    if (typeof to !== "string" || to < from) throw new Unknown("it has a range that is none");
    return (sign) => sign >= from && sign <= to;
  }

  #classSign(): string | Takes {
    const sign = this.#next();
    if (sign !== "\\") return sign;
    const letter = this.#peek();
    if (/[dwsDWS]/.test(letter)) return this.#escape();
    this.#at++;
    return letter === "b" ? "\b" : this.#literal(letter);
  }

  #peek(): string {
    return this.#text[this.#at] ?? "";
  }

  #next(): string {
    const sign = this.#text[this.#at];
    if (sign === undefined) throw new Unknown("it ends too early");
    this.#at++;
    return sign;
  }

  #take(sign: string): boolean {
    if (this.#text[this.#at] !== sign) return false;
    this.#at++;
    return true;
  }
}
