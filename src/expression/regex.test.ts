import { describe, expect, it } from "vitest";
import { compilePattern } from "./regex.ts";

function test(pattern: string, text: string): boolean | string {
  const compiled = compilePattern(pattern);
  return "error" in compiled ? compiled.error : compiled.test(text);
}

describe("patterns", () => {
  it("are found anywhere, by RE2's rules", () => {
    expect(test("b", "abc")).toBe(true);
    expect(test("^b", "abc")).toBe(false);
    expect(test("^\\d{2}-[a-z]+$", "42-abc")).toBe(true);
    expect(test("(?i)ABC", "xabcx")).toBe(true);
    expect(test("^.$", "😀")).toBe(true);
    expect(test("\\pL+", "é")).toBe(true);
    expect(test("", "")).toBe(true);
  });

  it("what cannot run in linear time is no pattern", () => {
    for (const pattern of ["(", "a**", "(?=a)", "(?<!a)b", "(a)\\1", "[z-a]", "a{1001}", "\\"]) {
      expect(typeof test(pattern, "a"), pattern).toBe("string");
    }
  });

  it("nasty ones end", () => {
    const long = "a".repeat(50_000);
    expect(test("(a+)+$", `${long}b`)).toBe(false);
    expect(test("(a|a)*c", long)).toBe(false);
    expect(test("(.*)*x", long)).toBe(false);
  });

  it("a program that would be large is refused before it is made", () => {
    for (const pattern of [
      "(?:abcdefghijklmnopqrst){1000}",
      "((a{10}){10}){10}".repeat(50),
      ".{1000}".repeat(100),
      `(?:${"[a-z]".repeat(200)}){1000}`,
      "(?:(?:x{100})y{100}){100}",
    ]) {
      expect(test(pattern, "a"), pattern.slice(0, 30)).toContain("too large");
    }
    expect(test("^[a-z]{1,100}(?:-[a-z0-9]{1,100}){0,10}$", "ab-c")).toBe(true);
    expect(test("^wf-(?:step|agent)-v1:[0-9a-f]{64}$", `wf-agent-v1:${"0a".repeat(32)}`)).toBe(true);
  });

  it("braces that repeat nothing are signs", () => {
    expect(test("^a{x}$", "a{x}")).toBe(true);
    expect(test("^[{}]+$", "{}")).toBe(true);
    expect(test("^[]a]+$", "]a")).toBe(true);
  });
});
