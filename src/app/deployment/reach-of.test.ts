import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createEngine } from "../engine.ts";

test("plan names the hosts and commands that are declared for what a file uses, and no others", async () => {
  const folder = mkdtempSync(join(tmpdir(), "ambit-reach-"));
  writeFileSync(
    join(folder, "ambit.yaml"),
    `connectors:
  http: { hosts: [api.example.org, "other.example.org:8443"] }
  shell: { commands: ["git status", { argv: [git, fetch, "*"] }] }
`,
  );
  const file = join(folder, "a.workfile.yaml");
  const flow = (steps: string): void => writeFileSync(file, `workfile: "1"\nname: a\nsteps:\n${steps}`);
  const engine = await createEngine({ cwd: folder, store: "memory" });
  try {
    flow("  - get: { http.get: { url: https://api.example.org/a } }\n");
    const http = (await engine.plan(file)).admission.report;
    expect([http.hosts, http.commands]).toEqual([["api.example.org", "other.example.org:8443"], []]);
    flow("  - git: { shell.run: { command: git status } }\n");
    const shell = (await engine.plan(file)).admission.report;
    expect([shell.hosts, shell.commands]).toEqual([[], ["git fetch *", "git status"]]);
  } finally {
    await engine.close();
  }
});
