import { describe, expect, it } from "vitest";
import { splitTemplate, type TemplatePart } from "./template.ts";

function sources(text: string): (string | { source: string })[] {
  return splitTemplate(text).parts.map((part) => (typeof part === "string" ? part : { source: part.source }));
}

describe("the end of {{ }}", () => {
  it("is found by the lexer: braces and quotes inside are safe", () => {
    expect(sources('{{ {"k": {"n": 1}} }}')).toEqual([{ source: '{"k": {"n": 1}}' }]);
    expect(sources('a{{{"k":{"n":1}}}}b')).toEqual(["a", { source: '{"k":{"n":1}}' }, "b"]);
    expect(sources(`{{ "}}" + '}}' }}!`)).toEqual([{ source: `"}}" + '}}'` }, "!"]);
    expect(sources(`{{ '\\'}}' }}!`)).toEqual([{ source: `'\\'}}'` }, "!"]);
    expect(sources(`{{ r'\\' + """a " }} b""" }}!`)).toEqual([{ source: `r'\\' + """a " }} b"""` }, "!"]);
    expect(sources("{{ a.`x-y` }}!")).toEqual([{ source: "a.`x-y`" }, "!"]);
  });

  it("is not seen in a comment", () => {
    expect(sources("{{ a // not }} yet\n}}!")).toEqual([{ source: "a // not }} yet" }, "!"]);
  });

  it("two braces are written as a text", () => {
    expect(sources('{{ "{{" }}')).toEqual([{ source: '"{{"' }]);
  });

  it("braces that close nothing are plain text", () => {
    expect(sources("a }} b { c } d")).toEqual(["a }} b { c } d"]);
  });

  it("an unclosed {{ is named with its place", () => {
    const { parts, problems } = splitTemplate("Dear {{ name }}, {{ x + 1");
    expect(problems).toHaveLength(1);
    expect(problems[0]).toMatchObject({ code: "expression.syntax", severity: "error", start: 17, end: 19 });
    expect(parts.filter((part) => typeof part !== "string")).toHaveLength(1);
  });

  it("a quote that is never closed is named, not the braces", () => {
    const { problems } = splitTemplate('{{ "abc }}');
    expect(problems[0]).toMatchObject({ start: 3 });
    expect(problems[0]?.message).toContain("never closed");
  });

  it("an empty expression is a problem, and the rest is still read", () => {
    const { parts, problems } = splitTemplate("{{ }} and {{ a }}");
    expect(problems[0]).toMatchObject({ code: "expression.syntax", start: 0, end: 5 });
    expect(parts.filter((part) => typeof part !== "string")).toHaveLength(1);
  });
});

describe("a string that is one expression", () => {
  const isWhole = (text: string): boolean => {
    const { parts } = splitTemplate(text);
    return parts.length === 1 && typeof parts[0] !== "string";
  };

  it("line breaks around it do not count, blanks and other text do", () => {
    expect(isWhole("{{ a }}")).toBe(true);
    expect(isWhole("\n{{ a }}\r\n\n")).toBe(true);
    expect(isWhole("{{\n  a\n}}")).toBe(true);
    expect(isWhole(" {{ a }}")).toBe(false);
    expect(isWhole("{{ a }}.")).toBe(false);
    expect(isWhole("{{ a }}\n{{ b }}")).toBe(false);
  });

  it("says where the source stands in UTF-16 units", () => {
    const text = "😀 {{   inputs.a   }} x";
    const part = splitTemplate(text).parts[1] as Exclude<TemplatePart, string>;
    expect(text.slice(part.start, part.end)).toBe("inputs.a");
    expect(part.source).toBe("inputs.a");
  });

  it("a text without expressions is one plain part", () => {
    expect(splitTemplate("hello").parts).toEqual(["hello"]);
    expect(splitTemplate("").parts).toEqual([""]);
  });
});

it("hostile texts are read once, not once for each brace", () => {
  const times = (part: string, count: number): string => part.repeat(count);
  for (const text of [
    times("{{", 400_000),
    times('{{ """ ', 100_000),
    times("{{ ' }} ", 100_000),
    times("{{ { ", 100_000),
    times("{{ # }} ", 100_000),
  ]) {
    expect(Array.isArray(splitTemplate(text).parts)).toBe(true);
  }
});
