import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { layers } from "../../layers.mjs";

const root = resolve(import.meta.dirname, "../..");

interface Cruised {
  modules: { source: string }[];
  summary: { violations: { rule: { name: string }; from: string; to: string }[] };
}

function cruise(folder: string): Cruised {
  const bin = join(root, "node_modules/dependency-cruiser/bin/dependency-cruise.mjs");
  try {
    const out = execFileSync(
      process.execPath,
      [bin, "src", "--config", ".dependency-cruiser.mjs", "--output-type", "json"],
      {
        cwd: folder,
        encoding: "utf8",
        maxBuffer: 256 * 1024 * 1024,
      },
    );
    return JSON.parse(out) as Cruised;
  } catch (error) {
    // It exits with the number of errors and still prints its report.
    return JSON.parse((error as { stdout: string }).stdout) as Cruised;
  }
}

function filesBelow(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith(".ts"))
    .map((entry) => join(entry.parentPath, entry.name));
}

describe("the walls between folders", () => {
  const seen: { real?: Cruised } = {};
  beforeAll(() => {
    seen.real = cruise(root);
  }, 120_000);

  test("nothing imports what layers.mjs does not allow", () => {
    expect(seen.real?.summary.violations.map((entry) => `${entry.rule.name}: ${entry.from} -> ${entry.to}`)).toEqual(
      [],
    );
  });

  test("every file of src is looked at", () => {
    const looked = new Set(
      seen.real?.modules.map((module) => module.source).filter((source) => source.startsWith("src/")),
    );
    expect(looked.size).toBe(filesBelow(join(root, "src")).length);
  });
});

describe("the canary: planted imports are reported", () => {
  const folder = mkdtempSync(join(tmpdir(), "ambit-arch-"));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  const plant = (file: string, text: string): void => {
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    writeFileSync(join(folder, file), text);
  };

  test("of a folder above, of a value where only types are allowed, and of a cycle", () => {
    for (const file of ["layers.mjs", ".dependency-cruiser.mjs", "tsconfig.json", "package.json"]) {
      cpSync(join(root, file), join(folder, file));
    }
    plant("src/base/up.ts", 'import { run } from "../run/run.ts";\nexport const up = run;\n');
    plant("src/run/run.ts", "export const run = 1;\n");
    plant("src/host/value.ts", 'import { run } from "../run/run.ts";\nexport const value = run;\n');
    plant("src/host/types.ts", 'import type { Kind } from "../run/kind.ts";\nexport type K = Kind;\n');
    plant("src/run/kind.ts", "export type Kind = 1;\n");
    plant("src/plan/a.ts", 'import { b } from "./b.ts";\nexport const a = (): number => b();\n');
    plant("src/plan/b.ts", 'import { a } from "./a.ts";\nexport const b = (): number => a();\n');
    const found = cruise(folder).summary.violations.map((entry) => `${entry.rule.name} ${entry.from}`);
    expect(found).toContain("layer-base src/base/up.ts");
    expect(found).toContain("types-only-host src/host/value.ts");
    expect(found).toContain("no-cycles src/plan/a.ts");
    expect(found.filter((entry) => entry.includes("src/host/types.ts"))).toEqual([]);
  }, 60_000);
});

describe("docs/architecture.md", () => {
  test("its table says what layers.mjs says", () => {
    const text = readFileSync(join(root, "docs/architecture.md"), "utf8");
    const rows = new Map(
      [...text.matchAll(/^\| `(\w+)` \| (.+?) \| .+ \|$/gm)].map((match) => [match[1] ?? "", match[2] ?? ""]),
    );
    const told = Object.fromEntries(
      Object.entries(layers as { [folder: string]: { may: string[]; types?: string[] } }).map(
        ([folder, { may, types }]) => {
          const list = [...may, ...(types ?? []).map((name) => `${name} (types)`)];
          return [folder, list.length === 0 ? "nothing" : list.join(", ")];
        },
      ),
    );
    expect(Object.fromEntries(rows)).toEqual(told);
  });
});
