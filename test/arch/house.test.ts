import { existsSync, readdirSync, readFileSync } from "node:fs";
import { basename, join, relative, resolve } from "node:path";
import { describe, expect, test } from "vitest";
import { VERSION } from "../../src/cli/version.ts";
import { CODES } from "../../src/errors/codes.ts";

const root = resolve(import.meta.dirname, "../..");

function below(folder: string, ending: string): string[] {
  return readdirSync(join(root, folder), { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith(ending))
    .map((entry) => relative(root, join(entry.parentPath, entry.name)));
}

const sources = below("src", ".ts");

describe("the house", () => {
  test("no room is called after nothing", () => {
    const empty = /^(utils?|helpers?|common|shared|misc|core|managers?)(\.ts)?$/;
    const names = sources.flatMap((file) => file.split("/"));
    expect(names.filter((name) => empty.test(name))).toEqual([]);
  });

  test("file names are kebab-case", () => {
    expect(
      sources.filter((file) => !/^[a-z0-9]+(-[a-z0-9]+)*(\.(test|prop\.test))?\.ts$/.test(basename(file))),
    ).toEqual([]);
  });

  test("each folder of src has a README of 5 to 15 lines", () => {
    const folders = readdirSync(join(root, "src"), { withFileTypes: true }).filter((entry) => entry.isDirectory());
    const faults = folders.flatMap((folder) => {
      const file = join(root, "src", folder.name, "README.md");
      if (!existsSync(file)) return [`${folder.name}: none`];
      const lines = readFileSync(file, "utf8").trim().split("\n").length;
      return lines >= 5 && lines <= 15 ? [] : [`${folder.name}: ${lines} lines`];
    });
    expect(faults).toEqual([]);
  });

  test("a file over 400 lines explains itself in its header", () => {
    const long = sources.filter((file) => {
      const text = readFileSync(join(root, file), "utf8");
      return !/\.test\.ts$/.test(file) && text.split("\n").length > 400 && !/^\/\*\*|^\/\//.test(text);
    });
    expect(long).toEqual([]);
  });

  test("the median file is under 4 KB", () => {
    const sizes = sources.map((file) => readFileSync(join(root, file)).length).sort((a, b) => a - b);
    expect(sizes[Math.floor(sizes.length / 2)]).toBeLessThan(4_096);
  });

  test("clocks and chance are parameters", () => {
    const free = /\bDate\.now\(|\bnew Date\(\)|\bMath\.random\(|\bsetTimeout\(|\bsetInterval\(/;
    const allowed = /^src\/(host|cli)\/|^src\/base\/clock\.ts$|\.test\.ts$|\/testing\//;
    expect(sources.filter((file) => !allowed.test(file) && free.test(readFileSync(join(root, file), "utf8")))).toEqual(
      [],
    );
  });

  test("what a user names on the command line is read by named-file.ts alone", () => {
    const free = /\b(readFileSync|readFile|createReadStream|openSync|readSync)\b|\bopen\(|node:fs\/promises/;
    const commands = sources.filter((file) => file.startsWith("src/cli/") && !file.endsWith(".test.ts"));
    // What is written again is a file that has been read: it is looked at once more before it is replaced.
    expect(commands.filter((file) => free.test(readFileSync(join(root, file), "utf8"))).sort()).toEqual([
      "src/cli/named-file.ts",
      "src/cli/rewrite-file.ts",
    ]);
  });

  test("the version of the command line is that of the package", () => {
    expect(VERSION).toBe((JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as { version: string }).version);
  });

  test("every code has a whole page", () => {
    const bare = Object.entries(CODES).filter(([, page]) => Object.values(page).some((text) => text.trim() === ""));
    expect(bare.map(([code]) => code)).toEqual([]);
  });
});
