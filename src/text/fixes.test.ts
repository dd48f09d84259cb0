import { describe, expect, test } from "vitest";
import type { Fix } from "../errors/diagnostic.ts";
import { applyFixes } from "./fixes.ts";

const fix = (line: number, column: number, endColumn: number, text: string): Fix => ({
  line,
  column,
  endLine: line,
  endColumn,
  text,
});

describe("fixes", () => {
  test("are applied in their places, in whatever order they come", () => {
    const { text, applied } = applyFixes("a: 1\nb: 2\n", [fix(2, 4, 5, '"2"'), fix(1, 4, 5, '"1"')]);
    expect(text).toBe('a: "1"\nb: "2"\n');
    expect(applied).toHaveLength(2);
  });

  test("count columns in characters and know all line breaks", () => {
    expect(applyFixes("😀: é\r\n😀😀: x\r", [fix(2, 5, 6, "y"), fix(1, 4, 5, "e")]).text).toBe("😀: e\r\n😀😀: y\r");
  });

  test("of two that overlap or meet the first counts", () => {
    expect(applyFixes("abcdef", [fix(1, 3, 5, "Y"), fix(1, 1, 4, "X")])).toMatchObject({ text: "Xdef" });
    expect(applyFixes("abcdef", [fix(1, 1, 4, "X"), fix(1, 4, 5, "Y")]).applied).toHaveLength(1);
    expect(applyFixes("abc", [fix(1, 1, 4, "X"), fix(1, 1, 4, "Y")]).text).toBe("X");
  });
});
