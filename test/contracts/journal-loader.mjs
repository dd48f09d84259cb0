// Lets a child process of a test run the sources as they are: types are taken off file by file.
// Use: node --import <this file> script.ts
import { readFile } from "node:fs/promises";
import { register } from "node:module";
import { fileURLToPath } from "node:url";
import { isMainThread } from "node:worker_threads";
// Comes with vitest, which takes the types off the tests themselves; the compiler would take seconds to load.
import { transformSync } from "rolldown/utils";

if (isMainThread) register(import.meta.url);

export async function load(url, context, next) {
  if (!url.startsWith("file:") || !url.endsWith(".ts")) return next(url, context);
  const file = fileURLToPath(url);
  const { code, errors } = transformSync(file, await readFile(file, "utf8"), {
    typescript: { onlyRemoveTypeImports: true },
  });
  if (errors.length > 0) throw new Error(`${file}: ${errors[0].message}`);
  return { format: "module", source: code, shortCircuit: true };
}
