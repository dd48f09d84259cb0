import { expect, test } from "vitest";
import { diagnostic } from "../errors/diagnostic.ts";
import { codeFrame } from "./frame.ts";
import { jsonText, oneLine, paint, safeText, wantsColor, withoutColor } from "./terminal.ts";

const span = { line: 2, column: 3, endLine: 2, endColumn: 14 };
const finding = diagnostic("workfile.unknown_key", "There is no key on_exhuasted.", {
  file: "a.yaml",
  span,
  help: "Did you mean on_exhausted?",
});

test("a finding stands with its line, a caret under the place, and its help", () => {
  expect(codeFrame(finding, "x:\n  on_exhuasted: []\n", paint(false))).toBe(
    [
      "a.yaml:2:3: error[workfile.unknown_key]: There is no key on_exhuasted.",
      "  2 |   on_exhuasted: []",
      "    |   ^^^^^^^^^^^",
      "  help: Did you mean on_exhausted?",
      "",
    ].join("\n"),
  );
});

test("without the text it is said all the same", () => {
  expect(codeFrame(finding, null, paint(false)).split("\n")).toHaveLength(3);
});

test("a long line is shown around the place", () => {
  const far = { ...finding, column: 1_000, endColumn: 1_003 };
  const [, source = "", caret = ""] = codeFrame(far, `\n${"x".repeat(999)}here${"y".repeat(500)}`, paint(false)).split(
    "\n",
  );
  expect(source.length).toBeLessThan(200);
  expect(source.slice(caret.indexOf("^"), caret.indexOf("^") + 3)).toBe("her");
});

test("texts from outside cannot move the cursor or clear the screen", () => {
  const esc = String.fromCharCode(27);
  expect(safeText(`${esc}[2Jgone`)).toBe("\\x1b[2Jgone");
  expect(oneLine(`a\n\n  b${esc}`)).toBe("a b\\x1b");
  expect(codeFrame({ ...finding, message: `${esc}[0m` }, `\n${esc}[31mred`, paint(false))).not.toContain(esc);
});

test("marks of the writing direction are shown, not followed", () => {
  expect(safeText("a\u202eb\u2066\u200f")).toBe("a\\u202eb\\u2066\\u200f");
});

test("JSON for a terminal reads back as the same value", () => {
  const value = { text: "a\u009b2J\u202e\u007f\n\u001b", "\u2067": [1] };
  expect(JSON.parse(jsonText(value, 2))).toEqual(value);
  expect(jsonText(value)).not.toMatch(/[\p{Cc}\p{Cf}]/u);
});

test.each([
  ["auto", {}, true, true],
  ["auto", {}, false, false],
  ["auto", { NO_COLOR: "1" }, true, false],
  ["auto", { FORCE_COLOR: "1" }, false, true],
  ["auto", { TERM: "dumb" }, true, false],
  ["always", { NO_COLOR: "1" }, false, true],
  ["never", { FORCE_COLOR: "1" }, true, false],
] as const)("color %s with %j on a terminal %s: %s", (choice, env, tty, on) => {
  expect(wantsColor(choice, env, tty)).toBe(on);
});

test("a finding without a place in the text stands with its file, and its place in the tree", () => {
  const nowhere = diagnostic("catalog.invalid_manifest", "It is wrong.", { file: "my.mjs", path: "actions.go" });
  expect(codeFrame(nowhere, "const x = 1;\n", paint(false))).toBe(
    "my.mjs (actions.go): error[catalog.invalid_manifest]: It is wrong.\n",
  );
});

test("the caret stands under wide and combined characters", () => {
  const [, , caret = ""] = codeFrame(
    { ...finding, line: 1, endLine: 1, column: 4, endColumn: 6 },
    "見e\u0301名x",
    paint(false),
  ).split("\n");
  // Two columns of the first character, one of the second with its accent; the marked ones are wide and narrow.
  expect(caret).toBe(`    |    ^^^`);
});

test("colors can be taken out again", () => {
  expect(withoutColor(`${paint(true).red("x")} ${paint(true).bold("y")}`)).toBe("x y");
});
