import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { expect, test } from "vitest";
import { guards } from "../mutation/guards.mjs";

const root = resolve(import.meta.dirname, "../..");

test("each guard that is broken on purpose still stands where it is looked for, once", () => {
  const lost = guards.filter((guard) => readFileSync(join(root, guard.file), "utf8").split(guard.find).length !== 2);
  expect(lost.map((guard) => guard.name)).toEqual([]);
});
