import { describe, expect, test } from "vitest";
import { scene } from "./scene.ts";
import { Workspace } from "./workspace.ts";

const MANIFEST = `connector: till
version: 1.0.0
actions:
  look: { input: { type: object }, output: {}, effects: read, idempotency: natural }
  send: { input: { type: object }, output: {}, effects: write, idempotency: none }
`;
const DEFINE = 'const define = (d) => ({ ...d, [Symbol.for("ambit.connector")]: true });\n';
const held = scene();

/** A workspace whose one step calls `till.ACTION` of this module. */
function spaceOf(module: string, action = "look", manifest = true): Workspace {
  return held(
    new Workspace({
      "till.mjs": `${DEFINE}${module}`,
      "till.yaml": MANIFEST,
      "ambit.yaml": `connectors:\n  till: { module: ./till.mjs${manifest ? ", manifest: ./till.yaml" : ""} }\n`,
      "a.workfile.yaml": `workfile: "1"\nname: a\nsteps:\n  - one: { till.${action}: {} }\n`,
    }),
  );
}

const RUN = ["run", "a.workfile.yaml"];

describe("a module that ends the process ends no run as a success", { timeout: 120_000 }, () => {
  const loading = "process.exit(0);\nexport default define({ actions: { look: () => 1 } });";

  test("at its loading, before a run and before a deployment is accepted", async () => {
    const run = await spaceOf(loading).json(RUN);
    expect(run).toMatchObject({ code: 3, refused: { error: { code: "catalog.unavailable" } } });
    expect(run.refused.error.message).toContain("process.exit(0)");
    const plan = await spaceOf(loading, "look", false).ambit(["plan", "a.workfile.yaml"]);
    expect(plan.code).toBe(3);
    expect(plan.stdout + plan.stderr).toContain("process.exit(0)");
  });

  test.each([
    ["in a timer", "setTimeout(() => process.exit(0), 5); await new Promise((r) => setTimeout(r, 2_000));"],
    ["without its listeners", "process.reallyExit(0);"],
    ["where nobody sees it", "new Promise(() => process.exit(0)); await new Promise((r) => setTimeout(r, 2_000));"],
  ])("at its loading %s", async (_how, top) => {
    const run = await spaceOf(`${top}\nexport default define({ actions: { look: () => 1 } });`).json(RUN);
    expect(run).toMatchObject({ code: 3, refused: { error: { code: "catalog.unavailable" } }, stderr: "" });
  });

  test("what it throws where nobody catches it still ends the process, and says so", async () => {
    const top = 'setTimeout(() => { throw new Error("stray"); }, 5); await new Promise((r) => setTimeout(r, 2_000));';
    const run = await spaceOf(`${top}\nexport default define({ actions: { look: () => 1 } });`).ambit(RUN);
    expect(run.code).toBe(1);
    expect(run.stderr).toContain("stray");
  });

  test("no-exit I2: one that sends itself a signal ends the process, and a resume judges what was under way", async () => {
    const acting =
      'export default define({ actions: { send: () => { process.kill(process.pid, "SIGKILL"); return new Promise(() => {}); } } });';
    const space = spaceOf(acting, "send");
    const killed = await space.ambit(RUN);
    expect(killed.code).not.toBe(0);
    const resumed = await space.json(["resume", "@last"]);
    expect(resumed).toMatchObject({ code: 8, result: { unknown: [{ position: "one", code: "executor_lost" }] } });
  });

  test("no-exit I1, in an action: a read has failed, of a write nobody knows, and both are recorded", async () => {
    const acting =
      "const exit = () => process.exit(0);\nexport default define({ actions: { look: exit, send: exit } });";
    const read = spaceOf(acting, "look");
    expect(await read.json(RUN)).toMatchObject({ code: 1, result: { error: { code: "action.unavailable" } } });
    const write = spaceOf(acting, "send");
    expect(await write.json(RUN)).toMatchObject({
      code: 8,
      result: { status: "failed", unknown: [{ position: "one", action: "till.send", code: "executor_lost" }] },
    });
    expect((await write.replay("@last")).report).toMatchObject({ result: "equal" });
  });

  test("one that does not ends as it should, whatever it leaves behind", async () => {
    const space = spaceOf("setInterval(() => {}, 1000);\nexport default define({ actions: { look: () => 7 } });");
    expect(await space.json(RUN)).toMatchObject({ code: 0, result: { status: "completed" } });
  });
});
