import { describe, expect, test } from "vitest";
import { Scrubber } from "./scrubber.ts";

describe("a secret is taken out of a text", () => {
  const scrubber = new Scrubber();
  scrubber.addSecrets(["a.*b", "abcd-efgh", "abcd-efgh-ijkl", "abc", ""]);

  test.each([
    ["raw, where its signs are those of a pattern", "a.*b and axxb", "[redacted] and axxb"],
    ["the longer before what it holds", "abcd-efgh-ijkl", "[redacted]"],
    ["in base64 (more spellings: base/secret-texts.test.ts)", btoa("abcd-efgh"), "[redacted]"],
    ["but none that is too short", "abc", "abc"],
  ])("%s", (_name, text, out) => expect(scrubber.text(text)).toBe(out));

  test("of a message, the rest of one that was cut, too", () => {
    expect(scrubber.message("it said abcd-e...")).toBe("it said [redacted]...");
    expect(scrubber.text("it said abcd-e...")).toBe("it said abcd-e...");
  });

  test("where there are more than can be looked for, nothing is kept", () => {
    const full = new Scrubber();
    full.addSecrets(Array.from({ length: 1_001 }, (_, i) => `secret-${i}`));
    expect(full.text("it said secret-1000")).toBe("[redacted]");
    expect(JSON.stringify(full.value({ a: ["secret-1000", 7] }))).not.toMatch(/1000|7/);
  });
});

describe("in values", () => {
  const scrubber = new Scrubber();
  scrubber.addSecrets(["hunter22", "123456"]);

  test("texts, keys and numbers at any depth", () => {
    const out = scrubber.value({ a: ["x hunter22 y", { hunter22: 1 }], n: 123456, m: 1234567, ok: true });
    expect(out).toEqual({ a: ["x [redacted] y", { "[redacted]": 1 }], n: "[redacted]", m: 1234567, ok: true });
  });

  test("a value without a secret is the same object", () => {
    const value = { a: [1, "x"] };
    expect(scrubber.value(value)).toBe(value);
  });

  test("__proto__ stays a key", () => {
    const out = scrubber.value(JSON.parse('{ "__proto__": "hunter22" }'));
    expect(Object.keys(out as object)).toEqual(["__proto__"]);
  });

  test("plain fields count from eight characters on", () => {
    const fields = new Scrubber();
    fields.addFields(["prod", "https://example.org/tenant"]);
    expect(fields.text("prod at https://example.org/tenant")).toBe("prod at [redacted]");
  });
});
