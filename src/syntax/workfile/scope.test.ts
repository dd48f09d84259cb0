import { describe, expect, test } from "vitest";
import { findings, planOf, said, stepOf } from "./testing/harness.ts";

const reads = (name: string): string => `{ x.y: { v: "{{ ${name} }}" } }`;

describe("what is visible where", () => {
  test("earlier steps, not later ones and not the step itself", () => {
    expect(findings(`- a: { x.y: {} }\n- b: ${reads("a.id")}`)).toEqual([]);
    expect(findings(`- a: ${reads("«b».id")}\n- b: { x.y: {} }`)).toHaveLength(1);
    expect(said(`- a: ${reads("b.id")}\n- b: { x.y: {} }`)).toContain('"b" comes later');
    expect(findings(`- a: ${reads("«a».id")}`)).toHaveLength(1);
    expect(said(`- a: ${reads("a.id")}`)).toContain("while it runs");
  });

  test("names bound in a branch end with it", () => {
    const text = `- a: { wf.if: "{{ inputs.sure }}", then: [ { inside: { x.y: {} } }, { next: ${reads("inside")} } ] }\n- b: ${reads("«inside»")}`;
    expect(findings(text)).toEqual(['expression.unknown_name steps[1].b["x.y"].v']);
    expect(said(text)).toContain('bound inside of "a"');
  });

  test("branches that run side by side do not see each other", () => {
    expect(findings(`- a: { wf.parallel: { l: [ { x: { x.y: {} } } ], r: [ { z: ${reads("«x»")} } ] } }`)).toEqual([
      'expression.unknown_name steps[0].a["wf.parallel"].r[0].z["x.y"].v',
    ]);
    expect(
      findings(
        `- a: { wf.parallel: { l: [ { x: { wf.let: { n: 1 } } } ], r: [] } }\n- b: ${reads("a.l.n")}\n- c: ${reads("a.«m»")}`,
      ),
    ).toHaveLength(1);
  });

  test("index and prev belong to loops, the item by its name", () => {
    expect(findings(`- a: ${reads("«index»")}`)).toHaveLength(1);
    expect(findings(`- a: { wf.each: [1], steps: [ { b: ${reads("item + index")} } ] }`)).toEqual([]);
    expect(findings(`- a: { wf.each: [1], as: n, steps: [ { b: ${reads("«item»")} } ] }`)).toHaveLength(1);
    expect(findings(`- a: { wf.each: [1], steps: [ { b: ${reads("«prev»")} } ] }`)).toHaveLength(1);
    expect(findings(`- a: { wf.repeat: { max: 2 }, steps: [ { b: ${reads("prev")} } ] }`)).toEqual([]);
    expect(findings(`- a: { wf.each: [1], steps: [] }\n- b: ${reads("«item»")}`)).toHaveLength(1);
  });

  test("the shape of an item is that of the list", () => {
    expect(findings(`- a: { wf.each: "{{ inputs.list }}", max: 3, steps: [ { b: ${reads("item.id")} } ] }`)).toEqual(
      [],
    );
    expect(
      findings(`- a: { wf.each: "{{ inputs.list }}", max: 3, steps: [ { b: ${reads("item.«ident»")} } ] }`),
    ).toHaveLength(1);
  });

  test("on_item_failure reads error and item, not the steps of the round", () => {
    const yields = (name: string): string =>
      `- a: { wf.each: [1], steps: [ { b: { x.y: {} } } ], on_item_failure: { yield: "{{ ${name} }}" } }`;
    expect(findings(yields("string(item) + error.code"))).toEqual([]);
    expect(findings(yields("«b»"))).toHaveLength(1);
  });

  test("error is read in handlers and cleanups only", () => {
    expect(findings(`- a: ${reads("«error».code")}`)).toHaveLength(1);
    expect(findings(`- a: { x.y: {}, catch: [ { codes: ["*"], steps: [ { b: ${reads("error.code")} } ] } ] }`)).toEqual(
      [],
    );
    expect(findings(`- a: { x.y: {}, catch: [ { codes: ["*"], value: "{{ error.«kode» }}" } ] }`)).toHaveLength(1);
    expect(findings(`- a: { x.y: {}, cleanup: [ { b: ${reads("error.code")} } ] }`)).toEqual([]);
  });

  test("a step's own value: in its cleanup, not in its handlers", () => {
    expect(findings(`- a: { x.y: {}, cleanup: [ { b: ${reads("a.id")} } ] }`)).toEqual([]);
    expect(
      findings(`- a: { x.y: {}, catch: [ { codes: ["*"], steps: [ { b: ${reads("«a».id")} } ] } ] }`),
    ).toHaveLength(1);
  });

  test("a handler's value sees the handler's steps", () => {
    expect(
      findings('- a: { x.y: {}, catch: [ { codes: ["*"], steps: [ { b: { x.z: {} } } ], value: "{{ b.id }}" } ] }'),
    ).toEqual([]);
  });

  test("HO-13: what objects of the host inherit is no name", () => {
    expect(findings(`- a: ${reads("«constructor»")}`)).toHaveLength(1);
    expect(findings(`- a: ${reads("inputs.«constructor»")}`)).toHaveLength(1);
    expect(findings(`- a: ${reads("«ctx».constructor")}`)).toHaveLength(1);
    expect(findings(`- a: ${reads("«__proto__»")}`)).toHaveLength(1);
    expect(findings(`- a: ${reads("inputs.«__proto__»")}`)).toHaveLength(1);
  });

  test("an id that no expression can read is explained where somebody tries", () => {
    expect(findings("- my-step: { x.y: {} }")).toEqual([]);
    expect(said(`- my-step: { x.y: {} }\n- b: ${reads("my-step")}`)).toContain("my_step");
    expect(findings("- in: { x.y: {} }")).toEqual([]);
    expect(said(`- in: { x.y: {} }\n- b: ${reads("in")}`)).toContain('"in_"');
  });
});

