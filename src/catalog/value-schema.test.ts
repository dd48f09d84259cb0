import { describe, expect, test } from "vitest";
import type { Json } from "../base/json.ts";
import type { JsonSchema } from "./manifest.ts";
import { sayProblems } from "./value-problem.ts";
import { checkValue, compileSchema } from "./value-schema.ts";

const query: JsonSchema = {
  type: "object",
  required: ["query"],
  additionalProperties: false,
  properties: { query: { type: "string" } },
};

describe("HO-03: what is wrong is said by field", () => {
  test("a missing field with the type expected there, and the field that was not expected", () => {
    const problems = checkValue(query, { items: [1] });
    expect(problems).toEqual([
      { path: "query", message: '"query" is missing, expected string', expected: "string" },
      {
        path: "items",
        message: '"items" is not a known field, known are "query"',
        expected: "no such field",
        unexpected: "items",
      },
    ]);
    expect(sayProblems(problems)).toContain('"query" is missing, expected string; "items" is not a known field');
  });

  test("a wrong type at its path, kinds only", () => {
    const schema: JsonSchema = { properties: { accounts: { items: { properties: { id: { type: "string" } } } } } };
    const [problem] = checkValue(schema, { accounts: [{ id: "a" }, { id: 4711 }] });
    expect(problem).toMatchObject({ path: "accounts[1].id", message: '"accounts[1].id" must be string, is integer' });
    expect(JSON.stringify(problem)).not.toContain("4711");
  });

  test("at most twenty problems", () => {
    const items = Array.from({ length: 500 }, () => "x");
    expect(checkValue({ items: { type: "integer" } }, items)).toHaveLength(20);
  });

  test.each<[JsonSchema, Json, string]>([
    [{ enum: ["a", "b"] }, "c", 'one of "a", "b"'],
    [{ const: 1 }, 2, "must be 1"],
    [{ minimum: 3 }, 1, "at least 3"],
    [{ maxLength: 1 }, "ab", "at most 1 characters"],
    [{ maxItems: 0 }, [1], "at most 0 elements"],
    [{ uniqueItems: true }, [{ a: 1 }, { a: 1 }], "no element twice"],
    [{ anyOf: [{ type: "string" }, { type: "null" }] }, 1, "string or null"],
    [{ format: "date-time", type: "string" }, "yesterday", "format date-time"],
    [{ pattern: "^a+$" }, "b", "^a+$"],
    [{ not: {} }, 1, "not allowed"],
    [{ type: "object", propertyNames: { maxLength: 1 } }, { ab: 1 }, "name that is not allowed"],
  ])("%j refuses %j in plain words", (schema, value, words) => {
    expect(
      checkValue(schema, value)
        .map((problem) => problem.message)
        .join(),
    ).toContain(words);
  });
});

describe("I1: patterns", () => {
  test("two different patterns are two patterns, and a bad text fails each", () => {
    expect(checkValue({ pattern: "^a$" }, "b")).toHaveLength(1);
    expect(checkValue({ pattern: "^b$" }, "b")).toHaveLength(0);
    const both: JsonSchema = { properties: { a: { pattern: "^a$" }, b: { pattern: "^b$" } } };
    expect(checkValue(both, { a: "b", b: "a" })).toHaveLength(2);
    expect(checkValue(both, { a: "a", b: "b" })).toHaveLength(0);
  });

  test("they run in linear time", () => {
    const schema: JsonSchema = { pattern: "^(a+)+$" };
    expect(checkValue(schema, `${"a".repeat(50_000)}b`)).toHaveLength(1);
  });

  test("what needs backtracking refuses the schema", () => {
    expect(compileSchema({ pattern: "(a)\\1" })).toMatchObject({ error: expect.stringContaining("pattern") });
    expect(compileSchema({ patternProperties: { "(?=a)": {} } })).toMatchObject({ error: expect.any(String) });
    expect(compileSchema({ pattern: "(?:a{1000}){1000}" })).toMatchObject({ error: expect.any(String) });
  });

  test("JavaScript spelling is understood", () => {
    expect(checkValue({ pattern: "^\\u0041\\/(?<rest>.)$" }, "A/b")).toEqual([]);
  });
});

