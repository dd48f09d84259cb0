import { describe, expect, test } from "vitest";
import { diagnose, notationOf } from "../diagnose.ts";
import { calleeRefs } from "./callees.ts";
import { bare, findings, planOf, said } from "./testing/harness.ts";

const file = (text: string): string => `workfile: "1"\nname: t\n${text}`;

describe("the document", () => {
  test.each([
    ["workfile: «1.0»\nname: t\nsteps: []", ["workfile.wrong_type workfile"]],
    ["workfile: «'2'»\nname: t\nsteps: []", ["workfile.bad_value workfile"]],
    ['workfile: "1"\nname: «5»\nsteps: []', ["workfile.wrong_type name"]],
    ['workfile: "1"\nname: «a b»\nsteps: []', ["workfile.bad_value name"]],
    ['«w»orkfile: "1"', ["workfile.missing_key", "workfile.missing_key"]],
    [file("«network»: []\nsteps: []"), ["workfile.unknown_key network"]],
    [file("steps: «{»}"), ["workfile.wrong_type steps"]],
    [
      file("limits: { «depht»: 3, steps: «0», deadline: «10» }\nsteps: []"),
      ["workfile.unknown_key limits.depht", "workfile.bad_value limits.steps", "workfile.wrong_type limits.deadline"],
    ],
    [file('consts: { a: [«"{{ 1 }}"»] }\nsteps: []'), ["workfile.bad_value consts.a[0]"]],
    [file("«overlap»: queue\nsteps: []"), ["workfile.bad_value overlap"]],
    [file("triggers: []\n«on»: []\nsteps: []"), ["workfile.bad_value on"]],
    [file('steps: []\noutputs: { a: "{{ «b» }}" }'), ["expression.unknown_name outputs.a"]],
  ])("%j", (text, codes) => {
    if (text.startsWith("«w»")) expect(findings(text.replaceAll(/[«»]/g, ""))).toEqual(codes);
    else expect(findings(text)).toEqual(codes);
  });

  test("an empty file, a list, a text", () => {
    for (const text of ["", "# nothing\n", "- a", "hello"]) {
      expect(diagnose(text, "x.yaml").diagnostics.map((entry) => entry.code)).toEqual(["yaml.not_a_map"]);
    }
  });

  test("YAML's faults and the format's are reported together, in text order", () => {
    expect(
      findings(
        file(
          "«nme»: x\nconsts: { a: «010» }\nsteps:\n  - a: { x.y: { t: «{{ run.id }}», t2: 1, «t2»: 2 } }\n  - «inputs»: { x.y: {} }",
        ),
      ),
    ).toHaveLength(5);
  });

  test("the whole plan", () => {
    const plan = planOf(
      file(`description: d
inputs: { a: string, b: { type: integer, default: 2, min: 1 } }
consts: { c: 1 }
on:
  - schedule: { every: 30m, with: { a: x } }
single: "{{ inputs.a }}"
overlap: queue
limits: { deadline: 10m, steps: 5, depth: 2, concurrency: 3 }
steps: [ { s: { wf.let: { v: 1 } } } ]
outputs: { o: "{{ s.v }}" }
cleanup: [ { on: failure, steps: [ { z: { wf.notify: "{{ error.code }} {{ s.v }}" } } ] } ]
`),
    );
    expect(bare(plan)).toEqual({
      v: 1,
      notation: "workfile",
      name: "t",
      description: "d",
      scope: "lexical",
      inputs: [
        { name: "a", type: "string", required: true },
        { name: "b", type: "integer", required: false, default: 2, min: 1 },
      ],
      steps: [expect.objectContaining({ id: "s", kind: "assign", values: { v: { lit: 1 } } })],
      cleanup: [
        { on: "failure", steps: [expect.objectContaining({ id: "z", kind: "notify", reads: ["error", "s"] })] },
      ],
      outputs: { map: { o: { expr: { lang: "cel", source: "s.v", reads: ["s"] } } } },
      consts: { c: 1 },
      settings: [],
      limits: { deadline: 600_000, steps: 5, depth: 2, concurrency: 3 },
      triggers: [{ kind: "every", every: 1_800_000, with: { lit: { a: "x" } } }],
      single: { key: { expr: { lang: "cel", source: "inputs.a", reads: ["inputs"] } }, overlap: "queue" },
      callees: {},
    });
  });

  test("is frozen through and through", () => {
    const plan = planOf("- a: { x.y: { v: [1, { w: 2 }] } }");
    const frozen = (value: unknown): boolean =>
      typeof value !== "object" || value === null || (Object.isFrozen(value) && Object.values(value).every(frozen));
    expect(frozen(plan)).toBe(true);
  });

  test("keys like __proto__ stay plain data", () => {
    const [step] = planOf("- a: { x.y: { __proto__: { polluted: 1 }, constructor: 2 } }").steps;
    expect(JSON.stringify(step)).toContain('{"__proto__":{"polluted":1},"constructor":2}');
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
  });

  test("the files that it calls, each once", () => {
    const plan = planOf(
      "- a: { wf.call: ./x.awl }\n- b: { wf.parallel: { l: [ { c: { wf.call: ./y.yaml } } ], r: [ { d: { wf.call: ./x.awl } } ] } }",
    );
    expect(calleeRefs(plan).map((entry) => entry.ref)).toEqual(["./x.awl", "./y.yaml"]);
  });
});

