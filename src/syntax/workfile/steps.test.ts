import { describe, expect, test } from "vitest";
import { findings, planOf, said, stepOf } from "./testing/harness.ts";

describe("a step list", () => {
  test.each([
    ["«{» a: 1 }", "workfile.wrong_type steps"],
    ["- «...»", "workfile.wrong_type steps[0]"],
    ["- «{»}", "workfile.wrong_type steps[0]"],
    ["- «5»", "workfile.wrong_type steps[0]"],
    ["- a: «5»", "workfile.wrong_type steps[0].a"],
    ["- a:\n  «x.y»: {}", "workfile.wrong_type steps[0]"],
    ["- «123»: { x.y: {} }", 'workfile.bad_value steps[0]["123"]'],
    ["- «a b»: { x.y: {} }", 'workfile.bad_value steps[0]["a b"]'],
    [`- «${"a".repeat(65)}»: { x.y: {} }`, `workfile.bad_value steps[0].${"a".repeat(65)}`],
    ["- «crm.search»: { a: 1 }", 'workfile.bad_value steps[0]["crm.search"]'],
    ["- a: { x.y: {} }\n- «a»: { x.z: {} }", "workfile.duplicate_id steps[1].a"],
    ["- «inputs»: { x.y: {} }", "workfile.reserved_id steps[0].inputs"],
    ["- «ask»: { x.y: {} }", "workfile.reserved_id steps[0].ask"],
  ])("%j", (text, finding) => {
    expect(findings(text)[0]).toBe(finding);
  });

  test("an id of 64 characters, and the same id in two lists", () => {
    expect(findings(`- ${"a".repeat(64)}: { x.y: {} }`)).toEqual([]);
    expect(
      findings('- a: { wf.if: "{{ inputs.sure }}", then: [ { t: { x.y: {} } } ], else: [ { t: { x.y: {} } } ] }'),
    ).toEqual([]);
  });

  test("lines that were not indented are explained", () => {
    expect(said("- tell:\n  mail.send: {}")).toContain('Indent the lines below "tell:"');
  });
});

