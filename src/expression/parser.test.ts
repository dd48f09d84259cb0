import { describe, expect, it } from "vitest";
import { compile } from "./cel.ts";
import { parse } from "./parser.ts";
import { fault, value } from "./testing/harness.ts";
import { childrenOf } from "./tree.ts";

/** The stretch of source a fault points at, and its help. */
function pointed(source: string): string {
  const problem = fault(source);
  return problem === null ? "ok" : `[${source.slice(problem.start, problem.end)}] ${problem.help}`;
}

describe("faults point at the character", () => {
  it("what stands in the place of something else", () => {
    expect(fault("a + ")).toMatchObject({ code: "expression.syntax", severity: "error", start: 2, end: 4 });
    expect(fault("(a + b")).toMatchObject({ start: 5, end: 6 });
    expect(fault("a b")).toMatchObject({ start: 2, end: 3 });
    expect(fault("[1, 2")?.message).toContain("`]`");
    expect(fault("😀")).toMatchObject({ start: 0, end: 2 });
    expect(fault("'é😀' + #")).toMatchObject({ start: 8, end: 9 });
    expect(fault("")).toMatchObject({ start: 0, message: "The expression is empty." });
  });

  it("signs of other languages come with ours", () => {
    expect(pointed("a = 1")).toBe("[=] compare with `==`");
    expect(pointed("a === 1")).toBe("[===] write `==`");
    expect(pointed("a !== 1")).toBe("[!==] write `!=`");
    expect(pointed("a | upper")).toContain("there are no filters");
    expect(pointed("a ?? b")).toBe("[??] write `default(a, b)`");
    expect(pointed("a?.b")).toContain("has(a.b)");
    expect(pointed("a and b")).toBe("[and] write `&&`");
    expect(pointed("$a")).toContain("without `$`");
    expect(pointed("“a”")).toContain("straight quotes");
    expect(pointed("`a`")).toContain("texts stand in");
    expect(pointed("x => x.a")).toContain("list.map(x");
  });

  it("what the language has not: bytes, unsigned numbers, messages, optionals", () => {
    expect(pointed("b'x'")).toContain("without `b`");
    expect(pointed("1u")).toContain("`u`");
    expect(pointed("Person{name: 'x'}")).toContain('{"key": value}');
    expect(pointed("a[?0]")).toContain("default");
    expect(pointed("a.?b")).not.toBe("ok");
  });

  it("a word of the language is no name, and the help proposes `_`", () => {
    expect(pointed("for.x")).toContain("`for_`");
    expect(pointed("[1].map(in, 1)")).not.toBe("ok");
    expect(pointed("[1].map(if, 1)")).toContain("`if_`");
    expect(value("a.if", { a: { if: 1 } })).toBe(1);
  });

  it("has asks for a field", () => {
    expect(pointed("has(a)")).toContain('`"key" in map`');
    expect(pointed("has(a['b'])")).not.toBe("ok");
  });

  it("escapes", () => {
    expect(value(String.raw`'\n\t\x41\u00e9\U0001F600\101\\\''`)).toBe("\n\tAé😀A\\'");
    expect(value(String.raw`r'\n' + "'" + '''a'b'''`)).toBe("\\n'a'b");
    expect(pointed(String.raw`'a\qb'`)).toContain(String.raw`[\q]`);
    expect(pointed(String.raw`'\ud800'`)).toContain(String.raw`[\u]`);
    expect(pointed("'abc")).toContain("['abc]");
  });

  it("odd field names stand in back quotes or brackets", () => {
    const names = { h: { "x-source": 1, in: 2 } };
    expect(value("h.`x-source` + h['in']", names)).toBe(3);
    expect(pointed("h.in")).toContain('["in"]');
  });
});

describe("what binds how", () => {
  it.each([
    ["1 + 2 * 3 - 4", 3],
    ["(1 + 2) * 3", 9],
    ["10 - 2 - 3", 5],
    ["20 / 2 / 5", 2],
    ["-2 * 3 + --4", -2],
    ["1 + 1 == 2 && 2 < 3 || false", true],
    ["true || false && false", true],
    ["false ? 1 : true ? 2 : 3", 2],
    ["!true == false", true],
    ["1 in [1] && !(2 in [1])", true],
    ["0x1F + .5 + 1e2 + 2.5E-1", 131.75],
    ["[1, 2, 3,][1]", 2],
    ["{'a': 1,}['a']", 1],
    ["a.b // and a note", 1],
  ])("%s", (source, wanted) => {
    expect(value(source, { a: { b: 1 } })).toBe(wanted);
  });
});

