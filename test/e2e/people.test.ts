/** What people are asked, through the built command line: questions, approvals, settlements, and runs that are parked. */
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { OpenQuestion, UnknownOutcome } from "../../src/app/engine.ts";
import { type Finished, root } from "../built/built.ts";
import { scene } from "../faults/scene.ts";
import { asEnded, linesOf, until, Workspace } from "../faults/workspace.ts";

const DEPLOYMENT = `connectors:
  mail:
    stub: ./tools.yaml
    manifest:
      connector: mail
      version: 1.0.0
      actions:
        send:
          description: Sends a mail.
          input: { type: object, required: [to], additionalProperties: false, properties: { to: { type: string } } }
          output: { type: object, required: [n], properties: { n: { type: integer } } }
          effects: write
          idempotency: none
`;
const TOOLS = "log: ./calls.jsonl\nactions:\n  mail.send: [ { return: { n: 1 } } ]\n";
const LOST = TOOLS.replace("[ {", "[ { ambiguous: connection_lost, times: 1 }, {");
const flow = (steps: string): string => `workfile: "1"\nname: flow\nsteps:\n${steps}`;
const ASK = "  - ok: { wf.ask: Who?, returns: { to: { type: string, required: true } } }\n";

const held = scene();

class People extends Workspace {
  constructor(steps: string, more: { policy?: string; tools?: string } = {}) {
    super({
      "ambit.yaml": `${DEPLOYMENT}${more.policy ?? ""}`,
      "tools.yaml": more.tools ?? TOOLS,
      "flow.workfile.yaml": flow(steps),
    });
  }

  run(...more: string[]): Promise<Finished> {
    return this.ambit(["run", "flow.workfile.yaml", "--run-id", "r", ...more]);
  }

  async open(): Promise<OpenQuestion[]> {
    return (JSON.parse((await this.ambit(["approvals", "--json"])).stdout) as { approvals: OpenQuestion[] }).approvals;
  }

  async id(): Promise<string> {
    return (await this.open())[0]?.id ?? "";
  }

  async unknowns(): Promise<UnknownOutcome[]> {
    return (JSON.parse((await this.ambit(["unknowns", "--json"])).stdout) as { unknowns: UnknownOutcome[] }).unknowns;
  }

  get sent(): unknown[] {
    const lines = linesOf<{ phase: string; args: unknown }>(this.path("calls.jsonl"));
    return lines.filter(({ phase }) => phase === "dispatched").map(({ args }) => args);
  }
}

const APPROVE = "policy: { approve: [mail.send] }\n";
const SEND = `  - send: { mail.send: { to: ana } }\n`;