describe("the subject", () => {
  test.each([
    ["- «a»: { if: true }", "workfile.missing_key steps[0].a"],
    ["- «a»: { goal: x, returns: {} }", "workfile.missing_key steps[0].a"],
    ["- a: { x.y: {}, «x.z»: {} }", 'workfile.bad_value steps[0].a["x.z"]'],
    ["- a: { «wf.agnet»: x }", 'workfile.unknown_key steps[0].a["wf.agnet"]'],
    ["- a: { «internal.x»: {} }", 'workfile.bad_value steps[0].a["internal.x"]'],
    ["- a: { «a.b.c»: {} }", 'workfile.bad_value steps[0].a["a.b.c"]'],
    ["- a: { «a__b.c»: {} }", 'workfile.bad_value steps[0].a["a__b.c"]'],
    ["- a: { x.y: «[»1] }", 'workfile.wrong_type steps[0].a["x.y"]'],
    ["- a: { x.y: {}, «timeuot»: 5s }", "workfile.unknown_key steps[0].a.timeuot"],
    ["- a: { wf.let: { b: 1 }, «timeout»: 5s }", "workfile.unknown_key steps[0].a.timeout"],
    ["- a: { wf.stop: null, «catch»: [] }", "workfile.unknown_key steps[0].a.catch"],
    ['- a: { run: python, code: "return 1", «retry»: { attempts: 2 } }', "workfile.unknown_key steps[0].a.retry"],
  ])("%j", (text, finding) => {
    expect(findings(text)).toEqual([finding]);
  });

  test("a construct that is nearly right is named", () => {
    expect(said("- a: { wf.agnet: x }")).toContain('Did you mean "wf.agent"?');
    expect(said("- a: { if: true, goal: x }")).toContain('The key "goal" belongs to wf.agent.');
  });

  test("an action and its modifiers", () => {
    expect(
      stepOf(`- a:
    bank.move: { to: "{{ inputs.sender }}", cents: 5 }
    if: "{{ inputs.sure }}"
    timeout: 10s
    retry: { attempts: 2, backoff: 1s }
    on_unknown: reconcile
    reconcile: { action: bank.find, with: { to: "{{ inputs.sender }}" }, succeeded: "{{ result.found }}", failed: "{{ !result.found }}", value: { id: "{{ result.id }}" } }
    catch:
      - { codes: ["bank.*"], if: "{{ error.code == 'bank.x' }}", steps: [ { t: { wf.notify: x } } ], value: { id: "{{ t }}" } }
`),
    ).toEqual({
      id: "a",
      reads: ["error", "inputs", "result", "t"],
      writes: ["a"],
      guard: { lang: "cel", source: "inputs.sure", reads: ["inputs"] },
      timeout: 10_000,
      catch: [
        {
          codes: ["bank.*"],
          guard: { lang: "cel", source: "error.code == 'bank.x'", reads: ["error"] },
          steps: [expect.objectContaining({ id: "t", kind: "notify" })],
          value: { map: { id: { expr: { lang: "cel", source: "t", reads: ["t"] } } } },
        },
      ],
      cleanup: [],
      onUnknown: "reconcile",
      attempts: 2,
      backoff: 1000,
      reconcile: {
        action: "bank.find",
        with: { map: { to: { expr: { lang: "cel", source: "inputs.sender", reads: ["inputs"] } } } },
        succeeded: { lang: "cel", source: "result.found", reads: ["result"] },
        failed: { lang: "cel", source: "!result.found", reads: ["result"] },
        value: { map: { id: { expr: { lang: "cel", source: "result.id", reads: ["result"] } } } },
      },
      kind: "action",
      action: "bank.move",
      args: {
        map: { to: { expr: { lang: "cel", source: "inputs.sender", reads: ["inputs"] } }, cents: { lit: 5 } },
      },
    });
  });

  test.each([
    ["- a: { x.y: {}, on_unknown: «reconcile» }", "workfile.missing_key steps[0].a.on_unknown"],
    ["- a: { x.y: {}, on_unknown: «ignore» }", "workfile.bad_value steps[0].a.on_unknown"],
    [
      "- a: { x.y: {}, «reconcile»: { action: x.z, succeeded: true, failed: false } }",
      "workfile.bad_value steps[0].a.reconcile",
    ],
    ["- a: { x.y: {}, retry: { attempts: «0» } }", "workfile.bad_value steps[0].a.retry.attempts"],
    ["- a: { x.y: {}, timeout: «0s» }", "workfile.bad_value steps[0].a.timeout"],
    ["- a: { x.y: {}, timeout: «5» }", "workfile.wrong_type steps[0].a.timeout"],
    ["- a: { x.y: {}, catch: [ «{» codes: [x.y] } ] }", "workfile.missing_key steps[0].a.catch[0]"],
    [
      "- a: { x.y: {}, catch: [ { codes: [«»], steps: [] } ] }".replace("[«»]", "«[]»"),
      "workfile.bad_value steps[0].a.catch[0].codes",
    ],
    [
      '- a: { x.y: {}, catch: [ { codes: [«"x.**"»], steps: [] } ] }',
      "workfile.bad_value steps[0].a.catch[0].codes[0]",
    ],
    [
      '- a: { x.y: {}, catch: [ { codes: [«"{{ inputs.sender }}"»], steps: [] } ] }',
      "workfile.bad_value steps[0].a.catch[0].codes[0]",
    ],
    ["- a: { x.y: {}, cleanup: [ { on: «never», steps: [] } ] }", "workfile.bad_value steps[0].a.cleanup[0].on"],
    [
      "- a: { x.y: {}, cleanup: [ { c: { x.y: {} } }, { on: failure, steps: [ { «c»: { x.y: {} } } ] } ] }",
      "workfile.duplicate_id steps[0].a.cleanup[1].steps[0].c",
    ],
  ])("modifiers: %j", (text, finding) => {
    expect(findings(text)).toEqual([finding]);
  });

  test("`if: true` guards nothing, `if: false` does", () => {
    expect(stepOf("- a: { x.y: {}, if: true }")).not.toHaveProperty("guard");
    expect(stepOf("- a: { x.y: {}, if: false }")["guard"]).toEqual({ lang: "cel", source: "false", reads: [] });
  });

  test("plain steps of a cleanup are one entry, in their order", () => {
    expect(
      stepOf(
        "- a: { x.y: {}, cleanup: [ { b: { x.y: {} } }, { c: { x.y: { v: '{{ b }}' } } }, { on: failure, steps: [ { d: { x.y: {} } } ] }, { e: { x.y: {} } } ] }",
      )["cleanup"],
    ).toMatchObject([
      { on: "always", steps: [{ id: "b" }, { id: "c" }] },
      { on: "failure", steps: [{ id: "d" }] },
      { on: "always", steps: [{ id: "e" }] },
    ]);
  });
});

