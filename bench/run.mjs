// `npm run bench [NAME]`: see README.md in this folder.
import { cpus } from "node:os";
import { cancel } from "./cancel.mjs";
import { check } from "./check.mjs";
import { cold } from "./cold.mjs";
import { durable } from "./durable.mjs";
import { history } from "./history.mjs";
import { replay } from "./replay.mjs";

const measures = { cold, check, durable, history, replay, cancel };
const wanted = process.argv.slice(2);
const names = wanted.length > 0 ? wanted : Object.keys(measures);

console.log(
  `node ${process.versions.node}, ${cpus().length} cores (${cpus()[0]?.model ?? "unknown"}), ${process.platform}`,
);
let missed = 0;
for (const name of names) {
  const measure = measures[name];
  if (!measure) {
    console.error(`There is no measure ${name}. There are: ${Object.keys(measures).join(", ")}.`);
    process.exit(2);
  }
  console.log(`\n== ${name}`);
  for (const { what, value, bar, ok } of await measure()) {
    if (ok === false) missed++;
    console.log(
      `${ok === false ? "MISSED" : ok === true ? "  met " : "      "}  ${what}: ${value}${bar ? `   (bar: ${bar})` : ""}`,
    );
  }
}
console.log(missed === 0 ? "\nall bars met" : `\n${missed} bars missed`);