describe("a question", { timeout: 120_000 }, () => {
  test("parks the run with exit 6, which says how to answer; answered, resume ends it", async () => {
    const space = held(new People(`${ASK}  - send: { mail.send: { to: "{{ ok.to }}" } }\n`));
    const parked = await space.run();
    const id = await space.id();
    expect(parked.code).toBe(6);
    expect(parked.stderr).toContain(`ambit answer ${id} '{"to":"..."}'`);
    expect(parked.stderr).toContain("ambit resume r");
    expect((await space.ambit(["answer", id, '{"to":5}'])).code).toBe(2);
    space.write({ "answer.json": '{"to":"ben"}' });
    const answered = await space.ambit(["answer", id.slice(0, 9), "@answer.json", "--comment", "sure"]);
    expect(answered.code, answered.stderr).toBe(0);
    expect(answered.stdout).toContain("\n  ambit resume r\n");
    const twice = await space.ambit(["answer", id, '{"to":"cleo"}', "--json"]);
    expect(twice.code).toBe(9);
    expect(asEnded(twice).refused.error.code).toBe("run.already_decided");
    expect((await space.ambit(["resume", "r"])).code).toBe(0);
    expect(space.sent).toEqual([{ to: "ben" }]);
    expect((await space.ambit(["answer", id, "{}"])).code).toBe(2);
    const ended = (await space.events("r")).find(({ kind }) => kind === "ask.ended");
    expect(ended?.body).toMatchObject({ how: "answered", comment: "sure" });
    expect((await space.replay("r")).report.result).toBe("equal");
  });

  test("of two answers at once one is refused", async () => {
    const space = held(new People("  - ok: { wf.ask: Go? }\n"));
    await space.run();
    const id = await space.id();
    const both = await Promise.all([space.ambit(["approve", id]), space.ambit(["reject", id])]);
    expect(both.map(({ code }) => code).sort()).toEqual([0, 9]);
  });

  test("the one who started the run may not answer where the file says so", async () => {
    const space = held(new People("  - ok: { wf.ask: Go?, approvers: { not: initiator } }\n"));
    await space.run();
    const refused = await space.ambit(["approve", await space.id(), "--json"]);
    expect(asEnded(refused).refused.error.code).toBe("ask.not_approver");
    expect(refused.code).toBe(3);
    expect(await space.open()).toMatchObject([{ decided: null }]);
  });

  test("a living owner that waits for a timer beside it takes the answer at once", async () => {
    const both = "  - both: { wf.parallel: { a: [ { ok: { wf.ask: Go? } } ], b: [ { pause: { wf.wait: 1h } } ] } }\n";
    const space = held(new People(both));
    const started = space.start(["run", "flow.workfile.yaml", "--run-id", "r"]);
    const id = await until("a question", async () => (await space.id()) || null);
    const answered = JSON.parse((await space.ambit(["approve", id, "--json"])).stdout);
    expect(answered).toMatchObject({ state: "taken", resume: null, position: "both.a.ok" });
    started.kill("SIGINT");
    expect((await started.done).code).toBe(130);
    const ended = (await space.events("r")).find(({ kind }) => kind === "ask.ended");
    expect(ended?.body).toMatchObject({ how: "approved" });
  });

  test("survives a kill while its run is under way: the same question stands", async () => {
    const both = "  - both: { wf.parallel: { a: [ { ok: { wf.ask: Go? } } ], b: [ { pause: { wf.wait: 2s } } ] } }\n";
    const space = held(new People(both));
    const started = space.start(["run", "flow.workfile.yaml", "--run-id", "r"]);
    const id = await until("a question", async () => (await space.id()) || null);
    started.kill("SIGKILL");
    await started.done;
    const answered = JSON.parse((await space.ambit(["approve", id, "--json"])).stdout);
    expect(answered).toMatchObject({ state: "waits", resume: "ambit resume r" });
    expect((await space.ambit(["resume", "r"])).code).toBe(0);
    expect((await space.replay("r")).report.result).toBe("equal");
  });
});

describe("an approval before a write", { timeout: 120_000 }, () => {
  test("rejected, nothing is sent and the step fails with the comment", async () => {
    const space = held(new People(SEND, { policy: APPROVE }));
    const parked = await space.run();
    expect(parked.stderr).toContain('"to": "ana"');
    await space.ambit(["reject", await space.id(), "--comment", "not today"]);
    const done = await space.json(["resume", "r"]);
    expect(done.code).toBe(1);
    expect(done.result.error).toMatchObject({ code: "action.rejected", message: expect.stringContaining("not today") });
    expect(space.sent).toEqual([]);
  });

  test("approved with other arguments, these are sent", async () => {
    const space = held(new People(SEND, { policy: APPROVE }));
    await space.run();
    const id = await space.id();
    expect((await space.ambit(["approve", id, "--edit", '{"to":5}'])).code).toBe(2);
    expect((await space.ambit(["approve", id, "--edit", '{"to":"ben"}'])).code).toBe(0);
    expect((await space.ambit(["resume", "r"])).code).toBe(0);
    expect(space.sent).toEqual([{ to: "ben" }]);
  });

  test("a file that is no file is refused, and not waited for", async () => {
    const space = held(new People(SEND, { policy: APPROVE }));
    await space.run();
    const refused = await space.ambit(["approve", await space.id(), "--edit", "@."]);
    expect([refused.code, refused.stderr.includes("it is a folder")]).toEqual([2, true]);
  });
});

