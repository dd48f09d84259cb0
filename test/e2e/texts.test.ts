/** `fmt`, `check --fix` and the formats of `check`, as a user calls them. */
import { spawnSync } from "node:child_process";
import { chmodSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeAll, describe, expect, test } from "vitest";
import { ensureBuilt, main, root } from "../built/built.ts";
import { Workspace } from "../faults/workspace.ts";

const UNTIDY = 'workfile:   "1" # the format\nname: a\nsteps:\n- b: {wf.notify: Hello}\n';
const TIDY = 'workfile: "1" # the format\nname: a\nsteps:\n  - b: { wf.notify: Hello }\n';
const BROKEN = 'workfile: "1"\nname: a\nsteps:\n- b: {wf.notfy: Hello}\n';

const spaces: Workspace[] = [];

beforeAll(() => ensureBuilt(), 150_000);
afterEach(() => {
  for (const space of spaces.splice(0)) space.remove();
});

function spaceOf(files: { [path: string]: string }): Workspace {
  const space = new Workspace(files);
  spaces.push(space);
  return space;
}

/** With a text on standard input. */
function piped(space: Workspace, args: string[], input: string) {
  const env = { PATH: process.env["PATH"] ?? "", NO_COLOR: "1" };
  const { status, stdout, stderr } = spawnSync(process.execPath, [main, ...args], {
    cwd: space.folder,
    env,
    input,
    encoding: "utf8",
  });
  return { code: status, stdout, stderr };
}

describe("ambit fmt", { timeout: 60_000 }, () => {
  test("rewrites what it is given, says so, and has nothing to do the second time", async () => {
    const space = spaceOf({ "a.workfile.yaml": UNTIDY, "sub/b.workfile.yaml": TIDY });
    const check = await space.ambit(["fmt", "--check"]);
    expect(check).toMatchObject({ code: 1, stdout: "", stderr: "a.workfile.yaml: would change\n" });
    expect(space.read("a.workfile.yaml")).toBe(UNTIDY);
    expect(await space.ambit(["fmt"])).toMatchObject({ code: 0, stdout: "", stderr: "a.workfile.yaml: formatted\n" });
    expect(space.read("a.workfile.yaml")).toBe(TIDY);
    expect(await space.ambit(["fmt", "--check"])).toMatchObject({ code: 0, stdout: "", stderr: "" });
  });

  test("leaves a file with errors alone and shows them, and does the others", async () => {
    const space = spaceOf({ "a.workfile.yaml": BROKEN, "b.workfile.yaml": UNTIDY });
    const done = await space.ambit(["fmt", "a.workfile.yaml", "b.workfile.yaml", "--json"]);
    expect(done.code).toBe(3);
    expect(JSON.parse(done.stdout)).toMatchObject({
      ok: false,
      files: [
        { file: "a.workfile.yaml", status: "refused" },
        { file: "b.workfile.yaml", status: "changed" },
      ],
      diagnostics: [{ code: "workfile.unknown_key", line: 4 }],
    });
    expect(space.read("a.workfile.yaml")).toBe(BROKEN);
    expect(space.read("b.workfile.yaml")).toBe(TIDY);
  });

  test("standard input goes to standard output, and nothing does where it has errors", () => {
    const space = spaceOf({});
    expect(piped(space, ["fmt", "-"], UNTIDY)).toEqual({ code: 0, stdout: TIDY, stderr: "" });
    expect(piped(space, ["fmt", "-", "--check"], UNTIDY)).toMatchObject({ code: 1, stdout: "" });
    expect(piped(space, ["fmt", "-"], BROKEN)).toMatchObject({ code: 3, stdout: "" });
  });

  test("keeps permissions and links, and leaves nothing beside", async () => {
    const space = spaceOf({ "real/a.workfile.yaml": UNTIDY });
    chmodSync(space.path("real/a.workfile.yaml"), 0o640);
    symlinkSync("real/a.workfile.yaml", space.path("link.workfile.yaml"));
    expect((await space.ambit(["fmt", "link.workfile.yaml"])).code).toBe(0);
    expect(space.read("real/a.workfile.yaml")).toBe(TIDY);
    expect(statSync(space.path("real/a.workfile.yaml")).mode & 0o777).toBe(0o640);
    expect(readdirSync(space.path("real"))).toEqual(["a.workfile.yaml"]);
  });

  test("a file that is no UTF-8 is not rewritten", async () => {
    const space = spaceOf({});
    const bytes = Buffer.concat([Buffer.from(UNTIDY), Buffer.from("# caf\xe9\n", "latin1")]);
    writeFileSync(space.path("a.workfile.yaml"), bytes);
    const done = await space.ambit(["fmt", "a.workfile.yaml"]);
    expect(done.code).toBe(2);
    expect(done.stderr).toContain("no UTF-8");
    expect(readFileSync(space.path("a.workfile.yaml")).equals(bytes)).toBe(true);
  });
});

