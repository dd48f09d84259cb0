// Records the histories of this version: `node test/journals/record.mjs` after `npm run build`. Run once for each
// released format; what lies in a version's folder is never edited or recorded again (DU-22).
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { spawnSync } from "node:child_process";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { FLOWS } from "./flows.mjs";

const root = resolve(import.meta.dirname, "../..");
const main = join(root, "dist/cli/main.js");
const killAt = join(root, "test/faults/kill-at.mjs");

function node(folder, ...args) {
  return spawnSync(process.execPath, args, { cwd: folder, encoding: "utf8" });
}

const version = node(root, main, "--version").stdout.trim();
const target = join(import.meta.dirname, version);
mkdirSync(target, { recursive: true });
for (const [name, { files, args, kill, end }] of Object.entries(FLOWS)) {
  const file = join(target, `${name}.jsonl`);
  if (existsSync(file)) {
    console.log(`${name}: kept`);
    continue;
  }
  const folder = mkdtempSync(join(tmpdir(), "ambit-journal-"));
  mkdirSync(join(folder, ".ambit"));
  for (const [path, text] of Object.entries(files)) writeFileSync(join(folder, path), text);
  if (kill === undefined) node(folder, main, "run", "flow.workfile.yaml", ...args, "--run-id", name);
  else {
    node(folder, killAt, String(kill), name, "flow.workfile.yaml", ...args);
    node(folder, main, "resume", name);
  }
  const exported = node(folder, main, "runs", "export", name).stdout;
  const ended = JSON.parse(exported.trim().split("\n").at(-1) ?? "null");
  if (ended?.kind !== "run.ended" || ended.body.status !== end) {
    console.error(`${name} did not end as it should: ${JSON.stringify(ended?.body)}`);
    process.exitCode = 1;
  } else {
    writeFileSync(join(folder, "run.jsonl"), exported);
    copyFileSync(join(folder, "run.jsonl"), file);
    console.log(`${name}: ${end}, ${exported.trim().split("\n").length} records`);
  }
  rmSync(folder, { recursive: true, force: true });
}
