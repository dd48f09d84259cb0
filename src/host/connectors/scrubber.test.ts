import { describe, expect, test } from "vitest";
import { Scrubber } from "./scrubber.ts";

const secret = 'sk-"9/ü+x y';

function scrub(text: string, ...secrets: string[]): string {
  const scrubber = new Scrubber();
  scrubber.addSecrets(secrets.length > 0 ? secrets : [secret]);
  return scrubber.text(text);
}

describe("a secret is taken out of a text", () => {
  const basic = (before: string, after = ""): string => Buffer.from(`${before}${secret}${after}`).toString("base64");
  test.each([
    ["raw", secret],
    ["URL-encoded", encodeURIComponent(secret)],
    [
      "URL-encoded in small letters",
      encodeURIComponent(secret).replaceAll(/%[0-9A-F]{2}/g, (code) => code.toLowerCase()),
    ],
    ["as a form sends it", new URLSearchParams({ a: secret }).toString().slice(2)],
    ["JSON-escaped", JSON.stringify(secret).slice(1, -1)],
    ["JSON-escaped twice", JSON.stringify(JSON.stringify(secret)).slice(3, -3)],
    ["base64", basic("")],
    ["base64 for the web", Buffer.from(secret).toString("base64url")],
    ["base64 behind a user", basic("u:")],
    ["base64 behind a longer user", basic("us:")],
    ["base64 with more to follow", basic("user:", "tail")],
  ])("%s", (_name, form) => {
    const out = scrub(`before ${form} after`);
    expect(out).toContain("[redacted]");
    expect(out.startsWith("before ")).toBe(true);
    expect(out.endsWith(" after")).toBe(true);
    expect(out).not.toContain(form);
  });

  test("every time it stands there, and longer secrets before what they hold", () => {
    expect(scrub("abcd-abcdef-abcd", "abcd", "abcdef")).toBe("[redacted]-[redacted]-[redacted]");
  });

  test("signs of patterns are only signs", () => {
    expect(scrub("a.*b and axxb", "a.*b")).toBe("[redacted] and axxb");
  });

  test("what is too short to be a secret is left alone", () => {
    expect(scrub("a cat sat", "a", "")).toBe("a cat sat");
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