describe("ambit check", { timeout: 60_000 }, () => {
  test("--format sarif and github are data on standard output, with the exit of any check", async () => {
    const space = spaceOf({ "a.workfile.yaml": BROKEN });
    const sarif = await space.ambit(["check", "a.workfile.yaml", "--format", "sarif"]);
    expect(sarif).toMatchObject({ code: 3, stderr: "" });
    expect(JSON.parse(sarif.stdout)).toMatchObject({ version: "2.1.0" });
    const github = await space.ambit(["check", "a.workfile.yaml", "--format", "github"]);
    expect(github).toMatchObject({ code: 3, stderr: "" });
    expect(github.stdout).toMatch(/^::error file=a\.workfile\.yaml,line=4,/);
    expect((await space.ambit(["check", "a.workfile.yaml", "--format", "xml"])).code).toBe(2);
  });

  test("--fix rewrites what can be put right in one way only, and checks the result", async () => {
    const slips = "workfile: 1\nname: a\nsteps:\n- b: {wf.notify: {{ run.id }}}\n- c: {wf.notfy: x}\n";
    const space = spaceOf({ "a.workfile.yaml": slips, "b.workfile.yaml": UNTIDY });
    const done = await space.ambit(["check", "--fix", "--json"]);
    expect(done.code).toBe(3);
    expect(JSON.parse(done.stdout)).toMatchObject({
      ok: false,
      fixed: [{ file: "a.workfile.yaml", findings: 2 }],
      diagnostics: [{ code: "workfile.unknown_key" }],
    });
    expect(space.read("a.workfile.yaml")).toBe(
      'workfile: "1"\nname: a\nsteps:\n- b: {wf.notify: "{{ run.id }}"}\n- c: {wf.notfy: x}\n',
    );
    expect(space.read("b.workfile.yaml")).toBe(UNTIDY);
  });

  test("--fix takes no standard input", () => {
    expect(piped(spaceOf({}), ["check", "--fix", "-"], UNTIDY)).toMatchObject({ code: 2, stdout: "" });
  });
});

describe("ambit schema", { timeout: 60_000 }, () => {
  test.each(["workfile", "manifest", "deployment"])("%s is one JSON document", async (name) => {
    const done = await spaceOf({}).ambit(["schema", name]);
    expect(done).toMatchObject({ code: 0, stderr: "" });
    expect(JSON.parse(done.stdout)).toMatchObject({ $schema: "http://json-schema.org/draft-07/schema#" });
  });

  test("another name is a usage fault with a hint", async () => {
    const done = await spaceOf({}).ambit(["schema", "deploymnt"]);
    expect(done).toMatchObject({ code: 2, stdout: "" });
    expect(done.stderr).toContain('Did you mean "deployment"?');
  });
});

describe("what is loaded", { timeout: 60_000 }, () => {
  async function ownModules(args: string[]): Promise<string[]> {
    const space = spaceOf({ "a.workfile.yaml": TIDY });
    const list = space.path("modules");
    const env = { AMBIT_MODULE_LIST: list, NODE_OPTIONS: `--import=${join(root, "test/e2e/module-list.mjs")}` };
    const done = await space.ambit(args, env);
    expect(done.code, done.stderr).toBe(0);
    return space
      .read("modules")
      .split("\n")
      .filter((path) => !path.includes("node_modules"))
      .flatMap((path) => /\/dist\/(.*)\.js$/.exec(path)?.[1] ?? []);
  }

  const PARTS = /workfile\/print|format$|schema|sarif|github|fix|rewrite/;

  test("check loads no printer, no schema, no other format", async () => {
    const loaded = await ownModules(["check", "a.workfile.yaml"]);
    expect(loaded).toContain("syntax/workfile/parse");
    expect(loaded.filter((path) => PARTS.test(path))).toEqual([]);
  });

  test("fmt loads no schema and no validator", async () => {
    const loaded = await ownModules(["fmt", "a.workfile.yaml"]);
    expect(loaded).toContain("syntax/workfile/print/print");
    expect(loaded.filter((path) => /schema|^catalog/.test(path))).toEqual([]);
  });
});