describe("triggers", () => {
  const trigger = (text: string): string =>
    file(`inputs: { a: string, n: { type: integer, default: 1 } }\nsteps: []\ntriggers:\n  - ${text}`);

  test.each([
    ["schedule: { every: 5m, «with»: {} }", "workfile.missing_key triggers[0].schedule.with"],
    ["schedule: «{» every: 5m }", "workfile.missing_key triggers[0].schedule.with"],
    ["schedule: { every: 5m, with: { a: x, «b»: 1 } }", "workfile.unknown_key triggers[0].schedule.with.b"],
    ["schedule: { every: 5m, with: { a: «5» } }", "workfile.bad_value triggers[0].schedule.with.a"],
    ["schedule: «{» with: { a: x } }", "workfile.missing_key triggers[0].schedule"],
    ["schedule: «{» every: 5m, cron: 0 1 * * *, with: { a: x } }", "workfile.missing_key triggers[0].schedule"],
    ["schedule: { every: 5m, «zone»: UTC, with: { a: x } }", "workfile.bad_value triggers[0].schedule.zone"],
    ["schedule: { cron: «0 25 * * *», with: { a: x } }", "workfile.bad_value triggers[0].schedule.cron"],
    [
      "schedule: { cron: 0 1 * * *, zone: «Europe/Pari», with: { a: x } }",
      "workfile.bad_value triggers[0].schedule.zone",
    ],
    [
      'schedule: { every: 5m, with: { a: "{{ trigger.«du» }}" } }',
      "expression.unknown_name triggers[0].schedule.with.a",
    ],
    ['schedule: { every: 5m, with: { a: "{{ «inputs».a }}" } }', "expression.unknown_name triggers[0].schedule.with.a"],
    ["webhook: «{» with: { a: x } }", "workfile.missing_key triggers[0].webhook"],
    ["webhook: { path: «/a b», with: { a: x } }", "workfile.bad_value triggers[0].webhook.path"],
    ["webhook: { path: «/a/../b», with: { a: x } }", "workfile.bad_value triggers[0].webhook.path"],
    ["webhook: { path: /a, headers: [«X-A»], with: { a: x } }", "workfile.bad_value triggers[0].webhook.headers[0]"],
    [
      'webhook: { path: /a, headers: [x-a], when: \'{{ headers[«"x-b"»] == "1" }}\', with: { a: x } }',
      "expression.unknown_name triggers[0].webhook.when",
    ],
    [
      'webhook: { path: /a, body: { from: string }, with: { a: "{{ trigger.«form» }}" } }',
      "expression.unknown_name triggers[0].webhook.with.a",
    ],
    ["webhook: { path: /a, reply: «all», with: { a: x } }", "workfile.bad_value triggers[0].webhook.reply"],
    ["webhook: { path: /a, when: «trigger.ok», with: { a: x } }", "expression.not_marked triggers[0].webhook.when"],
    ["«hook»: {}", "workfile.unknown_key triggers[0].hook"],
  ])("%j", (text, finding) => {
    expect(findings(trigger(text))).toEqual([finding]);
  });

  test("both kinds", () => {
    expect(
      bare(
        planOf(
          trigger(
            'webhook: { path: /a, body: { from: string }, headers: [x-a], when: "{{ headers[\'x-a\'] != null }}", with: { a: "{{ trigger.from }}" }, reply: outputs }\n  - schedule: { cron: "*/5 7-9 1,15 jan-mar mon", zone: Europe/Paris, with: { a: x } }',
          ),
        ).triggers,
      ),
    ).toMatchObject([
      {
        kind: "webhook",
        path: "/a",
        headers: ["x-a"],
        reply: "outputs",
        when: { lang: "cel" },
        body: [{ name: "from" }],
      },
      { kind: "cron", cron: "*/5 7-9 1,15 jan-mar mon", zone: "Europe/Paris" },
    ]);
  });
});

