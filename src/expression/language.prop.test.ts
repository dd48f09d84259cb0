import { type CelList, type CelMap, isCelError, isCelList, isCelMap, run as runCel } from "@bufbuild/cel";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Json } from "../base/json.ts";
import { mark, marksIn, reveal, SENSITIVE, type Val } from "../plan/marked.ts";
import { compile } from "./cel.ts";
import { readToken } from "./lexer.ts";
import { splitTemplate } from "./template.ts";
import { run, value } from "./testing/harness.ts";

const jsonValue: fc.Arbitrary<Json> = fc.jsonValue({ maxDepth: 4, noUnicodeString: false }) as fc.Arbitrary<Json>;
const safe = jsonValue.filter((json) => !/e\+|\d{16}/.test(JSON.stringify(json)));

/** A text as a literal of the language. */
function literal(text: string): string {
  return `"${[...text].map((char) => (/[a-zA-Z0-9 ]/.test(char) ? char : `\\U${(char.codePointAt(0) ?? 0).toString(16).padStart(8, "0")}`)).join("")}"`;
}

describe("against another evaluator of CEL", () => {
  // Numbers are written as doubles there: it has two kinds of them, we have one.
  const num = fc.oneof(
    fc.constantFrom("0.0", "1.0", "2.5", "100.0", "-3.0", "n", "m.a"),
    fc.integer({ min: 0, max: 3 }).map((n) => `${n}.0`),
  );
  const str = fc.oneof(
    fc.constantFrom("s", "m.t", '""', '"a"', "'é😀'"),
    fc.string({ unit: fc.constantFrom("a", "b", " ", "é", "😀"), maxLength: 4 }).map(literal),
  );

  const { any } = fc.letrec<{ any: string; number: string; text: string; truth: string; list: string }>((tie) => ({
    number: fc.oneof(
      { weight: 3, arbitrary: num },
      fc.tuple(tie("number"), fc.constantFrom("+", "-", "*"), tie("number")).map((p) => `(${p.join(" ")})`),
      tie("number").map((n) => `-${n.startsWith("-") ? `(${n})` : n}`),
      fc.tuple(tie("truth"), tie("number"), tie("number")).map(([t, a, b]) => `(${t} ? ${a} : ${b})`),
      tie("list").map((l) => `${l}[1]`),
      fc.oneof(tie("text"), tie("list")).map((x) => `double(size(${x}))`),
    ),
    text: fc.oneof(
      { weight: 3, arbitrary: str },
      fc.tuple(tie("text"), tie("text")).map(([a, b]) => `(${a} + ${b})`),
      fc.tuple(tie("truth"), tie("text"), tie("text")).map(([t, a, b]) => `(${t} ? ${a} : ${b})`),
    ),
    truth: fc.oneof(
      { weight: 2, arbitrary: fc.constantFrom("true", "false", "b", "has(m.a)", "has(m.zz)") },
      fc
        .tuple(tie("number"), fc.constantFrom("<", "<=", ">", ">=", "==", "!="), tie("number"))
        .map((p) => `(${p.join(" ")})`),
      fc.tuple(tie("text"), fc.constantFrom("<", ">", "==", "!="), tie("text")).map((p) => `(${p.join(" ")})`),
      fc.tuple(tie("truth"), fc.constantFrom("&&", "||", "=="), tie("truth")).map((p) => `(${p.join(" ")})`),
      tie("truth").map((t) => `!${t}`),
      fc
        .tuple(tie("text"), fc.constantFrom("contains", "startsWith", "endsWith"), tie("text"))
        .map(([a, f, b]) => `${a}.${f}(${b})`),
      fc.tuple(tie("number"), tie("list")).map(([n, l]) => `(${n} in ${l})`),
      fc.tuple(tie("text"), fc.constantFrom("m", '{"a": 1.0}')).map(([t, m]) => `(${t} in ${m})`),
      fc
        .tuple(
          tie("list"),
          fc.constantFrom("all", "exists", "exists_one"),
          fc.constantFrom("x > 1.0", "x == 2.5", "x + n > 3.0", "m.zz > x || x > 0.0"),
        )
        .map(([l, f, t]) => `${l}.${f}(x, ${t})`),
      fc.tuple(tie("any"), tie("any")).map(([a, b]) => `(${a} == ${b})`),
    ),
    list: fc.oneof(
      { weight: 2, arbitrary: fc.constantFrom("l", "[]", "[1.0, 2.5]") },
      fc.array(tie("number"), { maxLength: 3 }).map((items) => `[${items.join(", ")}]`),
      fc.tuple(tie("list"), tie("list")).map(([a, b]) => `(${a} + ${b})`),
      tie("list").map((l) => `${l}.map(x, x * 2.0)`),
      tie("list").map((l) => `${l}.filter(x, x > 1.0)`),
    ),
    any: fc.oneof(
      { depthSize: "small", withCrossShrink: true },
      fc.constantFrom("null", "m", "[null, true]"),
      tie("number"),
      tie("text"),
      tie("truth"),
      tie("list"),
      tie("text").map((t) => `{"k": ${t}}`),
    ),
  }));

  const names = { n: 2.5, s: "abé", b: true, l: [1, 2.5, 3], m: { a: 1, t: "x" } };

  const plain = (got: unknown): Json | undefined => {
    if (isCelError(got)) return undefined;
    if (isCelList(got)) return [...(got as CelList)].map((item) => plain(item) ?? null);
    if (isCelMap(got))
      return Object.fromEntries([...(got as CelMap)].map(([key, item]) => [String(key), plain(item) ?? null]));
    if (typeof got === "bigint") return Number(got);
    return Object.is(got, -0) ? 0 : (got as Json);
  };

  it("gives the same value, or fails where it fails", () => {
    let values = 0;
    fc.assert(
      fc.property(any, (source) => {
        const theirs = plain(runCel(source, names));
        const compiled = compile(source);
        if (!compiled.ok) throw new Error(`${source}: ${compiled.problems[0]?.message}`);
        const ours = compiled.expr.evaluate({ read: (name) => (names as { [name: string]: Json })[name] });
        if (!ours.ok && theirs === undefined) return;
        values++;
        expect(ours.ok ? reveal(ours.value) : `failed: ${ours.problem.message}`, source).toEqual(theirs);
      }),
      { numRuns: 1_500 },
    );
    // Failing everywhere would agree as well.
    expect(values).toBeGreaterThan(700);
  });
});

