import { readdirSync, readFileSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import { expect, test } from "vitest";

const src = resolve(import.meta.dirname, "../../src");

/** Texts of records that a replay compares word by word: view/words.ts says them otherwise. */
const RECORDED = ["run/end.ts", "run/execution.ts", "run/steps/wait.ts", "agent/loop-end.ts", "view/words.ts"];

test("no message says a duration in raw milliseconds or as a quotient", () => {
  const found = readdirSync(src, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith(".ts") && !entry.name.endsWith(".test.ts"))
    .flatMap((entry) => {
      const file = join(entry.parentPath, entry.name);
      const text = readFileSync(file, "utf8");
      if (RECORDED.includes(relative(src, file))) return [];
      return [...text.matchAll(/\$\{[^}]*\} ms\b|\$\{[^}]*\/ 1_?000\} s\b/g)].map(([raw]) => `${file}: ${raw}`);
    });
  expect(found).toEqual([]);
});