describe("field declarations", () => {
  const field = (text: string): string => file(`inputs: { f: ${text} }\nsteps: []`);

  test.each([
    ["{ type: «txt» }", "workfile.bad_value inputs.f.type"],
    ["«{» required: true }", "workfile.missing_key inputs.f"],
    ["«5»", "workfile.wrong_type inputs.f"],
    ["{ type: string, «items»: string }", "workfile.bad_value inputs.f.items"],
    ["{ type: integer, min: 3, max: «2» }", "workfile.bad_value inputs.f.max"],
    ["{ type: string, min: «-1» }", "workfile.bad_value inputs.f.min"],
    ["{ type: string, pattern: «'('» }", "workfile.bad_value inputs.f.pattern"],
    ["{ type: string, enum: «[]» }", "workfile.bad_value inputs.f.enum"],
    ["{ type: string, enum: [a, «5»] }", "workfile.bad_value inputs.f.enum[1]"],
    ["{ type: string, enum: [a], default: «b» }", "workfile.bad_value inputs.f.default"],
    ["{ type: integer, default: «x» }", "workfile.bad_value inputs.f.default"],
    ['{ type: string, default: «"{{ 1 }}"» }', "workfile.bad_value inputs.f.default"],
    ["{ type: object, fields: { a: «nope» } }", "workfile.bad_value inputs.f.fields.a"],
    ["{ type: object, fields: { a: integer }, default: «{ b: 1 }» }", "workfile.bad_value inputs.f.default"],
    ["{ type: boolean, sensitive: «yes» }", "workfile.wrong_type inputs.f.sensitive"],
  ])("%s", (text, finding) => {
    expect(findings(field(text))).toEqual([finding]);
  });

  test("at every depth, shorthands included", () => {
    expect(
      bare(planOf(field("{ type: object, fields: { a: string, b: { type: array, items: integer, max: 3 } } }")).inputs),
    ).toEqual([
      {
        name: "f",
        type: "object",
        required: false,
        fields: [
          { name: "a", type: "string", required: true },
          { name: "b", type: "array", required: false, items: { type: "integer", required: true }, max: 3 },
        ],
      },
    ]);
  });

  test("names of inputs stand on command lines", () => {
    expect(findings(file("inputs: { «a b»: string }\nsteps: []"))).toHaveLength(1);
    expect(said(file("inputs: { a b: string }\nsteps: []"))).toContain("no name for a field");
  });
});

describe("which notation", () => {
  test.each([
    ["x.workfile.yaml", "", "workfile"],
    ["x.yml", "@start", "workfile"],
    ["x.awl", "", "awl"],
    ["x.json", "", "request"],
    ["-", "# c\n\n  @start", "awl"],
    ["-", "\uFEFF# c\n{ }", "request"],
    ["-", 'workfile: "1"', "workfile"],
    ["-", "", "workfile"],
  ])("%s %j", (name, text, notation) => {
    expect(notationOf(text, name)).toBe(notation);
  });

  test.each(["x.awl", "x.json"])("%s is not in this version, and says so", (name) => {
    const { plan, diagnostics } = diagnose("", name);
    expect(plan).toBeNull();
    expect(diagnostics.map((entry) => entry.code)).toEqual(["workfile.not_supported"]);
  });
});
