import { describe, expect, test } from "vitest";
import { MAX_SECRETS, SecretTexts } from "./secret-texts.ts";

const secret = 'sk-"9/ü+x y';

function texts(...given: string[]): SecretTexts {
  const made = new SecretTexts();
  for (const text of given) made.add(text);
  return made;
}

describe("DU-09: a secret is found", () => {
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
    ["JSON-escaped, all but ASCII as numbers", JSON.stringify(secret).slice(1, -1).replace("ü", "\\u00fc")],
    ["JSON-escaped twice", JSON.stringify(JSON.stringify(secret)).slice(3, -3)],
    ["base64", basic("")],
    ["base64 for the web", Buffer.from(secret).toString("base64url")],
    ["base64 behind a user", basic("u:")],
    ["base64 behind a longer user", basic("us:")],
    ["base64 with more to follow", basic("user:", "tail")],
  ])("%s", (_name, form) => {
    const said = `before ${form} after`;
    const out = texts(secret).replaceIn(said, "#");
    expect(texts(secret).isIn(said)).toBe(true);
    expect(out).toMatch(/^before .*#.* after$/);
    expect(out).not.toContain(form);
  });

  test("short ones in base64, too, where they stand alone", () => {
    expect(texts("pin4").replaceIn(`x ${btoa("pin4")} y`, "#")).toBe("x #== y");
    expect(texts("pin45").isIn(btoa("a:pin45:b"))).toBe(true);
  });

  test("every time it stands there, and longer ones before what they hold", () => {
    expect(texts("abcd", "abcdef").replaceIn("abcd-abcdef-abcd", "#")).toBe("#-#-#");
  });

  test("but not what is too short to be one", () => {
    const none = texts("abc", " a ", "");
    expect(none.isEmpty).toBe(true);
    expect(none.replaceIn("abc a", "#")).toBe("abc a");
  });
});

describe("the rest of one that was cut", () => {
  test("is taken out of a message, and stays where nothing shows that it was cut", () => {
    const known = texts("hunter2-and-more");
    expect(known.replaceIn("it said hunter2-an...", "#", true)).toBe("it said #...");
    expect(known.replaceIn('no "hunter2-an…" here', "#", true)).toBe('no "#…" here');
    expect(known.replaceIn("it said hunter2-an", "#", true)).toBe("it said hunter2-an");
    expect(known.replaceIn("a hunter2...", "#")).toBe("a hunter2...");
  });
});

describe("more than are looked for", () => {
  const full = texts(...Array.from({ length: MAX_SECRETS + 1 }, (_, i) => `secret-${i}`));

  test("make everything secret", () => {
    expect(full.tooMany).toBe(true);
    expect(full.isIn("harmless")).toBe(true);
    expect(full.replaceIn(`secret-${MAX_SECRETS} and more`, "#")).toBe("#");
    expect(full.replaceIn("", "#")).toBe("");
  });

  test("also where two lots come together", () => {
    const most = texts(...Array.from({ length: MAX_SECRETS }, (_, i) => `secret-${i}`));
    expect(most.tooMany).toBe(false);
    expect(most.with(texts("secret-7"))).toBe(most);
    expect(most.with(texts("another")).tooMany).toBe(true);
    expect(texts("some").with(full).tooMany).toBe(true);
  });
});

test("a secret of a megabyte and a long text are no trouble", () => {
  const long = texts("a".repeat(1_000_000));
  expect(long.replaceIn(`${"a".repeat(1_000_000)}b`, "#")).toBe("#b");
  expect(long.isIn("b".repeat(5_000_000))).toBe(false);
});
