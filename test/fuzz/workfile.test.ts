/**
 * Mutated Workfiles: whatever the text, checking it ends, does not crash, and each finding has a place inside of
 * the text. `AMBIT_FUZZ` sets the number of mutations (the gate runs what fits into a minute); `AMBIT_FUZZ_SEED`
 * repeats a run.
 */
import { describe, expect, test } from "vitest";
import { hasErrors } from "../../src/errors/diagnostic.ts";
import { diagnose } from "../../src/syntax/diagnose.ts";

const COUNT = Number(process.env["AMBIT_FUZZ"] ?? 100_000);
const SEED = Number(process.env["AMBIT_FUZZ_SEED"] ?? Math.floor(Math.random() * 2 ** 31));
/** In the gate the fuzz stops here, however far it came: a slow machine must not fail it. */
const MOST_MS = process.env["AMBIT_FUZZ"] === undefined ? 50_000 : Number.POSITIVE_INFINITY;
/** A single check that takes longer has met something that is not linear. */
const SLOW_MS = 5_000;

const SEEDS = [
  `workfile: "1"
name: mail
inputs: { to: string, n: { type: integer, min: 1, default: 3 } }
steps:
  - find:
      wf.agent: finder
      goal: Find {{ inputs.to }}.
      tools: [crm.search]
      returns: { id: { type: string, required: true } }
      budget: { steps: 3, duration: 1m }
      on_exhausted: [ { tell: { wf.notify: "Gave up: {{ error.code }}" } } ]
  - send: { mail.send: { to: "{{ inputs.to }}", text: 'Dear {{ find.id }}' }, if: "{{ find != null }}", retry: { attempts: 2, backoff: 1s } }
outputs: { id: "{{ find.id }}" }
`,
  `workfile: "1"
name: loops
triggers:
  - schedule: { cron: "0 7 * * 1-5", zone: Europe/Paris }
  - webhook: { path: /x, body: { a: string }, headers: [x-a], when: '{{ headers["x-a"] == "1" }}' }
consts: { list: [1, 2, { a: b }] }
steps:
  - all:
      wf.each: "{{ consts.list }}"
      as: one
      max: 10
      concurrency: 2
      on_item_failure: { yield: "{{ error.code }}" }
      yield: { v: "{{ one }}", i: "{{ index }}" }
      steps: [ { a: { x.y: { n: "{{ one }}" } } } ]
  - again:
      wf.repeat: { max: 5, from: { n: 0 } }
      until: "{{ prev.n > 3 }}"
      yield: { n: "{{ prev.n + 1 }}" }
      steps: []
  - both: { wf.parallel: { left: [ { a: { x.y: {} } } ], right: [ { b: { x.z: {} } } ] }, timeout: 5s }
  - pick:
      wf.switch: "{{ both.left }}"
      cases: { a: [ { s: { wf.stop: { x: 1 } } } ], "b c": [] }
      default: [ { f: { wf.fail: { code: a.b, message: "No {{ again.n }}" } } } ]
      catch: [ { codes: [flow.timeout, "x.*"], value: "{{ error.message }}" } ]
      cleanup: [ { on: failure, steps: [ { c: { x.y: {} } } ] } ]
`,
  `workfile: "1"
name: code
steps:
  - job:
      run: python
      code: |
        a = {"k": [1, 2]}
        return {k: v for k, v in a.items()}   # done
      network: [api.example.org, "localhost:8080"]
      timeout: 10s
  - text: { wf.let: { long: >-
        one {{ job.k }}
        two
      , quoted: "a\\tb {{ 'x' }}" } }
  - ok: { wf.ask: "Pay {{ job.sum }}?", returns: { approved: boolean, note: { type: string, default: "{{ text.long }}" } }, approvers: { not: initiator, count: 2 }, expires: 2h }
  - pause: { wf.wait: { until: "2026-03-04T08:00:00Z" } }
  - other: { wf.call: ./other.workfile.yaml, with: { a: "{{ ok.note }}" } }
cleanup: [ { end: { wf.notify: "{{ default(error.code, 'fine') }}" } } ]
`,
];