describe("code", () => {
  test("WC-04, WC-10: the seed's shape; braces in code are code", () => {
    expect(
      stepOf(`- w:
    run: python
    code: |
      return {k: "{{ inputs.sender }}" for k in ctx.list}
    network: []
    timeout: 10s`),
    ).toMatchObject({
      kind: "code",
      language: "python",
      code: 'return {k: "{{ inputs.sender }}" for k in ctx.list}\n',
      network: [],
      with: { lit: {} },
      timeout: 10_000,
      reads: [],
    });
    expect(stepOf("- w: { wf.run: javascript, code: return 1 }")).toEqual(
      stepOf("- w: { run: javascript, code: return 1 }"),
    );
  });

  test.each([
    ["- a: { run: «ruby», code: x }", "workfile.bad_value steps[0].a.run"],
    ["- a: { run: «Python», code: x }", "workfile.bad_value steps[0].a.run"],
    ['- a: { run: «"{{ inputs.sender }}"», code: x }', "workfile.bad_value steps[0].a.run"],
    ["- a: { «run»: python }", "workfile.missing_key steps[0].a"],
    ["- a: { run: python, code: «{» file: x.py } }", "workfile.wrong_type steps[0].a.code"],
    ["- a: { run: python, code: x, «file»: x.py }", "workfile.unknown_key steps[0].a.file"],
    ["- a: { run: python, code: x, network: [«http://a.b»] }", "workfile.bad_value steps[0].a.network[0]"],
    ['- a: { run: python, code: x, network: [«"*.b"»] }', "workfile.bad_value steps[0].a.network[0]"],
    ["- a: { run: python, code: x, network: [a.b, «A.B.»] }", "workfile.bad_value steps[0].a.network[1]"],
    ["- a: { run: python, code: x, network: [«a.b:99999»] }", "workfile.bad_value steps[0].a.network[0]"],
    ["- a: { run: python, code: x, «with»: { «inputs»: 1 } }", "workfile.sensitive_value steps[0].a.with"],
  ])("%j", (text, finding) => {
    expect(findings(text)[0]).toBe(finding);
  });

  test("hosts are normalised", () => {
    expect(
      stepOf("- a: { run: python, code: x, network: [API.Example.org., 'bücher.example:080', '[::1]:8080'] }")[
        "network"
      ],
    ).toEqual(["api.example.org", "xn--bcher-kva.example:80", "[::1]:8080"]);
  });
});

describe("branches", () => {
  test("wf.if", () => {
    expect(stepOf('- a: { wf.if: "{{ inputs.sure }}", then: [ { b: { x.y: {} } } ] }')).toMatchObject({
      kind: "branch",
      subject: { source: "inputs.sure" },
      arms: [{ is: true, steps: [{ id: "b" }] }],
      else: [],
    });
    expect(stepOf("- a: { wf.if: true, else: [] }")["subject"]).toBe(true);
    expect(findings("- a: { «wf.if»: true }")).toEqual(["workfile.missing_key steps[0].a"]);
  });

  const cases = (subject: string, list: string, rest = ""): string =>
    `- a: { wf.switch: "{{ ${subject} }}", cases: { ${list} }${rest} }`;

  test("wf.switch needs a default, unless each value of a field has its case", () => {
    expect(findings(cases("inputs.kind", "good: [], bad: []"))).toEqual([]);
    expect(findings(cases("inputs.sure", '"true": [], "false": []'))).toEqual([]);
    expect(findings(cases("inputs.kind", "good: []"))).toEqual(["workfile.missing_key steps[0].a"]);
    expect(findings(cases("inputs.maybe", '"true": [], "false": []'))).toEqual(["workfile.missing_key steps[0].a"]);
    expect(findings(cases("inputs.sender", "x: []"))).toEqual(["workfile.missing_key steps[0].a"]);
    expect(findings(cases("inputs.sender", "x: []", ", default: []"))).toEqual([]);
    expect(findings(cases("inputs.kind", "good: [], bad: [], «ugly»: []"))).toEqual([
      "workfile.bad_value steps[0].a.cases.ugly",
    ]);
  });

  test("wf.parallel", () => {
    expect(stepOf("- a: { wf.parallel: { left: [ { b: { x.y: {} } } ], right: [] }, concurrency: 1 }")).toMatchObject({
      kind: "parallel",
      branches: [
        { name: "left", steps: [{ id: "b" }] },
        { name: "right", steps: [] },
      ],
      concurrency: 1,
    });
    expect(findings("- a: { wf.parallel: { left: [] }, concurrency: «9» }")).toEqual([
      "workfile.bad_value steps[0].a.concurrency",
    ]);
    expect(findings("- a: { wf.parallel: «{}» }")).toEqual(['workfile.bad_value steps[0].a["wf.parallel"]']);
  });
});

