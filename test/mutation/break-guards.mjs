// Breaks guards of the trust path one by one, in a copy of the tree, and sees the tests that hold them turn red.
// A guard whose breaking goes unnoticed fails this script.
import { spawn } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { guards } from "./guards.mjs";

const root = resolve(import.meta.dirname, "../..");
const TIMEOUT_MS = 180_000;

function vitest(folder, tests) {
  return new Promise((done) => {
    const child = spawn(process.execPath, [join(root, "node_modules/vitest/vitest.mjs"), "run", ...tests], {
      cwd: folder,
      stdio: ["ignore", "pipe", "pipe"],
      env: { ...process.env, NO_COLOR: "1" },
    });
    let text = "";
    child.stdout.on("data", (part) => {
      text += part;
    });
    child.stderr.on("data", (part) => {
      text += part;
    });
    const timer = setTimeout(() => child.kill("SIGKILL"), TIMEOUT_MS);
    child.on("exit", (code) => {
      clearTimeout(timer);
      done({ code: code ?? 1, text });
    });
  });
}

const folder = mkdtempSync(join(tmpdir(), "ambit-guards-"));
let unnoticed = 0;
try {
  for (const name of [
    "src",
    "test",
    "conformance",
    "package.json",
    "tsconfig.json",
    "vitest.config.ts",
    "layers.mjs",
    "layers.d.mts",
  ]) {
    cpSync(join(root, name), join(folder, name), { recursive: true });
  }
  symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
  for (const guard of guards) {
    const file = join(folder, guard.file);
    const before = readFileSync(file, "utf8");
    const hits = before.split(guard.find).length - 1;
    if (hits !== 1) {
      console.log(`✗ ${guard.name}: the text to break stands ${hits} times in ${guard.file}`);
      unnoticed++;
      continue;
    }
    writeFileSync(
      file,
      before.replace(guard.find, () => guard.broken),
    );
    const { code, text } = await vitest(folder, guard.tests);
    writeFileSync(file, before);
    const red = code !== 0 && /Tests {2}.*failed/.test(text);
    console.log(`${red ? "✓" : "✗"} ${guard.name}: ${red ? "noticed" : "NOT noticed"}`);
    if (!red) {
      unnoticed++;
      console.log(text.split("\n").slice(-30).join("\n"));
    }
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
console.log(`${guards.length - unnoticed} of ${guards.length} guards are held by tests`);
process.exit(unnoticed === 0 ? 0 : 1);
