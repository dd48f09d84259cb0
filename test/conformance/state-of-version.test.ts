import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { SUPPORTED, UNSUPPORTED_KINDS } from "../../src/admit/rules/capabilities.ts";
import { OFFERED_CAPABILITIES } from "../../src/app/capabilities.ts";
import { SUBJECT_KEYS } from "../../src/syntax/workfile/tables.ts";

const README = readFileSync(new URL("../../README.md", import.meta.url), "utf8");
const section = README.slice(README.indexOf("## State of this version"));
const [runs = "", refused = ""] = section.split("Parsed and refused at admission");
const words = (text: string): string[] =>
  [...text.matchAll(/`(wf\.\w+|cleanup|single|on_unknown: \w+)`/g)].map((hit) => hit[1] ?? "");

test("the README lists what runs and what is refused, as the code has it", () => {
  const code = OFFERED_CAPABILITIES.some((name) => name.startsWith("wf.run-")) ? [] : ["wf.run"];
  expect(words(runs).sort()).toEqual(SUPPORTED.filter((word) => word !== "actions").sort());
  expect(words(refused).sort()).toEqual([...code, ...Object.values(UNSUPPORTED_KINDS)].sort());
});

test("between them they name every construct there is", () => {
  const constructs = [...SUBJECT_KEYS.keys()].filter((key) => key.startsWith("wf."));
  expect(words(section)).toEqual(expect.arrayContaining(constructs));
});
