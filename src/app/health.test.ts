import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { loadDeployment } from "./deployment.ts";
import { findAilments } from "./health.ts";

const folder = realpathSync(mkdtempSync(join(tmpdir(), "ambit-health-")));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function ailments(text: string, env: { [name: string]: string }): Promise<string[]> {
  const file = join(folder, "ambit.yaml");
  writeFileSync(file, text);
  const { deployment, diagnostics } = await loadDeployment(file, env);
  if (deployment === null) throw new Error(JSON.stringify(diagnostics));
  return (await findAilments(deployment, env)).map(({ what, said }) => `${what}: ${said}`);
}

const SICK = `agents:
  helper: { provider: anthropic, model: m, api_key: { env: NO_KEY } }
  played: { provider: scripted, script: ./none.scripted.yaml }
connectors:
  crm:
    mcp: { command: no-such-command, env: { TOKEN: { env: NO_TOKEN } } }
    manifest: { connector: crm, version: "1", actions: {} }
  files: { root: ./none }
store: { path: ./a.db, key: { env: NO_STORE_KEY } }
`;

test("finds what a run would stumble over, and says who needs it", async () => {
  const found = await ailments(SICK, { PATH: folder });
  expect(found).toHaveLength(6);
  expect(found).toEqual(
    expect.arrayContaining([
      expect.stringMatching(/^agent helper: .*NO_KEY/),
      expect.stringMatching(/^agent played: .*none\.scripted\.yaml/),
      expect.stringMatching(/^connector crm: .*NO_TOKEN/),
      expect.stringMatching(/^connector crm: .*no-such-command.* on PATH/),
      expect.stringMatching(/^connector files: .*none/),
      expect.stringMatching(/^store: .*NO_STORE_KEY/),
    ]),
  );
});

test("finds nothing where all is there", async () => {
  mkdirSync(join(folder, "bin"), { recursive: true });
  mkdirSync(join(folder, "none"), { recursive: true });
  writeFileSync(join(folder, "bin/no-such-command"), "#!/bin/sh\n", { mode: 0o755 });
  writeFileSync(join(folder, "none.scripted.yaml"), "agents: { played: [ { turns: [] } ] }\n");
  expect(await ailments(SICK, { PATH: join(folder, "bin"), NO_KEY: "k", NO_TOKEN: "t", NO_STORE_KEY: "s" })).toEqual(
    [],
  );
});
