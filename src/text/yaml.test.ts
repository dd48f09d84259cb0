import { describe, expect, test } from "vitest";
import { markedText } from "./testing/marked-text.ts";
import { SourceText, type TreeNode, toJson } from "./tree.ts";
import { parseYaml } from "./yaml.ts";

const value = (text: string): unknown => {
  const { root, diagnostics } = parseYaml(new SourceText("test.yaml", text));
  expect(diagnostics).toEqual([]);
  return toJson(root as TreeNode);
};

/** Codes and exact places: each marked stretch is one finding, in order. */
function faults(text: string, codes: string[]): string[] {
  const { source, places } = markedText(text);
  const { diagnostics } = parseYaml(source);
  expect(diagnostics.map((entry) => entry.code)).toEqual(codes);
  diagnostics.forEach((entry, i) => {
    const [start, end] = places[i] ?? [-1, -1];
    const span = source.span(start, end);
    const { line, column, endLine, endColumn } = entry;
    expect({ line, column, endLine, endColumn }).toEqual(span);
  });
  return diagnostics.map((entry) => entry.help);
}

describe("HO-05: scalars mean what they say", () => {
  test("words and dates are texts, JSON's words are values", () => {
    expect(value("a: No\nb: yes\nc: 2026-01-01\nd: off\ne: true\nf: null\ng: ~\nh:\ni: 12:30\nj: 1_000")).toEqual({
      a: "No",
      b: "yes",
      c: "2026-01-01",
      d: "off",
      e: true,
      f: null,
      g: null,
      h: null,
      i: "12:30",
      j: "1_000",
    });
  });

  test("keys are texts, whatever they look like", () => {
    expect(value("1: a\ntrue: b\n__proto__: c\nconstructor: d")).toEqual(
      JSON.parse('{"1":"a","true":"b","__proto__":"c","constructor":"d"}'),
    );
  });

  test("numbers as JSON writes them", () => {
    expect(value("[0, -1, 1.5, 1e3, -0, 9007199254740991]")).toEqual([0, -1, 1.5, 1000, 0, 9007199254740991]);
  });

  test("and no others", () => {
    faults("[«010», «0x1F», «0o17», «.inf», «-.inf», «.nan», «+1», «1.», «.5», «1e999», «9007199254740993»]", [
      ...Array.from({ length: 11 }, () => "yaml.number"),
    ]);
  });
});

describe("what is not part of the format", () => {
  test("all of it is found at once, in its place", () => {
    faults("a: 1\n«a»: 2\n«<<»: «*x»\nb: «!foo» 3\nc: «&y» 4\nd: «!!str» 5", [
      "yaml.duplicate_key",
      "yaml.merge_key",
      "yaml.alias",
      "yaml.tag",
      "yaml.alias",
      "yaml.tag",
    ]);
  });

  test("a quoted << is a key like others", () => {
    expect(value('"<<": 1')).toEqual({ "<<": 1 });
  });

  test("a second document", () => {
    faults("a: 1\n«---»\nb: [\n", ["yaml.several_documents"]);
    expect(value("---\na: 1\n...\n")).toEqual({ a: 1 });
  });

  test("a directive, which would bring another version's rules", () => {
    faults("«%YAML 1.1»\n---\na: No", ["yaml.syntax"]);
  });

  test("control characters and halves of characters", () => {
    faults("a: b«\u0007»c", ["yaml.character"]);
    faults('a: «"\\uD83D"»', ["yaml.character"]);
    expect(value('a: "\\uD83D\\uDE00"')).toEqual({ a: "😀" });
  });
});

