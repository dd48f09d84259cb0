import { describe, expect, test } from "vitest";
import { nearestName } from "../base/nearest.ts";
import { Reader } from "./reader.ts";
import { markedText } from "./testing/marked-text.ts";
import type { MapNode, TreeNode } from "./tree.ts";
import { parseYaml } from "./yaml.ts";

const CODES = {
  unknownKey: "workfile.unknown_key",
  missingKey: "workfile.missing_key",
  wrongType: "workfile.wrong_type",
  badValue: "workfile.bad_value",
} as const;

function read<T>(text: string, use: (r: Reader, node: TreeNode) => T): { result: T; said: string[] } {
  const { source, places } = markedText(text);
  const { root } = parseYaml(source);
  const r = new Reader(source, CODES);
  const result = use(r, root as TreeNode);
  r.diagnostics.forEach((entry, i) => {
    const [start, end] = places[i] ?? [-1, -1];
    const { line, column, endLine, endColumn } = entry;
    expect({ line, column, endLine, endColumn }).toEqual(source.span(start, end));
  });
  return {
    result,
    said: r.diagnostics.map((entry) => [entry.code, entry.path, entry.message, entry.help].join(" | ")),
  };
}

describe("closed maps", () => {
  test("HO-04: an unknown key is pointed at, with the legal ones and the nearest", () => {
    const { result, said } = read("{ «step»: 3, tokens: 5 }", (r, node) =>
      r.closed(node, "steps[0].resolve.budget", "the budget", ["steps", "tokens"]),
    );
    expect([...(result?.keys() ?? [])]).toEqual(["tokens"]);
    expect(said).toEqual([
      'workfile.unknown_key | steps[0].resolve.budget.step | "step" is no key of the budget. | Did you mean "steps"? Legal keys: steps, tokens.',
    ]);
  });

  test("a missing key is named where the map begins", () => {
    const { said } = read("«{» a: 1 }", (r, node) => r.closed(node, "x", "the thing", ["a", "b"], ["a", "b"]));
    expect(said).toEqual(['workfile.missing_key | x | The key "b" is missing in the thing. | Required here: a, b.']);
  });

  test("keys of objects in the language are keys like others", () => {
    const { said } = read("{ «__proto__»: 1, «constructor»: 2 }", (r, node) => r.closed(node, "", "it", ["a"]));
    expect(said).toHaveLength(2);
  });

  test("something else than a map", () => {
    const { result, said } = read("«[»1]", (r, node) => r.closed(node, "", "it", ["a"]));
    expect(result).toBeNull();
    expect(said).toEqual(["workfile.wrong_type |  | It must be a map, not a list. | "]);
  });
});

describe("scalars", () => {
  const at = (_: Reader, node: TreeNode, i: number): [TreeNode, string] => [
    (node as MapNode).entries[i]?.value as TreeNode,
    `k${i}`,
  ];

  test("texts, booleans, numbers", () => {
    const { said } = read('{ a: «1», b: «yes», c: «1.5», d: «0», e: «"1"» }', (r, node) => {
      r.text(...at(r, node, 0), "a");
      r.boolean(...at(r, node, 1), "b");
      r.integer(...at(r, node, 2), "c");
      r.integer(...at(r, node, 3), "d", { min: 1 });
      r.number(...at(r, node, 4), "e");
    });
    expect(said).toEqual([
      'workfile.wrong_type | k0 | A must be a text, not the number 1. | Put it in quotes: "1".',
      "workfile.wrong_type | k1 | B must be true or false, not a text. | ",
      "workfile.wrong_type | k2 | C must be a whole number, not the number 1.5. | ",
      "workfile.bad_value | k3 | D must be at least 1. | ",
      "workfile.wrong_type | k4 | E must be a number, not a text. | ",
    ]);
  });

  test("one of some words", () => {
    const { said } = read("{ a: «que» }", (r, node) => r.oneOf(...at(r, node, 0), "overlap", ["skip", "queue"]));
    expect(said).toEqual([
      'workfile.bad_value | k0 | Overlap cannot be "que". | Did you mean "queue"? Legal values: skip, queue.',
    ]);
  });

  test("durations in milliseconds, both bounds included", () => {
    const { said, result } = read("{ a: 1h30m, b: «5», c: «soon», d: «2m», e: 1m }", (r, node) => [
      r.duration(...at(r, node, 0), "a"),
      r.duration(...at(r, node, 1), "b"),
      r.duration(...at(r, node, 2), "c"),
      r.duration(...at(r, node, 3), "d", { min: 1000, max: 60_000 }),
      r.duration(...at(r, node, 4), "e", { min: 1000, max: 60_000 }),
    ]);
    expect(result).toEqual([5_400_000, null, null, null, 60_000]);
    expect(said.map((line) => line.split(" | ")[2])).toEqual([
      "B must be a duration like 30s, not the number 5.",
      'C is no duration: "soon".',
      "D must be from 1s to 1m.",
    ]);
  });
});

describe("the nearest name", () => {
  test.each([
    ["on_exhuasted", "on_exhausted"],
    ["step", "steps"],
    ["Goal", "goal"],
    ["onExhausted", "on_exhausted"],
    ["retunrs", "returns"],
    ["xyz", null],
    ["a", null],
    ["", null],
    ["x".repeat(1000), null],
  ])("%s", (name, near) => {
    expect(nearestName(name, ["goal", "with", "tools", "returns", "budget", "steps", "on_exhausted"])).toBe(near);
  });
});