describe("I3: nothing is fetched", () => {
  test.each(["https://example.org/schema.json", "other.json", "#/$defs/none"])("a reference to %s", ($ref) => {
    expect(compileSchema({ properties: { a: { $ref } } })).toMatchObject({
      error: expect.stringContaining("reference"),
    });
  });

  test("references within the schema work, circles included", () => {
    const schema: JsonSchema = {
      $ref: "#/$defs/node",
      $defs: {
        node: {
          type: "object",
          required: ["v"],
          properties: { v: { type: "integer" }, next: { $ref: "#/$defs/node" } },
        },
      },
    };
    expect(checkValue(schema, { v: 1, next: { v: 2 } })).toEqual([]);
    expect(checkValue(schema, { v: 1, next: { v: "x" } })[0]?.path).toBe("next.v");
  });
});

describe("I4: own keys only", () => {
  test.each(["constructor", "toString", "__proto__", "hasOwnProperty"])("%s is a field like any other", (name) => {
    expect(checkValue({ type: "object", required: [name] }, {})[0]?.path).toBe(name);
    const value = JSON.parse(`{ "${name}": 1 }`) as Json;
    expect(checkValue({ type: "object", required: [name] }, value)).toEqual([]);
    expect(checkValue({ type: "object", additionalProperties: false }, value)[0]?.unexpected).toBe(name);
  });
});

describe("dialects", () => {
  const tuple07: JsonSchema = { $schema: "http://json-schema.org/draft-07/schema#", items: [{ type: "string" }] };
  const tuple2020: JsonSchema = { prefixItems: [{ type: "string" }] };

  test("draft-07 by its $schema, 2020-12 otherwise", () => {
    expect(checkValue(tuple07, [1])).toHaveLength(1);
    expect(checkValue(tuple2020, [1])).toHaveLength(1);
    expect(checkValue({ ...tuple2020, $schema: "https://json-schema.org/draft/2020-12/schema" }, [1])).toHaveLength(1);
  });

  test("another dialect is refused", () => {
    expect(compileSchema({ $schema: "http://json-schema.org/draft-04/schema#" })).toMatchObject({
      error: expect.stringContaining("$schema"),
    });
  });

  test("two schemas of one $id do not meet", () => {
    expect(checkValue({ $id: "https://example.org/x", type: "string" }, 1)).toHaveLength(1);
    expect(checkValue({ $id: "https://example.org/x", type: "integer" }, 1)).toHaveLength(0);
  });
});

describe("hostile schemas and values", () => {
  test("a schema cannot take the place of the language it is written in", () => {
    for (const $id of ["https://json-schema.org/draft/2020-12/schema", "http://json-schema.org/draft-07/schema#"]) {
      expect(compileSchema({ $id, type: "string" })).toMatchObject({ error: expect.stringContaining("$id") });
    }
    expect(checkValue({ type: "integer", title: "still checked" }, "x")).toHaveLength(1);
  });

  test.each<[string, JsonSchema]>([
    ["a type that is none", { type: "text" }],
    ["a keyword of the wrong kind", { required: "query" }],
    ["a schema nested without end", nested(200)],
    ["a schema of a megabyte", { description: "x".repeat(1_000_000) }],
  ])("%s is an error, not a crash", (_name, schema) => {
    expect(compileSchema(schema)).toMatchObject({ error: expect.any(String) });
    expect(checkValue(schema, {})).toHaveLength(1);
  });

  test("a text too long for its format does not reach it", () => {
    const schema: JsonSchema = { type: "string", format: "email" };
    expect(checkValue(schema, "a@example.org")).toEqual([]);
    expect(checkValue(schema, `${"a".repeat(100_000)}@example.org`)).toHaveLength(1);
  });

  test("unique elements of a long list take no quadratic time", () => {
    const items = Array.from({ length: 50_000 }, (_, i) => ({ i }));
    expect(checkValue({ uniqueItems: true }, items)).toEqual([]);
  });
});

function nested(depth: number): JsonSchema {
  let schema: JsonSchema = {};
  for (let i = 0; i < depth; i++) schema = { items: schema };
  return schema;
}