describe("any text", () => {
  const odd = fc
    .array(
      fc.constantFrom(
        "{{",
        "}}",
        "{",
        "}",
        "'",
        '"',
        '"""',
        "r'",
        "\\",
        "a",
        ".b",
        "(",
        ")",
        "[",
        "]",
        "+",
        "1",
        "in",
        "has",
        "map",
        ",",
        ":",
        "?",
        "//",
        "\n",
        " ",
        "😀",
        "`",
        "0x",
        "1e9",
        "=",
        "|",
        ".",
      ),
      { maxLength: 40 },
    )
    .map((parts) => parts.join(""));

  it("compiles or gives problems with a place in the source; what compiles evaluates without a throw", () => {
    fc.assert(
      fc.property(odd, (source) => {
        const result = compile(source);
        if (!result.ok) {
          expect(result.problems.length).toBeGreaterThan(0);
          for (const problem of result.problems) {
            expect(problem.start).toBeGreaterThanOrEqual(0);
            expect(problem.start).toBeLessThanOrEqual(problem.end);
            expect(problem.end).toBeLessThanOrEqual(source.length + 1);
            expect(problem.message).toMatch(/\.$/);
          }
          return;
        }
        result.expr.check(new Map());
        result.expr.evaluate({ read: () => 1 });
      }),
      { numRuns: 3_000 },
    );
  });

  it("splits into parts that stand where they say", () => {
    fc.assert(
      fc.property(odd, (text) => {
        const { parts, problems } = splitTemplate(text);
        for (const part of parts)
          if (typeof part !== "string") expect(text.slice(part.start, part.end)).toBe(part.source);
        if (problems.length > 0) return;
        let from = 0;
        for (const part of parts) {
          const piece = typeof part === "string" ? part : part.source;
          const at = text.indexOf(piece, from);
          expect(at).toBeGreaterThanOrEqual(0);
          from = at + piece.length;
        }
      }),
      { numRuns: 3_000 },
    );
  });

  it("tokens go on", () => {
    fc.assert(
      fc.property(odd, (text) => {
        let at = 0;
        for (let i = 0; i <= text.length; i++) {
          const token = readToken(text, at);
          if (token.kind === "end") return;
          expect(token.end).toBeGreaterThan(at);
          at = token.end;
        }
        expect.unreachable();
      }),
      { numRuns: 3_000 },
    );
  });
});

