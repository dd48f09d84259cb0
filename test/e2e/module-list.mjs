// Lists each module that a program loads, one a line, in the file `AMBIT_MODULE_LIST`: `node --import module-list.mjs`.
import { appendFileSync } from "node:fs";
import { createRequire, register } from "node:module";

const hooks = `
import { appendFileSync } from "node:fs";
export async function load(url, context, next) {
  appendFileSync(${JSON.stringify(process.env.AMBIT_MODULE_LIST)}, url + "\\n");
  return next(url, context);
}`;
register(`data:text/javascript,${encodeURIComponent(hooks)}`);

// What CommonJS modules require among themselves passes the hook by.
process.on("exit", () => {
  const { cache } = createRequire(import.meta.url);
  appendFileSync(
    process.env.AMBIT_MODULE_LIST,
    Object.keys(cache)
      .map((path) => `${path}\n`)
      .join(""),
  );
});
