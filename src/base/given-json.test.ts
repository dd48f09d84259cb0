import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parseGivenJson } from "./given-json.ts";

const refused = (text: string, isOwn = false): string => {
  const read = parseGivenJson(text, { isOwn });
  return read.ok ? `read as ${JSON.stringify(read.value)}` : read.message;
};

describe("JSON that somebody hands over", () => {
  test.each([
    ['{"a":1,"a":2}', 'the key "a" stands twice in one map (line 1, column 8)'],
    ['{"a":1,\n  "\\u0061" : 2}', 'the key "a" stands twice in one map (line 2, column 3)'],
    ['[{"b":{"c":1,"d":[],"c":2}}]', 'the key "c" stands twice in one map (line 1, column 21)'],
    ['{"__proto__":1,"__proto__":2}', 'the key "__proto__" stands twice in one map (line 1, column 16)'],
    ['{"é":1,"x":{},"é":2}', 'the key "é" stands twice in one map (line 1, column 15)'],
  ])("I1: a key that stands twice: %s", (text, message) => {
    expect(refused(text)).toBe(message);
  });

  test.each(["9007199254740993", "-9007199254740993", "9007199254740992", "1e20", "[1, 12345678901234567890]"])(
    "I2: a whole number that cannot be kept: %s",
    (text) => {
      expect(refused(text)).toMatch(/is beyond 2\^53 - 1 .* \(line 1, column \d+\)$/);
    },
  );

  test("I2: of an export, what we have written ourselves is as it was, and nothing else", () => {
    for (const value of [1e20, 2 ** 53, 1e300]) {
      expect(parseGivenJson(JSON.stringify(value), { isOwn: true })).toEqual({ ok: true, value });
    }
    expect(refused("9007199254740993", true)).toContain("2^53");
  });

  test("what is kept whole is read: texts with anything in them, the same key in two maps", () => {
    for (const text of [
      '{"a":"9007199254740993","b":"\\"a\\":1,\\\\"}',
      '[{"a":1},{"a":2}]',
      "9007199254740991",
      "-0.5e3",
    ]) {
      expect(parseGivenJson(text)).toEqual({ ok: true, value: JSON.parse(text) });
    }
  });

  test("I3: any JSON of ours is read back, and other text is refused without a throw", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const text = JSON.stringify(value);
        const read = parseGivenJson(text, { isOwn: true });
        expect(read).toEqual({ ok: true, value: JSON.parse(text) });
      }),
    );
    fc.assert(
      fc.property(fc.string(), (text) => {
        parseGivenJson(text);
      }),
    );
  });
});
