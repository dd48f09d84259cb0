import { describe, expect, test } from "vitest";
import { findings, planOf, said, stepOf } from "./testing/harness.ts";

const agent = (changes: { [key: string]: string | null } = {}, head = "wf.agent: triage"): string => {
  const keys: { [key: string]: string | null } = {
    goal: "Find it.",
    returns: "{ id: string }",
    budget: "{ steps: 2 }",
    ...changes,
  };
  const lines = Object.entries(keys).filter(([, value]) => value !== null);
  return `- ask1:\n    ${head}\n${lines.map(([key, value]) => `    ${key}: ${value}\n`).join("")}`;
};

describe("WX-10: required and optional keys", () => {
  test.each(["goal", "returns", "budget"])("%s is required", (key) => {
    expect(findings(agent({ [key]: null }))).toEqual(["workfile.missing_key steps[0].ask1"]);
    expect(said(agent({ [key]: null }))).toContain(`"${key}"`);
  });

  test("with and tools default to empty", () => {
    expect(stepOf(agent())).toEqual({
      id: "ask1",
      reads: [],
      writes: ["ask1"],
      catch: [],
      cleanup: [],
      onUnknown: "abort",
      kind: "agent",
      agent: "triage",
      goal: { lit: "Find it." },
      with: { lit: {} },
      tools: [],
      returns: [{ name: "id", type: "string", required: true }],
      budget: { steps: 2 },
      finish: "result",
    });
  });
});

describe("WX-11, WX-07: the name is an opaque literal", () => {
  test.each(["", "null", "5", "[a]", "{ a: 1 }", '""', '" "', '"{{ inputs.sender }}"', '"a{{ 1 }}"'])(
    "not %j",
    (name) => {
      expect(findings(agent({}, `wf.agent: ${name}`))).toHaveLength(1);
    },
  );

  test.each(["triage-assistant", "triage_assistant", "org/a@2", "No"])("%s", (name) => {
    expect(stepOf(agent({}, `wf.agent: ${name}`))["agent"]).toBe(name);
  });
});

describe("WX-12: the goal is a text with expressions", () => {
  test.each(["5", "[a]", "{ a: 1 }", "null"])("not %s", (goal) => {
    expect(findings(agent({ goal }))).toEqual(["workfile.wrong_type steps[0].ask1.goal"]);
  });

  test("a fault is pointed at in every style", () => {
    expect(findings(agent({ goal: "Find {{ inputs.sender + «)» }}." }))).toEqual([
      "expression.syntax steps[0].ask1.goal",
    ]);
    expect(findings(agent({ goal: "|\n        Find\n        it {{ «nobody» }}." }))).toEqual([
      "expression.unknown_name steps[0].ask1.goal",
    ]);
  });
});

describe("WX-13, WX-25, WC-32: with is a projection", () => {
  test("a map only", () => {
    expect(findings(agent({ with: "«[»a]" }))).toEqual(["workfile.wrong_type steps[0].ask1.with"]);
    expect(findings(agent({ with: "«a»" }))).toEqual(["workfile.wrong_type steps[0].ask1.with"]);
  });

  test("its names are no names in the goal, and the hint shows what is", () => {
    const text = agent({ goal: "Find {{ «sender» }}.", with: '{ sender: "{{ inputs.sender }}" }' });
    expect(findings(text)).toEqual(["expression.unknown_name steps[0].ask1.goal"]);
    expect(said(text)).toContain("Write {{ inputs.sender }}.");
  });

  test("nested maps and lists keep their expressions", () => {
    const step = stepOf(agent({ with: '{ a: { b: ["{{ inputs.sender }}", 2] }, c: "x {{ consts.channel }}" }' }));
    expect(step["reads"]).toEqual(["consts", "inputs"]);
    expect(step["with"]).toEqual({
      map: {
        a: {
          map: { b: { list: [{ expr: { lang: "cel", source: "inputs.sender", reads: ["inputs"] } }, { lit: 2 }] } },
        },
        c: { text: ["x ", { lang: "cel", source: "consts.channel", reads: ["consts"] }] },
      },
    });
  });

  test("D7: a sensitive value is allowed, with a warning", () => {
    const text = agent({ with: '{ a: 1, «token»: "{{ inputs.secret }}" }' });
    expect(findings(text)).toEqual(["workfile.sensitive_value steps[0].ask1.with.token"]);
    expect(planOf(text).steps).toHaveLength(1);
  });
});