describe("a run that waits", { timeout: 120_000 }, () => {
  test("for a time only is left with --no-wait, and waited for without", async () => {
    const space = held(new People("  - pause: { wf.wait: 1s }\n"));
    const left = await space.run("--no-wait", "--json");
    expect([left.code, asEnded(left).result.waiting]).toMatchObject([6, [{ position: "pause", reason: "timer" }]]);
    expect((await space.ambit(["resume", "r"])).code).toBe(0);
  });

  test("is cancelled by whoever asks: its cleanups run, and with --force they do not", async () => {
    const steps = `  - ok:\n      wf.ask: Go?\n      cleanup: [ { on: always, steps: [ { undo: { mail.send: { to: undo } } } ] } ]\n`;
    for (const [options, sent] of [
      [[], [{ to: "undo" }]],
      [["--force"], []],
    ] as const) {
      const space = held(new People(steps));
      await space.run();
      expect((await space.ambit(["cancel", "r", ...options])).code).toBe(0);
      expect((await space.show("r")).status).toBe("cancelled");
      expect(space.sent).toEqual(sent);
      expect((await space.replay("r")).report.result).toBe("equal");
    }
  });

  test("for somebody to say what became of a call goes on in all three ways", async () => {
    const steps = "  - send: { mail.send: { to: ana }, on_unknown: halt }\n";
    for (const [options, code, sent] of [
      [["--succeeded", '{"n":4}'], 0, 1],
      [["--failed", "mail.lost", "--comment", "it never came"], 1, 1],
      [["--retry"], 0, 2],
    ] as const) {
      const space = held(new People(steps, { tools: LOST }));
      const halted = await space.run();
      expect([halted.code, halted.stderr.includes("ambit resolve r send ")]).toEqual([6, true]);
      expect(await space.unknowns()).toMatchObject([{ run: "r", position: "send", status: "suspended" }]);
      const resolved = await space.ambit(["resolve", "r", "send", ...options]);
      expect(resolved.stdout).toContain("\n  ambit resume r\n");
      expect((await space.ambit(["resume", "r"])).code).toBe(code);
      expect(await space.unknowns()).toEqual([]);
      expect(space.sent).toHaveLength(sent);
      expect((await space.replay("r")).report.result).toBe("equal");
    }
  });

  test("what is settled after the end ends exit code 8", async () => {
    const space = held(new People("  - send: { mail.send: { to: ana } }\n", { tools: LOST }));
    const lost = await space.run();
    expect([lost.code, lost.stderr.includes("ambit resolve r send")]).toEqual([8, true]);
    expect((await space.ambit(["resolve", "r", "send", "--retry"])).code).toBe(2);
    expect((await space.ambit(["resolve", "r", "send"])).code).toBe(2);
    expect((await space.ambit(["resolve", "r", "send", "--succeeded", '{"n":1}'])).code).toBe(0);
    expect((await space.ambit(["resume", "r"])).code).toBe(1);
    expect((await space.replay("r")).report.result).toBe("equal");
  });
});

describe("the example", { timeout: 120_000 }, () => {
  // Where it lies in the checkout: its module imports this package by name.
  const file = join(root, "examples/approval/approval.workfile.yaml");

  async function asked(space: Workspace): Promise<string> {
    const parked = await space.ambit(["run", file, "-i", "guest=Ana", "--run-id", "r"]);
    expect(parked.code, parked.stderr).toBe(6);
    return /ask_[0-9a-f]{16}/.exec((await space.ambit(["approvals"])).stdout)?.[0] ?? "";
  }

  test("asks before it pays back, and sends what was approved", async () => {
    const space = held(new Workspace());
    const id = await asked(space);
    expect((await space.ambit(["approve", id, "--edit", '{"guest":"Ana","amount":20}'])).code).toBe(0);
    const done = await space.json(["resume", "r"]);
    expect(done.result).toMatchObject({ status: "completed", outputs: { said: "20 go back to Ana." } });
  });

  test("rejected, it says so and pays nothing", async () => {
    const space = held(new Workspace());
    await space.ambit(["reject", await asked(space), "--comment", "too late"]);
    const done = await space.json(["resume", "r"]);
    expect(done.result).toMatchObject({ status: "completed", outputs: { said: "Nothing goes back to Ana." } });
  });
});