const PARTS = [
  "{{",
  "}}",
  "{{ x }}",
  "{",
  "}",
  "[",
  "]",
  ":",
  ": ",
  "- ",
  "? ",
  "|",
  ">",
  "|2-",
  "#",
  " #",
  "'",
  '"',
  "\\",
  "\n",
  "\n  ",
  "\r\n",
  "\t",
  " ",
  "    ",
  "&a ",
  "*a",
  "!t ",
  "<<: ",
  "---\n",
  "...\n",
  "%x\n",
  "null",
  "true",
  "0x1F",
  "010",
  ".inf",
  "1e999",
  "-0",
  "\u0000",
  "\u0007",
  "\uFEFF",
  "\uD800",
  "😀",
  "é",
  "__proto__",
  "constructor",
  "wf.if: ",
  "wf.each: ",
  "steps: ",
  "if: ",
  "catch: ",
  "cleanup: ",
  "inputs",
  "prev",
  "ask",
  "on: ",
  "{{ a.b[0]",
  "{{ [1,2].map(x, x) }}",
  "((((((((((",
  "a: b: c",
  "code: return { a: 1 }",
  "[[[[[[[[[[[[",
  "{a: {b: {c: ",
  "- - - - ",
  "? ? ? ",
];

function generator(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

function mutate(text: string, random: () => number): string {
  const at = (length: number): number => Math.floor(random() * (length + 1));
  let out = text;
  const times = 1 + Math.floor(random() * 4);
  for (let i = 0; i < times; i++) {
    const from = at(out.length);
    const to = Math.min(out.length, from + at(12));
    switch (Math.floor(random() * 6)) {
      case 0:
        out = out.slice(0, from) + out.slice(to);
        break;
      case 1:
        out = out.slice(0, from) + (PARTS[Math.floor(random() * PARTS.length)] ?? "") + out.slice(from);
        break;
      case 2:
        out = out.slice(0, from) + (PARTS[Math.floor(random() * PARTS.length)] ?? "") + out.slice(to);
        break;
      case 3: {
        const lines = out.split("\n");
        const one = at(lines.length - 1);
        const two = at(lines.length - 1);
        [lines[one], lines[two]] = [lines[two] ?? "", lines[one] ?? ""];
        out = lines.join("\n");
        break;
      }
      case 4: {
        const lines = out.split("\n");
        const one = at(lines.length - 1);
        lines[one] = `${" ".repeat(at(4))}${(lines[one] ?? "").trimStart()}`;
        out = lines.join("\n");
        break;
      }
      default:
        out = out.slice(0, from) + out.slice(to, to + at(60)).repeat(1 + at(3)) + out.slice(from);
    }
  }
  return out.slice(0, 20_000);
}

describe("mutated Workfiles", () => {
  test("no crash, no hang, no finding without a place", {
    timeout: MOST_MS === Number.POSITIVE_INFINITY ? 0 : MOST_MS + 60_000,
  }, () => {
    const random = generator(SEED);
    const start = performance.now();
    let done = 0;
    for (; done < COUNT && performance.now() - start < MOST_MS; done++) {
      const text = mutate(SEEDS[done % SEEDS.length] ?? "", random);
      const before = performance.now();
      const fault = judge(text);
      const took = performance.now() - before;
      if (fault !== null || took > SLOW_MS) {
        expect.fail(`seed ${SEED}, mutation ${done}: ${fault ?? `${Math.round(took)} ms`}\n${JSON.stringify(text)}`);
      }
    }
    expect(done).toBeGreaterThan(0);
  });
});

function judge(text: string): string | null {
  try {
    const { plan, diagnostics } = diagnose(text, "fuzz.workfile.yaml");
    const lines = text.split(/\r\n|\n|\r/).length;
    if ((plan === null) !== hasErrors(diagnostics)) return "a plan with errors, or none without";
    for (const entry of diagnostics) {
      const { line, column, endLine, endColumn } = entry;
      const placed =
        line >= 1 && column >= 1 && endLine <= lines && (endLine > line || (endLine === line && endColumn >= column));
      if (!placed) return `a finding without a place: ${JSON.stringify(entry)}`;
      if (entry.message === "") return `a finding without words: ${JSON.stringify(entry)}`;
    }
    if (plan !== null && !Object.isFrozen(plan.steps)) return "a plan that is not frozen";
    if (plan !== null) JSON.stringify(plan);
    return null;
  } catch (error) {
    return error instanceof Error ? (error.stack ?? error.message) : String(error);
  }
}
