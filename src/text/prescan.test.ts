import { describe, expect, test } from "vitest";
import { MAX_NESTING, MAX_TEXT_BYTES, prescan } from "./prescan.ts";

const nested = (depth: number): string => `a: ${"[".repeat(depth)}1${"]".repeat(depth)}`;
const indented = (depth: number): string => Array.from({ length: depth }, (_, i) => `${" ".repeat(i)}k:`).join("\n");
const verdict = (text: string): string => {
  const scan = prescan(text);
  return scan.ok ? "ok" : scan.code;
};

describe("size", () => {
  test("1 MiB is the most, in bytes and not in characters", () => {
    expect(verdict(`#${"x".repeat(MAX_TEXT_BYTES - 1)}`)).toBe("ok");
    expect(verdict(`#${"x".repeat(MAX_TEXT_BYTES)}`)).toBe("yaml.too_large");
    expect(verdict(`#${"€".repeat(MAX_TEXT_BYTES / 2)}`)).toBe("yaml.too_large");
  });
});

describe("I3: nesting", () => {
  test("64 levels pass and 65 do not, in brackets, by indentation, and both together", () => {
    expect(verdict(nested(MAX_NESTING - 1))).toBe("ok");
    expect(verdict(nested(MAX_NESTING))).toBe("yaml.too_deep");
    expect(verdict(indented(MAX_NESTING))).toBe("ok");
    expect(verdict(indented(MAX_NESTING + 1))).toBe("yaml.too_deep");
    expect(verdict(`${indented(40)}\n${" ".repeat(41)}x: ${"[".repeat(23)}${"]".repeat(23)}`)).toBe("ok");
    expect(verdict(`${indented(40)}\n${" ".repeat(41)}x: ${"[".repeat(24)}${"]".repeat(24)}`)).toBe("yaml.too_deep");
  });

  test.each(["? ", "- ", "[", "{", "? - ", "- ? ", '"a": ', "[{", "a: {b: [", ": "])(
    "a long run of %j is refused, or has no depth",
    (unit) => {
      const run = unit.repeat(Math.floor(900_000 / unit.length));
      const scan = prescan(run);
      if (scan.ok) expect(scan.slips.length).toBeGreaterThan(0);
      else expect(scan.code).toBe("yaml.too_deep");
    },
  );

  test("siblings do not add up", () => {
    expect(verdict("a: [[1]]\nb:\n  - c: {}\n".repeat(1).concat("d: 1\n"))).toBe("ok");
    expect(verdict(Array.from({ length: 500 }, (_, i) => `k${i}: { a: [1, { b: 2 }] }`).join("\n"))).toBe("ok");
    expect(verdict(Array.from({ length: 500 }, () => "- - - 1\n- a:\n    b: 1").join("\n"))).toBe("ok");
  });
});

describe("I1: what is text does not count as structure", () => {
  const deep = "[".repeat(100);
  test.each([
    ["double quotes", `a: "${deep} \\" ${deep}"`],
    ["single quotes", `a: 'it''s ${deep}'`],
    ["a comment", `a: 1 # ${deep}\n# ${deep}\nb: 2`],
    ["a plain text", `a: see ${deep}`],
    ["a plain text over lines", `a: one\n  ${deep}\n  "${deep}\nb: 1`],
    ["a literal block", `code: |\n  ${deep}\n    ${"- ".repeat(90)}\n\n  ${"? ".repeat(90)}\nb: 1`],
    ["a folded block with an indicator", `code: >2-\n    ${deep}\n  ${deep}`],
    ["a block in a list", `- |\n ${deep}\n- |+\n ${deep}\n`],
    ["a block behind a key in a list", `- code: |\n    ${deep}\n  b: 1`],
    ["quotes over lines", `a: "one\n  ${deep}\n  two"\nb: 1`],
  ])("%s", (_, text) => {
    expect(verdict(text)).toBe("ok");
  });

  test.each([
    ["behind a closed quote", `a: "x"\nb: ${deep}`],
    ["behind a block that has ended", `a: |\n  x\nb: ${deep}`],
    ["behind a quote inside a plain text", `a: don't\nb: ${deep}`],
    ["behind a quote in a comment", `a: 1 # don't "\nb: ${deep}`],
    ["behind a quote in a continued plain text", `a: b\n  "\nc: ${deep}`],
    ["behind a # that is no comment", `a: b#c\nd: ${deep}`],
    ["behind a pipe that is text", `a: b |\nc: ${deep}`],
    ["behind an apostrophe in a flow text", `a: [don't, 1]\nb: ${deep}`],
    ["behind an escaped backslash", `a: "\\\\"\nb: ${deep}`],
    ["behind a line that cuts a quote off", `a:\n  - "x\ny: ${deep}\nz: "`],
    ["in a second document", `a: 1\n---\n${deep}`],
    ["with carriage returns", `a: "x"\r\nb: |\r\n  t\r\nc: ${deep}`],
  ])("but it does %s", (_, text) => {
    expect(verdict(text)).toBe("yaml.too_deep");
  });
});
