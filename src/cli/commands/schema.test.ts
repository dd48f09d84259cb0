import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { Ajv } from "ajv";
import { describe, expect, test } from "vitest";
import { jsonText } from "../terminal.ts";
import { SCHEMAS } from "./schema.ts";

const folder = resolve(import.meta.dirname, "../../../schema");

describe.each(Object.entries(SCHEMAS))("the schema %s", (name, make) => {
  test("is draft-07", async () => {
    const schema = await make();
    const meta = new Ajv({ strict: false }).getSchema("http://json-schema.org/draft-07/schema");
    expect(schema["$schema"]).toBe("http://json-schema.org/draft-07/schema#");
    expect(meta?.(schema), JSON.stringify(meta?.errors)).toBe(true);
  });

  test(`is what lies in the package; make it anew with: ambit schema ${name} > schema/${name}.schema.json`, async () => {
    expect(readFileSync(join(folder, `${name}.schema.json`), "utf8")).toBe(`${jsonText(await make(), 2)}\n`);
  });

  test("refers to nothing that is not there, and has nothing that nobody refers to", async () => {
    const text = JSON.stringify(await make());
    const used = new Set([...text.matchAll(/"\$ref":"#\/definitions\/([^"]+)"/g)].map(([, ref]) => ref));
    expect([...used].sort()).toEqual(Object.keys((JSON.parse(text) as { definitions: object }).definitions).sort());
  });
});