describe("parser I1: nesting is bounded before the stack is", () => {
  const nested = (open: string, close: string, depth: number): string => `${open.repeat(depth)}1${close.repeat(depth)}`;

  it("200 brackets pass, 201 do not", () => {
    for (const [open, close] of [
      ["(", ")"],
      ["[", "]"],
      ["abs(", ")"],
      ["-", ""],
      ["true ? 1 : ", ""],
    ] as const) {
      expect(fault(nested(open, close, 200)), open).toBeNull();
      expect(fault(nested(open, close, 201))?.message, open).toContain("more than 200 deep");
    }
  });

  it("chains of fields and calls are bounded too", () => {
    expect(fault(`a${".b".repeat(300)}`)).toBeNull();
    expect(fault(`a${".b".repeat(8_000)}`)?.message).toContain("200 deep");
    expect(fault(`a${".trim()".repeat(2_000)}`)?.message).toContain("200 deep");
    expect(fault(`a${"[0]".repeat(5_000)}`)?.message).toContain("200 deep");
  });

  it("hostile brackets give a fault and no crash", () => {
    for (const text of [
      "(",
      "[",
      "{",
      "{'a':",
      "!",
      "-",
      "a[",
      "f(",
      "a.f(",
      "a?b:",
      "has(",
      "[1].map(x,",
      "cel.bind(x,",
    ]) {
      expect(compile(text.repeat(Math.floor(16_000 / text.length))).ok, text).toBe(false);
    }
  });
});

describe("parser I2: a long chain nests nothing", () => {
  it("5,000 terms are one level", () => {
    expect(value(Array.from({ length: 5_000 }, () => "1").join("+"))).toBe(5_000);
    expect(value(Array.from({ length: 2_500 }, () => "true").join("&&"))).toBe(true);
    const parsed = parse("1 + 2 + 3 + 4");
    expect(parsed.ok && childrenOf(parsed.root).length).toBe(4);
  });
});

it("a source is at most 16 KiB of UTF-8", () => {
  expect(fault(`'${"a".repeat(16_382)}'`)).toBeNull();
  expect(fault(`'${"a".repeat(16_383)}'`)?.message).toContain("16 KiB");
  expect(fault(`'${"é".repeat(8_192)}'`)?.message).toContain("16 KiB");
});

it("half a character is refused: no value may hold one", () => {
  expect(fault("'\ud83d'")?.message).toContain("half a character");
});

it("loops nest two deep", () => {
  expect(fault("[1].map(a, [1].map(b, [1]))")).toBeNull();
  expect(fault("[1].map(a, [1].map(b, [1].filter(c, true)))")?.message).toContain("2 deep");
  expect(fault("[1].map(a, a).filter(b, true).all(c, true)")).toBeNull();
});

describe("reads and paths", () => {
  const of = (source: string): { reads: readonly string[]; paths: string[] } => {
    const result = compile(source);
    if (!result.ok) throw new Error(source);
    return { reads: result.expr.reads, paths: result.expr.paths.map((path) => path.join("/")) };
  };

  it("free names once, sorted; variables of loops are none", () => {
    expect(of("b + a.x + a.y + b").reads).toEqual(["a", "b"]);
    expect(of("list.map(x, x + y)").reads).toEqual(["list", "y"]);
    expect(of("cel.bind(v, a, v * v)").reads).toEqual(["a"]);
    expect(of("x.map(x, x)").reads).toEqual(["x"]);
    expect(of("[1].map(x, .x)").reads).toEqual(["x"]);
    expect(of("default(a.b, c)").reads).toEqual(["a", "c"]);
    expect(of("cel.x").reads).toEqual(["cel"]);
  });

  it("the longest static prefix of each path", () => {
    expect(of("settings.prices.small * n").paths).toEqual(["n", "settings/prices/small"]);
    expect(of("a.b[i].c + a['k'].d").paths).toEqual(["a/b", "a/k/d", "i"]);
    expect(of("has(a.b.c) && a.f.trim() == ''").paths).toEqual(["a/b/c", "a/f"]);
    expect(of("a.list.filter(x, x.y > b.c)").paths).toEqual(["a/list", "b/c"]);
  });
});
