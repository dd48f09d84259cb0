// The second lane: unit, contract and conformance tests on Node 24. The runtime comes from the npm registry, from the
// platform package that the npm package `node` would choose, and is kept outside the lockfile, which users install.
import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";

const VERSION = "24.22.3";
const TESTS = ["src", "test/contracts", "test/conformance"];

const root = resolve(import.meta.dirname, "..");
const name = `node-${process.platform}-${process.arch}`;
const folder = join(root, "node_modules/.node-24");
const binary = join(folder, "node_modules", name, "bin/node");

if (!["linux-x64", "linux-arm64", "darwin-x64", "darwin-arm64"].includes(`${process.platform}-${process.arch}`)) {
  console.log(`no Node 24 package for ${process.platform} ${process.arch}: this lane is left out here`);
  process.exit(0);
}
if (!existsSync(binary)) {
  execFileSync("npm", ["install", "--no-save", "--no-audit", "--no-fund", "--prefix", folder, `${name}@${VERSION}`], {
    stdio: "inherit",
  });
}
console.log(execFileSync(binary, ["--version"], { encoding: "utf8" }).trim());
try {
  execFileSync(binary, [join(root, "node_modules/vitest/vitest.mjs"), "run", ...TESTS], {
    cwd: root,
    stdio: "inherit",
  });
} catch (error) {
  process.exit(error.status ?? 1);
}
