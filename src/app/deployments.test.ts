import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { Deployments, notFoundText } from "./deployments.ts";
import { createEngine } from "./engine.ts";
import { Refused } from "./refused.ts";

const folder = realpathSync(mkdtempSync(join(tmpdir(), "ambit-deployments-")));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function put(name: string, files: { [file: string]: string }): string {
  const at = join(folder, name);
  mkdirSync(at, { recursive: true });
  for (const [file, text] of Object.entries(files)) writeFileSync(join(at, file), text);
  return at;
}

async function refusalOf(work: Promise<unknown>): Promise<Refused> {
  const thrown = await work.then(
    () => null,
    (error: unknown) => error,
  );
  if (!(thrown instanceof Refused)) throw new Error(`not refused: ${String(thrown)}`);
  return thrown;
}

test("says where it looked: a folder above another one goes without saying", () => {
  expect(notFoundText(["/a/b", "/a", "/c"])).toMatch(
    /^No ambit\.yaml was found in \/a\/b and \/c or any folder above:/,
  );
  expect(notFoundText(["/a", "/a"])).toContain("found in /a or any folder above: write one there, or name it with");
});

test("a workflow without a deployment is told so once, at the first thing that is missing", async () => {
  const at = put("bare", {
    "a.workfile.yaml": `workfile: "1"
name: a
steps:
  - one: { crm.search: {} }
  - two: { crm.look: {} }
`,
  });
  const engine = await createEngine({ cwd: at });
  const { admission } = await engine.plan("a.workfile.yaml");
  const helps = admission.diagnostics.map((finding) => finding.help.includes(`No ambit.yaml was found in ${at}`));
  expect(helps).toEqual([true, false]);
});

describe("findings", () => {
  test("about a manifest that is not there name the command that prints one", async () => {
    const at = put("mcp", {
      "ambit.yaml": "connectors:\n  crm: { mcp: { command: node }, manifest: ./crm.yaml }\n",
    });
    const { exit, diagnostics } = await refusalOf(new Deployments(at, undefined, {}).of(at));
    expect(exit).toBe(4);
    expect(diagnostics).toMatchObject([{ path: "connectors.crm.manifest", line: 2 }]);
    expect(diagnostics[0]?.help).toContain("ambit connectors import crm");
  });

  test("about the manifest of a module have no place in its code", async () => {
    const at = put("module", {
      "ambit.yaml": "connectors:\n  my: { module: ./my.mjs }\n",
      "my.mjs": `const definition = { manifest: { version: "1", actions: { go: { inptu: {}, input: {}, effects: "read" } } } };
definition[Symbol.for("ambit.connector")] = true;
export default definition;
`,
    });
    const { diagnostics } = await refusalOf(new Deployments(at, undefined, {}).of(at));
    for (const finding of diagnostics) expect(finding).toMatchObject({ line: 1, column: 1, endLine: 1, endColumn: 1 });
    expect(diagnostics.length).toBeGreaterThan(0);
  });

  test("about a deployment given as an object have none either", async () => {
    const { exit, diagnostics } = await refusalOf(
      new Deployments(folder, { connectors: { crm: { mpc: {} } } }, {}).of(folder),
    );
    expect(exit).toBe(4);
    expect(diagnostics[0]).toMatchObject({ line: 1, column: 1, endColumn: 1 });
    expect(diagnostics[0]?.path).not.toBe("");
  });

  test("YAML that is broken is the deployment's fault", async () => {
    const at = put("yaml", { "ambit.yaml": "agents: [\n" });
    expect((await refusalOf(new Deployments(at, undefined, {}).of(at))).exit).toBe(4);
  });
});

test("a missing secret names who needs it", async () => {
  const at = put("secret", {
    "ambit.yaml": "agents:\n  helper: { provider: anthropic, model: m, api_key: { env: AMBIT_TEST_NO_KEY } }\n",
    "a.workfile.yaml": `workfile: "1"
name: a
steps:
  - find: { wf.agent: helper, goal: Find it., returns: { id: string }, budget: { steps: 1 } }
`,
  });
  const engine = await createEngine({ cwd: at, store: "memory", env: {} });
  const { exit, fault } = await refusalOf(engine.start("a.workfile.yaml"));
  await engine.close();
  expect({ exit, code: fault.code }).toEqual({ exit: 4, code: "deployment.missing_secret" });
  expect(fault.message).toContain("AMBIT_TEST_NO_KEY");
  expect(fault.message).toContain("the agent helper needs it");
});
