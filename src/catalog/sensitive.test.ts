import { describe, expect, test } from "vitest";
import type { Json } from "../base/json.ts";
import { Marked, marksIn, recorded, reveal, type Val } from "../plan/marked.ts";
import type { JsonSchema } from "./manifest.ts";
import { markSensitive, sensitivePaths } from "./sensitive.ts";

const secret = { type: "string", "x-sensitive": true } as const;
const hidden = { $sensitive: true };

describe("x-sensitive marks exactly its value", () => {
  const schema: JsonSchema = {
    type: "object",
    properties: {
      user: { type: "string" },
      token: secret,
      accounts: { items: { properties: { iban: secret, id: {} } } },
    },
  };
  const value: Json = { user: "ana", token: "t", accounts: [{ iban: "DE1", id: 1 }, { id: 2 }] };

  test("in records it is hidden, in clear it is whole, beside it nothing changes", () => {
    const marked = markSensitive(value as Val, schema);
    expect(recorded(marked)).toEqual({ user: "ana", token: hidden, accounts: [{ iban: hidden, id: 1 }, { id: 2 }] });
    expect(reveal(marked)).toEqual(value);
  });

  test("its paths", () => {
    expect(sensitivePaths(schema)).toEqual(["accounts[].iban", "token"]);
    expect(sensitivePaths({ ...secret })).toEqual([""]);
    expect(sensitivePaths({ additionalProperties: secret })).toEqual(["*"]);
    expect(sensitivePaths({ type: "object" })).toEqual([]);
  });

  test("a schema without a mark leaves the value as it is", () => {
    const plain = { a: 1 };
    expect(markSensitive(plain, { properties: { a: {} } })).toBe(plain);
  });
});

describe("in doubt it marks", () => {
  test.each<[string, JsonSchema]>([
    ["an alternative", { anyOf: [{ type: "integer" }, { properties: { a: secret } }] }],
    ["a condition's branch", { if: {}, else: { properties: { a: secret } } }],
    ["a reference", { $ref: "#/$defs/x", $defs: { x: { properties: { a: secret } } } }],
    ["an anchor", { $ref: "#x", $defs: { x: { $anchor: "x", properties: { a: secret } } } }],
    ["a pattern of names", { patternProperties: { "^zzz": secret } }],
    ["all further fields", { additionalProperties: secret }],
  ])("%s", (_name, schema) => {
    expect(recorded(markSensitive({ a: "s", b: 1 }, schema))).toMatchObject({ a: hidden });
  });

  test("a reference that leads out marks the whole value", () => {
    const schema: JsonSchema = { $ref: "https://example.org/x", $defs: { y: secret } };
    expect(recorded(markSensitive({ a: 1 }, schema))).toEqual(hidden);
  });

  test("a schema that refers to itself ends", () => {
    const schema: JsonSchema = {
      $ref: "#/$defs/n",
      $defs: { n: { properties: { n: { $ref: "#/$defs/n" }, s: secret } } },
    };
    expect(recorded(markSensitive({ n: { n: { s: "x" } } }, schema))).toEqual({ n: { n: { s: hidden } } });
    expect(sensitivePaths(schema).length).toBeGreaterThan(0);
  });

  test("marks that are there already stay", () => {
    const value = new Marked({ a: "s" }, { suppressed: true });
    const marked = markSensitive(value, { properties: { a: secret } });
    expect(marked).toBeInstanceOf(Marked);
    expect(marksIn(marked)).toEqual({ sensitive: true, suppressed: true });
  });
});
