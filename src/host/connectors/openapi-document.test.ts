import { describe, expect, test } from "vitest";
import type { Json, JsonObject } from "../../base/json.ts";
import { checkValue } from "../../catalog/value-schema.ts";
import { type OpenApiDocument, type Operation, parseOpenApi } from "./openapi-document.ts";

function read(document: JsonObject): OpenApiDocument {
  const made = parseOpenApi(JSON.stringify({ openapi: "3.1.0", info: { title: "T", version: "7" }, ...document }), "t");
  if ("problem" in made) throw new Error(made.problem);
  return made;
}

/** The one operation of a document whose path has these parts. */
function operation(node: JsonObject, more: JsonObject = {}, path = "/x"): Operation {
  const document = read({ ...more, paths: { [path]: { post: { operationId: "op", ...node } } } });
  const found = document.operations.get("op");
  if (!found) throw new Error(JSON.stringify(document.left));
  return found;
}

const json = (schema: Json): JsonObject => ({ content: { "application/json": { schema } } });

describe("what is no document", () => {
  test.each([
    "",
    "[]",
    "{",
    "swagger: '2.0'",
    "openapi: 4.0.0",
    "openapi: 3",
    "a: &x 1\nb: *x",
    `${"[".repeat(200)}${"]".repeat(200)}`,
    `{"openapi":"3.1.0","x":${"[".repeat(200)}${"]".repeat(200)}}`,
  ])("%j", (text) => {
    expect(parseOpenApi(text, "t")).toHaveProperty("problem");
  });

  test("odd parts are passed over, none of them throws", () => {
    for (const paths of [null, [], 1, { "/x": null }, { "/x": { get: [] } }, { "/x": { $ref: "#/paths/~1x" } }]) {
      expect(read({ paths: paths as Json }).operations.size).toBe(0);
    }
  });
});

test("of a large document those that are wanted are read, and no more than a manifest holds", () => {
  const paths: JsonObject = {};
  for (let i = 0; i < 1_001; i++) paths[`/p${i}`] = { get: { operationId: `op${i}` } };
  const text = JSON.stringify({ openapi: "3.0.0", paths });
  const all = parseOpenApi(text, "t");
  expect("operations" in all && [all.operations.size, all.left]).toEqual([
    1_000,
    [{ at: "GET /p1000", why: "is beyond the 1000 operations of a manifest" }],
  ]);
  const some = parseOpenApi(text, "t", new Set(["op1000", "none"]));
  expect("operations" in some && [...some.operations.keys()]).toEqual(["op1000"]);
});

describe("YAML", () => {
  test("reads as JSON does, numbers as keys included", () => {
    const made = parseOpenApi(
      `openapi: 3.0.3
info: { title: Pets, version: 2.1.0 }
servers: [ { url: "https://pets.example.org/v1" } ]
paths:
  /pets/{id}:
    parameters: [ { name: id, in: path, required: true, schema: { type: integer } } ]
    get:
      operationId: getPet
      summary: One pet
      responses:
        200: { description: ok, content: { application/json: { schema: { type: object } } } }
`,
      "t",
    );
    if ("problem" in made) throw new Error(made.problem);
    expect(made).toMatchObject({ title: "Pets", version: "2.1.0", server: "https://pets.example.org/v1", left: [] });
    expect(made.operations.get("getPet")).toMatchObject({
      method: "get",
      description: "One pet",
      input: { properties: { id: { type: "integer" } }, required: ["id"], additionalProperties: false },
      output: { type: "object" },
    });
  });
});

describe("arguments", () => {
  test("of the path are overridden by those of the operation; two of one name are told apart", () => {
    const made = operation({
      parameters: [
        { name: "id", in: "query", schema: { type: "string" } },
        { name: "id", in: "header", schema: { type: "string" } },
        { name: "Accept", in: "header", schema: {} },
        { name: "session", in: "cookie", schema: {} },
      ],
    });
    expect(made.parameters.map(({ argument }) => argument)).toEqual(["query_id", "header_id"]);
  });

  test("a body is one argument, JSON first", () => {
    const content = { "text/plain": {}, "application/vnd.x+json": { schema: { type: "array" } } };
    const made = operation({ requestBody: { required: true, content } });
    expect(made.body).toMatchObject({ form: "json", type: "application/vnd.x+json", required: true });
    expect(made.input).toMatchObject({ properties: { body: { type: "array" } }, required: ["body"] });
  });

  test.each<[string, JsonObject, string]>([
    ["has no operationId", { operationId: 1 }, "/x"],
    ["needs the cookie", { parameters: [{ name: "s", in: "cookie", required: true }] }, "/x"],
    ["cannot be read", { parameters: [{ $ref: "https://evil.example/p" }] }, "/x"],
    ["in the style", { parameters: [{ name: "s", in: "query", style: "pipeDelimited" }] }, "/x"],
    ["does not say what", {}, "/x/{id}"],
    ["of a type that is not sent", { requestBody: { required: true, content: { "multipart/form-data": {} } } }, "/x"],
    ["a path that is none", {}, "/x?y=1"],
    ["a path that is none", {}, "//evil.example/x y"],
    [
      "two parameters",
      {
        parameters: [
          { name: "a", in: "query" },
          { name: "a", in: "header" },
          { name: "query_a", in: "query" },
        ],
      },
      "/x",
    ],
  ])("an operation that %s is left out", (why, node, path) => {
    const { operations, left } = read({ paths: { [path]: { post: { operationId: "op", ...node } } } });
    expect(operations.size).toBe(0);
    expect(left[0]?.why).toContain(why);
  });

  test("keys of the prototype are keys as any other, but for the one that no check sees", () => {
    const made = operation({ parameters: [{ name: "constructor", in: "query", schema: { type: "string" } }] });
    expect(checkValue(made.input, { constructor: "a" })).toEqual([]);
    expect(checkValue(made.input, { constructor: 1 })).not.toEqual([]);
    expect(() => operation({ parameters: [{ name: "__proto__", in: "query", schema: {} }] })).toThrow("__proto__");
    expect(({} as { type?: unknown }).type).toBeUndefined();
  });
});