describe("WX-14, WX-15, WX-41: tools are distinct literal references", () => {
  test.each([
    ["[crm.search, «crm.search»]"],
    ['[«"{{ inputs.sender }}"»]'],
    ["[«crm»]"],
    ['[«"crm.*"»]'],
    ["[«wf.call»]"],
    ["[«wf.agent»]"],
    ["[«agent»]"],
    ["[«a.b.c»]"],
    ["[«goal.list»]"],
    ["[«internal.x»]"],
    ["[«a__b.c»]"],
  ])("not %s", (tools) => {
    expect(findings(agent({ tools }))[0]).toContain("workfile.bad_value steps[0].ask1.tools");
  });

  test("a list of them", () => {
    expect(stepOf(agent({ tools: "[crm.search, billing.look-up]" }))["tools"]).toEqual([
      "crm.search",
      "billing.look-up",
    ]);
    expect(findings(agent({ tools: "«crm.search»" }))).toEqual(["workfile.wrong_type steps[0].ask1.tools"]);
  });
});

describe("WX-16, WC-29, WC-37: returns", () => {
  test("a map of declarations with their own closed keys", () => {
    expect(findings(agent({ returns: "«[»a]" }))).toEqual(["workfile.wrong_type steps[0].ask1.returns"]);
    expect(findings(agent({ returns: "{ a: { type: string, «requird»: true } }" }))).toEqual([
      "workfile.unknown_key steps[0].ask1.returns.a.requird",
    ]);
    expect(findings(agent({ returns: "{ a: «txt» }" }))).toEqual(["workfile.bad_value steps[0].ask1.returns.a"]);
  });

  test("the shorthand is the long form", () => {
    const long = stepOf(
      agent({
        returns: "{ a: { type: string, required: true }, b: { type: array, items: { type: string, required: true } } }",
      }),
    );
    expect(stepOf(agent({ returns: '{ a: "string", b: { type: array, items: string } }' }))).toEqual(long);
  });
});

describe("WX-17 to WX-19, WC-40 to WC-42: the budget", () => {
  test.each([
    "{ «cost»: 1 }",
    "{ «usd»: 1 }",
    "{ «retries»: 1 }",
    "«{»}",
    "«null»",
    "«[»1]",
    "{ steps: «0» }",
    "{ steps: «-1» }",
    "{ steps: «1.5» }",
    "{ steps: «null» }",
    '{ steps: «"{{ 3 }}"» }',
    "{ tokens: «0» }",
    "{ duration: «0s» }",
    "{ duration: «-5s» }",
    "{ duration: «null» }",
    "{ duration: «5» }",
  ])("not %s", (budget) => {
    expect(findings(agent({ budget }))).toHaveLength(1);
  });

  test.each([
    ["{ steps: 1 }", { steps: 1 }],
    ["{ tokens: 1 }", { tokens: 1 }],
    ["{ duration: 1ms }", { duration: 1 }],
    ["{ steps: 2, tokens: 3, duration: 1m }", { steps: 2, tokens: 3, duration: 60_000 }],
  ])("%s", (budget, read) => {
    expect(stepOf(agent({ budget }))["budget"]).toEqual(read);
  });
});