describe("laws", () => {
  it("a text comes back from its literal and its template", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme" }), (text) => {
        fc.pre(text.isWellFormed());
        expect(value(literal(text))).toBe(text);
        const { parts } = splitTemplate(`{{ ${literal(text)} }}`);
        expect(parts).toHaveLength(1);
      }),
    );
  });

  it("JSON goes there and back", () => {
    fc.assert(
      fc.property(safe, (json) => {
        const text = value("json(v)", { v: json }) as string;
        expect(value("parse_json(t) == v", { t: text, v: json })).toBe(true);
        expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(json)));
      }),
    );
  });

  it("equality is that of JSON, and distinct agrees with it", () => {
    fc.assert(
      fc.property(safe, safe, (a, b) => {
        const equal = value("a == b", { a, b });
        expect(value("size(distinct([a, b]))", { a, b })).toBe(equal ? 1 : 2);
        expect(value("a == a && a in [b, a]", { a, b })).toBe(true);
      }),
    );
  });

  it("texts: slices, indexes and order count code points", () => {
    const text = fc.string({ unit: fc.constantFrom("a", "é", "😀", "\uffff", "b") });
    fc.assert(
      fc.property(text, text, fc.integer({ min: -6, max: 6 }), fc.integer({ min: -6, max: 6 }), (s, t, from, to) => {
        const points = [...s];
        expect(value("slice(s, from, to)", { s, from, to })).toBe(points.slice(from, to).join(""));
        expect(value("size(s)", { s })).toBe(points.length);
        const at = s.indexOf(t);
        expect(value("s.indexOf(t)", { s, t })).toBe(at < 0 ? -1 : [...s.slice(0, at)].length);
        const order = Buffer.compare(Buffer.from(s), Buffer.from(t));
        expect(value("s < t", { s, t })).toBe(order < 0);
      }),
    );
  });

  it("long needles are found where the built-in search finds them", () => {
    const text = fc.string({ unit: fc.constantFrom("a", "b"), minLength: 0, maxLength: 300 });
    const needle = fc.string({ unit: fc.constantFrom("a", "b"), minLength: 14, maxLength: 20 });
    fc.assert(
      fc.property(text, needle, text, (before, part, after) => {
        const s = before + part + after;
        expect(value("[s.indexOf(part), s.lastIndexOf(part)]", { s, part })).toEqual([
          s.indexOf(part),
          s.lastIndexOf(part),
        ]);
        expect(value("replace(s, part, '-')", { s, part })).toBe(s.replaceAll(part, "-"));
        expect(value("s.split(part)", { s, part })).toEqual(s.split(part));
      }),
    );
  });

  it("rounding is half away from 0 by the text", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: -1e9, max: 1e9 }),
        fc.integer({ min: 0, max: 6 }),
        fc.integer({ min: 0, max: 6 }),
        (n, scale, places) => {
          const written = Number(`${n}e-${scale}`);
          const shift = BigInt(10) ** BigInt(Math.max(0, scale - places));
          const size = BigInt(Math.abs(n));
          const kept = scale <= places ? size : (size + shift / 2n) / shift;
          const wanted = Number(`${n < 0 ? "-" : ""}${kept}e-${Math.min(scale, places)}`);
          expect(value("round(x, places)", { x: written, places })).toBe(wanted === 0 ? 0 : wanted);
        },
      ),
    );
  });

  it("durations and timestamps come back from their text", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: -8e12, max: 8e12 }),
        fc.date({ min: new Date("0100-01-01T00:00:00Z"), max: new Date("9000-01-01T00:00:00Z"), noInvalidDate: true }),
        (ms, when) => {
          const at = when.toISOString();
          const moved = value("timestamp(at) + (timestamp(b) - timestamp('1970-01-01T00:00:00Z'))", {
            at: "2000-01-01T00:00:00Z",
            b: new Date(ms).toISOString(),
          });
          expect(new Date(moved as string).getTime()).toBe(Date.UTC(2000, 0, 1) + ms);
          expect(value("string(timestamp(at))", { at })).toBe(at.replace(".000Z", "Z"));
          const names = { at: new Date(ms).toISOString() };
          const lapse = "cel.bind(d, timestamp(at) - timestamp('1970-01-01T00:00:00Z'), duration(string(d)) == d)";
          expect(value(lapse, names)).toBe(true);
        },
      ),
    );
  });

  it("a mark on a value marks whatever is computed from it, and nothing else is marked", () => {
    const operations = [
      "a + a",
      "a == 1",
      "json([a])",
      "[a].map(x, x)",
      "a > 0 ? 1 : 2",
      "string(a)",
      "min([a])",
      "sort([a, 1])",
      "a in [1]",
      "default(a, 1)",
      "{'k': a}",
      "range(3).filter(i, i < a)",
      "cel.bind(x, a, x * 2)",
    ];
    fc.assert(
      fc.property(fc.constantFrom(...operations), fc.integer({ min: 0, max: 5 }), (source, a) => {
        expect(marksIn(run(source, { a: mark(a, SENSITIVE) as Val }))).toEqual({ sensitive: true });
        expect(marksIn(run(source, { a }))).toEqual({});
        expect(value(source, { a: mark(a, SENSITIVE) })).toEqual(value(source, { a }));
      }),
    );
  });
});