describe("loops", () => {
  test("wf.each", () => {
    expect(
      stepOf(
        '- a: { wf.each: "{{ inputs.list }}", as: one, max: 5, concurrency: 2, steps: [ { b: { x.y: { v: "{{ one.id + index }}" } } } ], yield: "{{ b }}", on_item_failure: { yield: "{{ error.code }}" } }',
      ),
    ).toMatchObject({
      kind: "each",
      list: { expr: { source: "inputs.list" } },
      item: "one",
      max: 5,
      concurrency: 2,
      steps: [{ id: "b" }],
      yield: { expr: { source: "b" } },
      onItemFailure: { yield: { expr: { source: "error.code" } } },
    });
    expect(stepOf("- a: { wf.each: [1, 2], steps: [] }")).toMatchObject({
      list: { lit: [1, 2] },
      item: "item",
      concurrency: 1,
      onItemFailure: "fail",
    });
  });

  test.each([
    ['- a: { «wf.each»: "{{ inputs.list }}", steps: [] }', "workfile.missing_key steps[0].a"],
    ["- a: { wf.each: «inputs.list», max: 3, steps: [] }", 'expression.not_marked steps[0].a["wf.each"]'],
    ['- a: { wf.each: "{{ «inputs.sender» }}", max: 3, steps: [] }', 'expression.failed steps[0].a["wf.each"]'],
    ["- a: { wf.each: [1], concurrency: 2, «until»: true, steps: [] }", "workfile.bad_value steps[0].a.until"],
    ["- a: { wf.each: [1], as: «index», steps: [] }", "workfile.reserved_id steps[0].a.as"],
    ["- a: { wf.each: [1], on_item_failure: «ignore», steps: [] }", "workfile.bad_value steps[0].a.on_item_failure"],
    ['- a: { wf.each: [1], max: «"{{ 3 }}"», steps: [] }', "workfile.bad_value steps[0].a.max"],
    ["- a: { wf.repeat: { max: 2 }, while: true, «until»: true, steps: [] }", "workfile.bad_value steps[0].a.until"],
    ["- a: { wf.repeat: «{» from: 1 }, steps: [] }", 'workfile.missing_key steps[0].a["wf.repeat"]'],
    ["- a: { wf.repeat: { max: «0» }, steps: [] }", 'workfile.bad_value steps[0].a["wf.repeat"].max'],
    [
      '- a: { wf.repeat: { max: 2 }, while: "{{ «b» }}", steps: [ { b: { x.y: {} } } ] }',
      "expression.unknown_name steps[0].a.while",
    ],
    ["- a: { wf.repeat: { max: 2 }, on_max: «stop», steps: [] }", "workfile.bad_value steps[0].a.on_max"],
  ])("%j", (text, finding) => {
    expect(findings(text)).toEqual([finding]);
  });

  test("wf.repeat hands on what a round yields", () => {
    expect(
      stepOf(
        '- a: { wf.repeat: { max: 3, from: { n: 0 } }, until: "{{ b.done }}", yield: { n: "{{ prev.n + index }}" }, on_max: truncate, steps: [ { b: { x.y: {} } } ] }',
      ),
    ).toMatchObject({
      kind: "repeat",
      max: 3,
      from: { lit: { n: 0 } },
      test: { until: { source: "b.done" } },
      yield: { map: { n: { expr: { source: "prev.n + index" } } } },
      onMax: "truncate",
      onItemFailure: "fail",
    });
  });
});