describe("slips", () => {
  test("an expression without quotes", () => {
    expect(faults("text: «{{ x }}»\nb: 1", ["yaml.unquoted_expression"])).toEqual(['Write: text: "{{ x }}"']);
    expect(faults("text: «{{ x }} and {{ y }}» # why", ["yaml.unquoted_expression"])).toEqual([
      'Write: text: "{{ x }} and {{ y }}" # why',
    ]);
    expect(faults('- «{{ {"k": 1} }}»', ["yaml.unquoted_expression"])).toEqual(["Write: - '{{ {\"k\": 1} }}'"]);
    expect(
      faults("a: { b: «{{ x }}», c: «Hi {{ y }}!» }", ["yaml.unquoted_expression", "yaml.unquoted_expression"])[0],
    ).toBe('Write: a: { b: "{{ x }}", c: "Hi {{ y }}!" }');
  });

  test("a colon in a text", () => {
    expect(faults("goal: «Do this: now» # c", ["yaml.colon_in_text"])[0]).toContain('Write: goal: "Do this: now" # c');
    expect(faults("a: { b: «c: d», e: 1 }", ["yaml.colon_in_text"])).toEqual(['Write: a: { b: "c: d", e: 1 }']);
    faults("- a: «b: c»\n- goal: «x:»\n", ["yaml.colon_in_text", "yaml.colon_in_text"]);
  });

  test("code on the line of its key", () => {
    expect(faults("  code: «return { a: 1 }»\n", ["yaml.code_line"])).toEqual([
      "Write:\n  code: |\n    return { a: 1 }",
    ]);
    expect(faults("- { code: «return { a: [1, 2] };» }", ["yaml.code_line"])).toEqual([
      'Write: - { code: "return { a: [1, 2] };" }',
    ]);
  });

  test("are read as what was meant, so that other faults still show", () => {
    const { root, diagnostics } = parseYaml(new SourceText("t", "a: {{ x }}\nb: 010\ngoal: Do: it\nc: [d: {{ e }}]"));
    expect(diagnostics.map((entry) => entry.code)).toEqual([
      "yaml.unquoted_expression",
      "yaml.number",
      "yaml.colon_in_text",
      "yaml.unquoted_expression",
    ]);
    expect(toJson(root as TreeNode)).toEqual({ a: "{{ x }}", b: 10, goal: "Do: it", c: [{ d: "{{ e }}" }] });
  });

  test("texts that only look alike are left alone", () => {
    expect(value("a: x {{ y }} z\nb: http://c:80/d\n- e".replace("\n- e", ""))).toEqual({
      a: "x {{ y }} z",
      b: "http://c:80/d",
    });
    expect(value("a:\n  b: {c: 1}\n- d".replace("\n- d", "\nd: [ {e: 1}, f: 2 ]"))).toEqual({
      a: { b: { c: 1 } },
      d: [{ e: 1 }, { f: 2 }],
    });
    expect(value("? a: 1\n: b".replace("? a: 1\n: b", "? a\n: b: 1"))).toEqual({ a: { b: 1 } });
  });
});

describe("syntax errors", () => {
  test.each([
    ["a: [1, 2\nb: 3", "A bracket is not closed."],
    ["a: 'x", "A quote is not closed."],
    ["a: 1\n  b: 2", "A map or list cannot begin behind a key on the same line."],
    ["a: @x", "A text cannot begin with @ without quotes."],
    ['a: "\\q"', "This escape is not known in a text in double quotes."],
    ["a:\n\tb: 1", "A tab cannot indent a line."],
    ["a: {b: 1}: 2", null],
    ["{a: 1}: 2", "A key must be a text."],
    ["[1, 2", "A bracket is not closed."],
  ])("%j", (text, message) => {
    const { root, diagnostics } = parseYaml(new SourceText("t", text));
    expect(root).toBeNull();
    expect(diagnostics.length).toBeGreaterThan(0);
    if (message !== null) expect(diagnostics.map((entry) => entry.message)).toContain(message);
  });

  test("are capped, and the cap says so", () => {
    const { diagnostics } = parseYaml(new SourceText("t", "a: 1\n".repeat(250)));
    expect(diagnostics).toHaveLength(101);
    expect(diagnostics[100]).toMatchObject({
      code: "text.more_findings",
      message: "149 further findings are not shown.",
    });
  });

  test("the place counts characters, not UTF-16 units", () => {
    const { diagnostics } = parseYaml(new SourceText("t", "a: { 😀: 1, 😀: 2 }"));
    expect(diagnostics[0]).toMatchObject({ line: 1, column: 12, endColumn: 13 });
  });
});

describe("JSON texts pass the same door", () => {
  test("tabs, escapes, no blanks", () => {
    const json = '{\n\t"a":[1,{"b":null}],"c":"\\u00e9\\/\\n","d" : -1.5e-3}';
    expect(value(json)).toEqual(JSON.parse(json));
  });

  test("offsets", () => {
    expect(parseYaml(new SourceText("t", '{"a":1,"a":2}')).diagnostics[0]).toMatchObject({ column: 8, endColumn: 11 });
  });
});

describe("hostile texts end soon and without a crash", () => {
  const units = [
    "&a ",
    "*a ",
    ",",
    "}}",
    "a: {{\n",
    "'\n",
    "- '\n",
    "a\n",
    "? ? \n",
    "[]: ",
    "a: - ",
    "[\n]\n",
    ": |\n ",
    "\r",
    "[x {{ y, ",
  ];
  test.each(units)("%j", (unit) => {
    const { diagnostics } = parseYaml(new SourceText("t", unit.repeat(Math.floor(20_000 / unit.length))));
    for (const entry of diagnostics) expect(entry.line).toBeGreaterThan(0);
  });
});
