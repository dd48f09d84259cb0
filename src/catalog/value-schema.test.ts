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

  test("I2: a wrong type at its path, kinds only", () => {
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

describe("I5: a check answers at once, and never throws", () => {
  test.each<[string, JsonSchema]>([
    ["at the root", { $async: true, type: "object" }],
    ["as false", { $async: false, type: "object" }],
    ["of a field", { properties: { a: { $async: true, type: "string" } } }],
    ["behind a reference", { $ref: "#/$defs/a", $defs: { a: { $async: true, type: "string" } } }],
    ["behind a keyword that nobody knows", { $ref: "#/x-a", "x-a": { $async: true, type: "string" } }],
    ["in a definition that nothing refers to", { $defs: { a: { $async: true } } }],
    [
      "behind a dynamic reference",
      {
        $defs: { a: { $dynamicAnchor: "a", $async: true, required: ["x"] } },
        properties: { b: { $dynamicRef: "#a" } },
      },
    ],
    ["in draft-07", { $schema: "http://json-schema.org/draft-07/schema#", items: [{ $async: true }] }],
  ])("$async is refused %s", (_name, schema) => {
    expect(compileSchema(schema)).toMatchObject({ error: expect.stringContaining("$async") });
  });

  test("a field of that name is a field like any other", () => {
    const schema: JsonSchema = { properties: { $async: { type: "boolean" } } };
    expect(checkValue(schema, { $async: true })).toEqual([]);
    expect(checkValue(schema, { $async: "x" })).toHaveLength(1);
    expect(checkValue({ const: { $async: true } }, { $async: true })).toEqual([]);
  });

  const a = (schema: Json): JsonSchema => ({ $ref: "#/$defs/a", $defs: { a: schema } });
  test.each<[string, JsonSchema]>([
    ["anyOf", a({ anyOf: [{ $ref: "#/$defs/a" }, { type: "string" }] })],
    ["oneOf", a({ oneOf: [{ type: "string" }, { $ref: "#/$defs/a" }] })],
    ["allOf", a({ allOf: [{ $ref: "#/$defs/a" }] })],
    ["not", a({ not: { $ref: "#/$defs/a" } })],
    ["if", a({ if: { $ref: "#/$defs/a" } })],
    // biome-ignore lint/suspicious/noThenProperty: a keyword of the language
    ["then", a({ if: true, then: { $ref: "#/$defs/a" } })],
    ["else", a({ if: false, else: { $ref: "#/$defs/a" } })],
    ["$ref alone", a({ $ref: "#/$defs/a" })],
    ["the root", { allOf: [{ $ref: "#" }] }],
    ["dependentSchemas", a({ dependentSchemas: { x: { $ref: "#/$defs/a" } } })],
    [
      "dependencies",
      {
        $schema: "http://json-schema.org/draft-07/schema#",
        definitions: { a: { dependencies: { x: { $ref: "#/definitions/a" } } } },
        $ref: "#/definitions/a",
      },
    ],
    [
      "two that refer to each other, below a field",
      {
        properties: { x: { $ref: "#/$defs/a" } },
        $defs: { a: { anyOf: [{ $ref: "#/$defs/b" }] }, b: { not: { $ref: "#/$defs/a" } } },
      },
    ],
    ["an anchor", { $defs: { a: { $anchor: "a", anyOf: [{ $ref: "#a" }] } }, $ref: "#a" }],
    [
      "a name of its own",
      { $defs: { a: { $id: "https://example.org/a", anyOf: [{ $ref: "a" }] } }, $ref: "https://example.org/a" },
    ],
    [
      "a dynamic reference",
      { $defs: { a: { $dynamicAnchor: "a", anyOf: [{ $dynamicRef: "#a" }, { type: "string" }] } }, $ref: "#/$defs/a" },
    ],
    ["a recursive reference", { $recursiveAnchor: true, anyOf: [{ $recursiveRef: "#" }, { type: "string" }] }],
    ["escaped names", { $defs: { "a/b%": { not: { $ref: "#/$defs/a~1b%25" } } }, $ref: "#/$defs/a~1b%25" }],
    ["the root by its name", { $id: "https://example.org/x", anyOf: [{ $ref: "https://example.org/x" }] }],
  ])("a circle that does not go into the value is refused: %s", (_name, schema) => {
    expect(compileSchema(schema)).toMatchObject({ error: expect.stringContaining("comes back to itself") });
    expect(checkValue(schema, { x: 1 })).toHaveLength(1);
  });

  test("one that goes into the value at every turn is not", () => {
    const tree = a({
      anyOf: [
        { type: "string" },
        { type: "array", items: { $ref: "#/$defs/a" } },
        { type: "object", additionalProperties: { $ref: "#/$defs/a" } },
      ],
    });
    expect(checkValue(tree, [{ a: ["x"] }])).toEqual([]);
    expect(checkValue(tree, [{ a: [1] }])).not.toEqual([]);
    const dynamic: JsonSchema = {
      $dynamicAnchor: "node",
      properties: { next: { $dynamicRef: "#node" } },
      type: "object",
    };
    expect(checkValue(dynamic, { next: { next: {} } })).toEqual([]);
    expect(checkValue(dynamic, { next: 1 })).toHaveLength(1);
  });

  test("a name may be given to a part, and the language's own schema is known", () => {
    const named: JsonSchema = {
      $id: "https://example.org/x/root",
      properties: { a: { $ref: "part" }, b: { $ref: "/x/part#deep" } },
      $defs: { part: { $id: "part", type: "string", $defs: { d: { $anchor: "deep", type: "integer" } } } },
    };
    expect(checkValue(named, { a: "x", b: 1 })).toEqual([]);
    expect(checkValue(named, { a: 1, b: "x" })).toHaveLength(2);
    const schemas: JsonSchema = { properties: { s: { $ref: "https://json-schema.org/draft/2020-12/schema" } } };
    expect(checkValue(schemas, { s: { type: "string" } })).toEqual([]);
    expect(checkValue(schemas, { s: { type: 5 } })).not.toEqual([]);
  });

  test("schema-references I2: references that multiply are refused, and so is a chain without end", () => {
    const $defs: { [name: string]: Json } = { a40: { type: "string" } };
    for (let i = 0; i < 40; i++) $defs[`a${i}`] = { allOf: [1, 2].map(() => ({ $ref: `#/$defs/a${i + 1}` })) };
    expect(compileSchema({ $ref: "#/$defs/a0", $defs })).toMatchObject({ error: expect.stringContaining("multiply") });
    const chain: { [name: string]: Json } = { a3000: { type: "string" } };
    for (let i = 0; i < 3_000; i++) chain[`a${i}`] = { $ref: `#/$defs/a${i + 1}` };
    expect(compileSchema({ $ref: "#/$defs/a0", $defs: chain })).toMatchObject({
      error: expect.stringContaining("references follow one another"),
    });
  });

  test("a check that would take for ever does not fit, and says why", () => {
    const branch = { properties: { x: { $ref: "#/$defs/a" } } };
    let value: Json = 1;
    for (let i = 0; i < 60; i++) value = { x: value };
    const schema = a({ allOf: [branch, branch] });
    expect(checkValue(schema, value)[0]?.message).toContain("too much work");
    // The next check begins anew.
    expect(checkValue(schema, { y: 1 })).toEqual([]);
  });

  test("a value of any depth gets an answer", () => {
    const schema = a({ items: { $ref: "#/$defs/a" } });
    let value: Json = [];
    for (let i = 0; i < 100_000; i++) value = [value];
    expect(checkValue(schema, value)[0]?.message).toContain("deeper than can be checked");
    expect(checkValue({ type: "string" }, value)[0]?.message).toContain("must be string");
  });
});

function nested(depth: number): JsonSchema {
  let schema: JsonSchema = {};
  for (let i = 0; i < depth; i++) schema = { items: schema };
  return schema;
}
