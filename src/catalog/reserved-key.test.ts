import { describe, expect, test } from "vitest";
import { admitsAllKeys } from "./key-pattern.ts";
import type { ActionManifest, JsonSchema } from "./manifest.ts";
import { keyIncompatibility } from "./reserved-key.ts";

function keyed(field: unknown, more: JsonSchema = {}): ActionManifest {
  return {
    name: "billing.charge",
    description: "",
    input: { type: "object", properties: { request_key: field as JsonSchema }, required: ["request_key"], ...more },
    output: {},
    effects: "write",
    idempotency: { kind: "keyed", field: "request_key" },
    retry: { attempts: 1, backoff: 0, on: [] },
    timeout: 1_000,
    dryRun: { kind: "suppress" },
    scopes: [],
    requires: [],
    ambiguous: [],
  };
}

describe("WX-52: the reserved input takes every key", () => {
  const fits: [string, unknown][] = [
    ["a text", { type: "string" }],
    ["no type", {}],
    ["text or null", { type: ["null", "string"] }],
    ["exactly the length", { type: "string", minLength: 76, maxLength: 76 }],
    ["a pattern for the beginning", { type: "string", maxLength: 76, pattern: "^wf-" }],
    ["the whole language", { type: "string", pattern: "^wf-agent-v1:[0-9a-f]{64}$" }],
    ["the language in halves", { pattern: "^[a-z0-9-]+:(?:[0-9a-f]{32}){2}$" }],
    ["alternatives that cover it together", { pattern: "^wf-agent-v1:(?:[0-8a-f]|9)+$" }],
    ["found in the middle", { pattern: "agent" }],
    ["at least one digit or letter", { pattern: "\\w$" }],
    ["a reference", { $ref: "#/$defs/key" }],
    ["anyOf with one that fits", { anyOf: [{ type: "integer" }, { type: "string" }] }],
    ["a URI", { type: "string", format: "uri" }],
  ];
  test.each(fits)("%s", (_name, field) => {
    expect(keyIncompatibility(keyed(field, { $defs: { key: { type: "string" } } }))).toBeNull();
  });
});

describe("WX-53: one refused key is enough", () => {
  const refuses: [string, unknown, RegExp][] = [
    ["too short a text", { type: "string", maxLength: 75 }, /at most 75/],
    ["too long a text", { type: "string", minLength: 77 }, /at least 77/],
    ["a number", { type: "integer" }, /integer/],
    ["an enum", { enum: ["wf-agent-v1:"] }, /listed/],
    ["a const", { const: "x" }, /listed/],
    ["a missing digit", { pattern: "^wf-agent-v1:[0-8a-f]{64}$" }, /wf-agent-v1:/],
    ["a missing digit at one place", { pattern: "^wf-agent-v1:[0-9a-f]{63}[0-8a-f]$" }, /9/],
    ["upper case", { pattern: "^wf-agent-v1:[0-9A-F]{64}$" }, /wf-agent-v1:/],
    ["one digit too few", { pattern: "^wf-agent-v1:[0-9a-f]{63}$" }, /wf-agent-v1:/],
    ["another prefix", { pattern: "^wf-agent-v2:" }, /wf-agent-v1:/],
    ["two zeros in a row wanted", { pattern: "00" }, /wf-agent-v1:/],
    ["a format", { format: "uuid" }, /uuid/],
    ["look-around", { pattern: "^(?!wf-agent-v1:0)" }, /cannot be decided/],
    ["a property class", { pattern: "^\\p{L}+" }, /cannot be decided/],
    ["not", { not: { const: "x" } }, /cannot be decided/],
    ["false", false, /not allowed/],
    ["allOf with one that refuses", { allOf: [{}, { maxLength: 10 }] }, /at most 10/],
    ["a reference out of the schema", { $ref: "https://example.org/key.json" }, /reference/],
  ];
  test.each(refuses)("%s", (_name, field, reason) => {
    expect(keyIncompatibility(keyed(field))).toMatch(reason);
  });

  test("an alternative of the whole input that speaks of the field", () => {
    const more = { oneOf: [{ properties: { request_key: { maxLength: 3 } } }] };
    expect(keyIncompatibility(keyed({}, more))).toMatch(/oneOf/);
  });

  test("an action without a key has nothing to refuse", () => {
    const action = { ...keyed({ type: "integer" }), idempotency: { kind: "natural" as const } };
    expect(keyIncompatibility(action)).toBeNull();
  });
});

test("a pattern that needs exponentially many sets is not decided, and quickly", () => {
  const outcome = admitsAllKeys("^.*[0-7].{40}[0-7].*[0-7].{20}$");
  expect(outcome.is).not.toBe("all");
  expect(admitsAllKeys(`${"(".repeat(60)}a${")".repeat(60)}`).is).toBe("undecided");
  expect(admitsAllKeys("(?:a{1000}){1000}").is).toBe("undecided");
});
