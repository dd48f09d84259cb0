import { expect, test } from "vitest";
import { leaksOf, type Place } from "./leaks.ts";

const SECRET = 'canary-7f3a "ü"';
const formsOf = (text: string): string[] =>
  leaksOf(SECRET, [{ name: "journal", text } satisfies Place]).map((leak) => leak.form);

test("finds a text as it is, and says where", () => {
  expect(leaksOf(SECRET, [{ name: "output", text: `before ${SECRET} after` }])).toEqual([
    { place: "output", form: "raw", around: `before ${SECRET} after` },
  ]);
  expect(formsOf("canary-7f3 and nothing more")).toEqual([]);
});

test("finds it in base64 at every offset, also with the other alphabet", () => {
  for (const lead of ["", "a", "ab", "abc"]) {
    const encoded = Buffer.from(`${lead}${SECRET} tail`).toString("base64");
    expect(formsOf(encoded)).toEqual(["base64"]);
    expect(formsOf(Buffer.from(`${lead}${SECRET}`).toString("base64url"))).toHaveLength(1);
  }
});

test("finds it percent-encoded and in JSON escapes, whole or in part", () => {
  expect(formsOf(encodeURIComponent(SECRET))).toHaveLength(1);
  expect(
    formsOf([...Buffer.from(SECRET)].map((byte) => `%${byte.toString(16).padStart(2, "0")}`).join("")),
  ).toHaveLength(1);
  expect(formsOf(JSON.stringify(SECRET))).toHaveLength(1);
  expect(formsOf(JSON.stringify(JSON.stringify(SECRET)))).toHaveLength(1);
  expect(formsOf(SECRET.replace("c", "\\u0063").replace("ü", "\\u00FC"))).toEqual(["escapes"]);
});