describe("what is known of values", () => {
  test("fields of inputs, consts, agents, answers", () => {
    expect(findings(`- a: ${reads("inputs.«sendr»")}`)).toHaveLength(1);
    expect(findings(`- a: ${reads("consts.limits.«high»")}`)).toHaveLength(1);
    const agent = "- q: { wf.agent: t, goal: x, returns: { id: string }, budget: { steps: 1 } }\n";
    expect(findings(`${agent}- a: ${reads("q.«di»")}`)).toHaveLength(1);
    expect(findings(`${agent}- a: ${reads("q.id")}`)).toEqual([]);
    expect(findings(`- q: { wf.ask: x }\n- a: ${reads("q.«ok»")}`)).toHaveLength(1);
    expect(findings(`- q: { wf.let: { n: { m: 1 } } }\n- a: ${reads("q.n.«o»")}`)).toHaveLength(1);
  });

  test("a handler's value may stand in the place of a step's", () => {
    expect(
      findings(`- q: { wf.let: { n: 1 }, catch: [ { codes: ["*"], value: { m: 2 } } ] }\n- a: ${reads("q.m")}`),
    ).toEqual([]);
  });

  test("a value in the middle of a text must be a text", () => {
    expect(findings('- a: { x.y: { v: "list: {{ «inputs.list» }}" } }')).toEqual([
      'expression.failed steps[0].a["x.y"].v',
    ]);
    expect(said('- a: { x.y: { v: "list: {{ inputs.list }}" } }')).toContain("json(v)");
    expect(findings('- a: { x.y: { v: "{{ inputs.list }}" } }')).toEqual([]);
  });
});

describe("conditions", () => {
  test("a text without braces is not marked", () => {
    expect(findings("- a: { x.y: {}, if: «inputs.sure» }")).toEqual(["expression.not_marked steps[0].a.if"]);
    expect(said("- a: { x.y: {}, if: inputs.sure }")).toContain('Write: "{{ inputs.sure }}"');
    expect(findings('- a: { x.y: {}, if: «"{{ inputs.sender }} == 1"» }')).toEqual([
      "expression.not_marked steps[0].a.if",
    ]);
    expect(findings("- a: { wf.switch: «inputs.kind», cases: { good: [] }, default: [] }")).toEqual([
      'expression.not_marked steps[0].a["wf.switch"]',
    ]);
  });

  test("must be true or false, as far as is known", () => {
    expect(findings('- a: { x.y: {}, if: "{{ «inputs.sender» }}" }')).toEqual(["expression.failed steps[0].a.if"]);
    expect(findings("- a: { x.y: {}, if: «5» }")).toEqual(["workfile.wrong_type steps[0].a.if"]);
    expect(findings('- a: { x.y: {}, if: "{{ inputs.maybe }}" }')).toEqual([]);
  });

  test("line breaks around the expression do not count", () => {
    expect(stepOf("- a:\n    x.y: {}\n    if: |\n      {{ inputs.sure }}\n")["guard"]).toMatchObject({
      source: "inputs.sure",
    });
  });
});

describe("spans of expressions", () => {
  test.each([
    ["plain", "v: a {{ «nobody» }} b"],
    ["double quotes behind an escape", 'v: "a\\n\\u00e9 {{ «nobody» }}"'],
    ["single quotes behind a doubled one", "v: 'it''s {{ «nobody» }}'"],
    ["a literal block", "v: |\n          one\n          two {{ «nobody» }}\n"],
    ["a folded block", "v: >\n          one\n          two {{ «nobody» }}\n"],
    ["behind characters beyond U+FFFF", 'v: "😀 {{ «nobody» }}"'],
  ])("%s", (_, line) => {
    expect(findings(`- a:\n    x.y:\n        ${line}`)).toHaveLength(1);
  });
});

describe("settings", () => {
  test("those that are read are listed, sorted, each once", () => {
    expect(planOf(`- a: ${reads("settings.b.c")}\n- d: ${reads("settings.a + settings.b.c")}`).settings).toEqual([
      "a",
      "b.c",
    ]);
  });

  test("they are read by name", () => {
    expect(findings(`- a: ${reads("«settings»")}`)).toEqual(['workfile.bad_value steps[0].a["x.y"].v']);
  });
});