describe("people, waits, calls, ends", () => {
  test("wf.ask", () => {
    expect(stepOf('- a: { wf.ask: "Pay {{ inputs.sender }}?" }')).toMatchObject({
      kind: "ask",
      returns: [{ name: "approved", type: "boolean", required: true }],
      assignees: { lit: [] },
    });
    expect(
      stepOf(
        '- a: { wf.ask: x, returns: { approved: boolean, note: { type: string, default: "{{ inputs.sender }}" } }, expires: 2h, assignees: ["{{ inputs.sender }}", b], approvers: { not: initiator, count: 2 }, asked: [ { t: { wf.notify: "{{ ask.url }}" } } ], on_expired: [ { u: { wf.notify: "{{ error.code }}" } } ] }',
      ),
    ).toMatchObject({
      returns: [{ name: "approved" }, { name: "note", defaultValue: { expr: { source: "inputs.sender" } } }],
      expires: 7_200_000,
      assignees: { list: [{ expr: { source: "inputs.sender" } }, { lit: "b" }] },
      approvers: { notInitiator: true, count: 2 },
      asked: [{ id: "t" }],
      onExpired: [{ id: "u" }],
    });
  });

  test.each([
    [
      "- a: { wf.ask: x, returns: { ok: boolean }, approvers: { count: «2» } }",
      "workfile.bad_value steps[0].a.approvers.count",
    ],
    ["- a: { wf.ask: x, approvers: { not: «me» } }", "workfile.bad_value steps[0].a.approvers.not"],
    [
      '- a: { wf.ask: x, on_expired: [ { t: { wf.notify: "{{ «ask» }}" } } ] }',
      'expression.unknown_name steps[0].a.on_expired[0].t["wf.notify"]',
    ],
    ["- a: { wf.wait: { «event»: x, key: y } }", 'workfile.not_supported steps[0].a["wf.wait"].event'],
    ["- a: { wf.wait: { until: «tomorrow» } }", 'workfile.bad_value steps[0].a["wf.wait"].until'],
    ["- a: { wf.wait: «5» }", 'workfile.wrong_type steps[0].a["wf.wait"]'],
    ["- a: { wf.call: «/etc/x.yaml» }", 'workfile.bad_value steps[0].a["wf.call"]'],
    ["- a: { wf.call: «../x.yaml» }", 'workfile.bad_value steps[0].a["wf.call"]'],
    ["- a: { wf.call: «./a/../../x.yaml» }", 'workfile.bad_value steps[0].a["wf.call"]'],
    ["- a: { wf.call: «./x.txt» }", 'workfile.bad_value steps[0].a["wf.call"]'],
    ["- a: { wf.call: «'file:///x.yaml'» }", 'workfile.bad_value steps[0].a["wf.call"]'],
    ["- a: { wf.fail: { code: «nope», message: x } }", 'workfile.bad_value steps[0].a["wf.fail"].code'],
    ["- a: { wf.fail: { code: «'{{ 1 }}.a'», message: x } }", 'workfile.bad_value steps[0].a["wf.fail"].code'],
    ["- a: { wf.fail: «{» code: a.b } }", 'workfile.missing_key steps[0].a["wf.fail"]'],
    ["- a: { wf.notify: «5» }", 'workfile.wrong_type steps[0].a["wf.notify"]'],
  ])("%j", (text, finding) => {
    expect(findings(text)).toEqual([finding]);
  });

  test("waits, stops, failures", () => {
    expect(stepOf("- a: { wf.wait: 0s }")).toMatchObject({ kind: "wait", for: 0 });
    expect(stepOf('- a: { wf.wait: "{{ inputs.sender }}" }')).toMatchObject({ for: { source: "inputs.sender" } });
    expect(stepOf("- a: { wf.wait: { until: 2026-03-04T08:00:00Z } }")).toMatchObject({
      until: { lit: "2026-03-04T08:00:00Z" },
    });
    expect(stepOf("- a: { wf.stop: null }")).not.toHaveProperty("value");
    expect(stepOf('- a: { wf.stop: { x: "{{ inputs.sender }}" } }')).toMatchObject({
      kind: "exit",
      how: "stop",
      value: { map: {} },
    });
    expect(stepOf("- a: { wf.fail: { code: trip.refused, message: No. } }")).toMatchObject({
      kind: "exit",
      how: "fail",
      code: { lit: "trip.refused" },
      text: { lit: "No." },
    });
    expect(planOf("- a: { wf.call: ./sub/x.workfile.yaml, with: { a: 1 } }").steps[0]).toMatchObject({
      callee: "./sub/x.workfile.yaml",
    });
  });
});