describe("WX-20, WX-85, WX-86: on_exhausted", () => {
  test("a step list whose faults have their own path", () => {
    expect(findings(agent({ on_exhausted: "«{» a: 1 }" }))).toEqual(["workfile.wrong_type steps[0].ask1.on_exhausted"]);
    expect(findings(agent({ on_exhausted: "[«...»]" }))).toEqual(["workfile.wrong_type steps[0].ask1.on_exhausted[0]"]);
    expect(findings(agent({ on_exhausted: "[ { tell: { mail.send: { a: 1 }, «tmeout»: 1s } } ]" }))).toEqual([
      "workfile.unknown_key steps[0].ask1.on_exhausted[0].tell.tmeout",
    ]);
  });

  test("reads what is around it, but not the agent's own value", () => {
    const reads = (name: string): string =>
      `- before: { wf.let: { x: 1 } }\n${agent({ on_exhausted: `[ { tell: { mail.send: { text: "{{ ${name} }}" } } } ]` })}`;
    expect(findings(reads("before.x"))).toEqual([]);
    expect(findings(reads("error.code"))).toEqual([]);
    expect(findings(reads("«ask1.id»".replace(".id»", "».id")))).toEqual([
      'expression.unknown_name steps[1].ask1.on_exhausted[0].tell["mail.send"].text',
    ]);
    expect(said(reads("ask1.id"))).toContain("no value in its own handlers");
  });

  test("what it binds is not visible behind it", () => {
    const text = `${agent({ on_exhausted: "[ { tell: { mail.send: {} } } ]" })}- after: { mail.send: { text: "{{ «tell» }}" } }\n`;
    expect(findings(text)).toEqual(['expression.unknown_name steps[1].after["mail.send"].text']);
    expect(said(text)).toContain('bound inside of "ask1"');
  });
});

describe("WX-58, WX-60, WX-95: modifiers of an agent", () => {
  test.each(["abort", "fail", "halt"])("on_unknown: %s", (how) => {
    expect(stepOf(agent({ on_unknown: how }))["onUnknown"]).toBe(how);
  });

  test("reconcile in no form", () => {
    expect(findings(agent({ on_unknown: "«reconcile»" }))).toEqual(["workfile.bad_value steps[0].ask1.on_unknown"]);
    expect(findings(agent({ "«reconcile»": "{}" }))).toEqual(["workfile.unknown_key steps[0].ask1.reconcile"]);
    expect(findings(agent({ on_unknown: "«ignore»" }))).toEqual(["workfile.bad_value steps[0].ask1.on_unknown"]);
  });

  test("no retry, and the help says what to do instead", () => {
    expect(findings(agent({ "«retry»": "{ attempts: 2 }" }))).toEqual(["workfile.unknown_key steps[0].ask1.retry"]);
    expect(said(agent({ retry: "{ attempts: 2 }" }))).toContain("wf.repeat");
  });

  test("WX-88: catch gives no value", () => {
    expect(findings(agent({ catch: '[ { codes: ["*"], «value»: 1 } ]' }))).toEqual([
      "workfile.unknown_key steps[0].ask1.catch[0].value",
    ]);
    expect(findings(agent({ catch: '[ { codes: ["*"], steps: [] } ]' }))).toEqual([]);
  });

  test("WX-78: timeout beside a budget duration", () => {
    expect(stepOf(agent({ timeout: "5s", budget: "{ duration: 10s }" }))).toMatchObject({
      timeout: 5000,
      budget: { duration: 10_000 },
    });
  });
});

describe("WC-01, WC-26: the older spelling is the same step", () => {
  test("agent and wf.agent", () => {
    expect(stepOf(agent({}, "agent: triage"))).toEqual(stepOf(agent()));
    expect(findings(agent({}, "agent: triage\n    «run»: python"))).toEqual(["workfile.bad_value steps[0].ask1.run"]);
  });

  test("WC-28: its example with real steps, and its [ ... ] taken literally", () => {
    const body = `- resolve:
    agent: triage-assistant
    goal: "Find the account for {{ inputs.sender }}; it may be under a parent org."
    with: { sender: "{{ inputs.sender }}" }
    tools: [crm.search, billing.lookup]
    returns: { account_id: "string" }
    budget: { steps: 8, tokens: 20000 }
    on_exhausted: `;
    expect(findings(`${body}[ { tell: { wf.notify: Exhausted } } ]`)).toEqual([]);
    expect(findings(`${body}[ «...» ]`)).toEqual(["workfile.wrong_type steps[0].resolve.on_exhausted[0]"]);
  });
});

describe("HO-04: a misspelt key is an error", () => {
  test("both faults of one file at once", () => {
    const text = agent({ budget: "{ «step»: 3 }", "«on_exhuasted»": "[]" });
    expect(findings(text)).toEqual([
      "workfile.unknown_key steps[0].ask1.budget.step",
      "workfile.unknown_key steps[0].ask1.on_exhuasted",
    ]);
    expect(said(text)).toContain('Did you mean "steps"?');
    expect(said(text)).toContain('Did you mean "on_exhausted"?');
  });
});
