// The whole gate: `npm test`. Runs each stage, keeps going after a failed one, and ends with a plain line
// `N passed, N failed` over all of them.
import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

const root = resolve(import.meta.dirname, "..");
const scratch = mkdtempSync(join(tmpdir(), "ambit-gate-"));
const report = join(scratch, "vitest.json");
const bin = (name) => join(root, "node_modules", ".bin", name);

function run(command, args) {
  return new Promise((done) => {
    const child = spawn(command, args, {
      cwd: root,
      stdio: "inherit",
      env: { ...process.env, CI: process.env.CI ?? "" },
    });
    child.on("error", (error) => {
      console.error(`${command}: ${error.message}`);
      done(1);
    });
    child.on("exit", (code) => done(code ?? 1));
  });
}

/** Stages that pass or fail as one. */
const checks = [
  ["types", bin("tsc"), ["-p", "tsconfig.json"]],
  ["lint", bin("biome"), ["check", "--error-on-warnings", "."]],
  ["build", "npm", ["run", "--silent", "build"]],
];

let passed = 0;
let failed = 0;
const broken = [];

for (const [name, command, args] of checks) {
  console.log(`\n== ${name}`);
  if ((await run(command, args)) === 0) passed++;
  else {
    failed++;
    broken.push(name);
  }
}

/** Tests that start many processes of their own run one file at a time. */
const SLOW = ["test/faults", "test/e2e"];
const lanes = [
  ["tests", SLOW.flatMap((folder) => ["--exclude", `${folder}/**`])],
  ["tests with processes", ["--no-file-parallelism", ...SLOW]],
];

for (const [name, options] of lanes) {
  console.log(`\n== ${name}`);
  const code = await run(bin("vitest"), [
    "run",
    "--reporter=default",
    "--reporter=json",
    `--outputFile.json=${report}`,
    ...options,
  ]);
  try {
    const result = JSON.parse(readFileSync(report, "utf8"));
    rmSync(report);
    passed += result.numPassedTests;
    failed += result.numFailedTests;
    // A file that does not load fails without a test of its own.
    const unloaded = result.testResults.filter(
      (file) => file.status === "failed" && file.assertionResults.length === 0,
    );
    failed += unloaded.length;
    for (const file of result.testResults) if (file.status === "failed") broken.push(file.name.replace(`${root}/`, ""));
    if (code !== 0 && result.numFailedTests + unloaded.length === 0) {
      failed++;
      broken.push(name);
    }
  } catch {
    failed++;
    broken.push(`${name} (no report)`);
  }
}

for (const [name, script] of [
  ["guards", "test/mutation/break-guards.mjs"],
  ["node 24", "test/node24.mjs"],
]) {
  console.log(`\n== ${name}`);
  if ((await run(process.execPath, [join(root, script)])) === 0) passed++;
  else {
    failed++;
    broken.push(name);
  }
}

rmSync(scratch, { recursive: true, force: true });
if (broken.length > 0) console.log(`\nbroken: ${broken.join(", ")}`);
console.log(`\n${passed} passed, ${failed} failed`);
process.exit(failed === 0 ? 0 : 1);