describe("schemas", () => {
  const check = (schema: Json, value: Json, more: JsonObject = {}): number =>
    checkValue(operation({ requestBody: json(schema) }, more).input, { body: value }).length;

  test("references, circles too, become definitions of their own", () => {
    const schemas = {
      Node: {
        type: "object",
        required: ["name"],
        properties: { name: { type: "string" }, next: { $ref: "#/components/schemas/Node" } },
      },
    };
    const ref = { $ref: "#/components/schemas/Node" };
    const more = { components: { schemas } };
    expect(check(ref, { name: "a", next: { name: "b" } }, more)).toBe(0);
    expect(check(ref, { name: "a", next: { name: 1 } }, more)).toBeGreaterThan(0);
  });

  test("what 3.0 writes otherwise", () => {
    expect(check({ type: "string", nullable: true }, null)).toBe(0);
    expect(check({ type: "string", enum: ["a"], nullable: true }, null)).toBe(0);
    expect(check({ type: "string" }, null)).toBeGreaterThan(0);
    expect(check({ type: "integer", minimum: 0, exclusiveMinimum: true }, 0)).toBeGreaterThan(0);
    expect(check({ type: "integer", minimum: 0, exclusiveMinimum: false }, 0)).toBe(0);
    expect(check({ type: "string", format: "binary" }, "x")).toBe(0);
  });

  test("what only an answer has is not asked for", () => {
    const schema = { type: "object", required: ["id", "name"], properties: { id: { readOnly: true }, name: {} } };
    expect(check(schema, { name: "a" })).toBe(0);
    expect(check(schema, { id: 1 })).toBeGreaterThan(0);
    const { output } = operation({ responses: { "200": json(schema) } });
    expect(checkValue(output as JsonObject, { name: "a" })).not.toEqual([]);
  });

  test("nothing outside the document is followed, and no keyword comes in by a side door", () => {
    const made = operation({
      requestBody: json({ $ref: "https://evil.example/schema.json", $id: "https://json-schema.org/draft-07/schema" }),
      responses: { "200": json({ $schema: "http://evil.example", $dynamicRef: "#x", type: "string" }) },
    });
    expect(made.input["properties"]).toEqual({ body: {} });
    expect(made.output).toEqual({ type: "string" });
  });

  test("of several good answers any fits; one without a body is null", () => {
    const responses = {
      "200": json({ type: "string" }),
      "204": { description: "none" },
      "404": json({ type: "number" }),
    };
    const output = operation({ responses }).output as JsonObject;
    expect(checkValue(output, "a")).toEqual([]);
    expect(checkValue(output, null)).toEqual([]);
    expect(checkValue(output, 1)).not.toEqual([]);
  });

  test("a document that grows without an end does not", () => {
    const schemas: JsonObject = {};
    for (let i = 0; i < 200; i++) {
      const next = { $ref: `#/components/schemas/S${(i + 1) % 200}` };
      schemas[`S${i}`] = { anyOf: Array.from({ length: 100 }, () => ({ properties: { a: next, b: next } })) };
    }
    const made = operation({ requestBody: json({ $ref: "#/components/schemas/S0" }) }, { components: { schemas } });
    expect(JSON.stringify(made.input).length).toBeLessThan(600_000);
  });
});

describe("credentials", () => {
  const schemes = {
    token: { type: "http", scheme: "Bearer" },
    login: { type: "http", scheme: "basic" },
    key: { type: "apiKey", in: "query", name: "api_key" },
    digest: { type: "http", scheme: "digest" },
    odd: { type: "apiKey", in: "header", name: "X\r\nEvil" },
  };
  const of = (security: Json | undefined): Operation["credential"] => {
    const node: JsonObject = security === undefined ? {} : { security };
    return operation(node, { components: { securitySchemes: schemes } }).credential;
  };
  test("by the operation's security", () => {
    expect(of(undefined)).toBeUndefined();
    expect(of([])).toBeNull();
    expect(of([{ token: [] }])).toEqual({ kind: "bearer" });
    expect(of([{ digest: [] }, { login: [] }])).toEqual({ kind: "basic" });
    expect(of([{ key: [] }])).toEqual({ kind: "query", name: "api_key" });
    expect(of([{ digest: [] }, {}])).toBeNull();
    for (const security of [[{ digest: [] }], [{ odd: [] }], [{ constructor: [] }]]) {
      expect(() => of(security)).toThrow("a credential that cannot be given");
    }
  });
});

describe("pins", () => {
  test("change with what is sent or checked, and not with what is told", () => {
    const pin = (node: JsonObject): string => operation(node).pin;
    const first = pin({ responses: { "200": json({ type: "string" }) } });
    expect(pin({ responses: { "200": json({ type: "string" }) }, summary: "Said otherwise" })).toBe(first);
    expect(pin({ responses: { "200": json({ type: "number" }) } })).not.toBe(first);
    expect(pin({ responses: { "200": json({ type: "string" }) }, security: [] })).not.toBe(first);
    expect(pin({ parameters: [{ name: "q", in: "query" }] })).not.toBe(first);
  });
});
