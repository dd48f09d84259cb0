import { execFileSync } from "node:child_process";
import { closeSync, mkdtempSync, openSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { readInput, readNamed } from "./named-file.ts";
import { readDocument } from "./options.ts";

const folder = mkdtempSync(join(tmpdir(), "ambit-named-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const at = (name: string): string => join(folder, name);

describe("I1: a named file", () => {
  test("is read whole, and refused where it is too large, none or a folder", () => {
    writeFileSync(at("a.json"), '{"a": 1}');
    expect(readNamed(at("a.json"), 8)).toBe('{"a": 1}');
    expect(() => readNamed(at("a.json"), 7)).toThrow("larger");
    expect(() => readNamed(at("none"), 8)).toThrow("no such file");
    expect(() => readNamed(folder, 8)).toThrow("a folder");
    expect(readDocument(`@${at("a.json")}`, "--input")).toEqual({ a: 1 });
  });

  test("that is no UTF-8 is refused with the place", () => {
    writeFileSync(at("latin1.json"), Buffer.from('{"a": "caf\xe9"}', "latin1"));
    expect(() => readNamed(at("latin1.json"), 80)).toThrow("it is no UTF-8 from byte offset 10 on.");
    const descriptor = openSync(at("latin1.json"), "r");
    expect(() => readInput(descriptor, 80)).toThrow(
      "Standard input cannot be read: it is no UTF-8 from byte offset 10",
    );
    closeSync(descriptor);
  });

  test("that is a pipe or a device is not waited for", () => {
    execFileSync("mkfifo", [at("pipe")]);
    for (const file of [at("pipe"), "/dev/zero"]) {
      expect(() => readNamed(file, 8)).toThrow("no regular file");
      expect(() => readDocument(`@${file}`, "--input")).toThrow("no regular file");
    }
  });
});

test("I1: standard input is read to its end, and has a bound", () => {
  const read = (file: string, most: number): string => {
    const descriptor = openSync(file, "r");
    try {
      return readInput(descriptor, most);
    } finally {
      closeSync(descriptor);
    }
  };
  writeFileSync(at("long"), "ä".repeat(100_000));
  expect(read(at("long"), 200_000)).toBe("ä".repeat(100_000));
  expect(() => read(at("long"), 199_999)).toThrow("Standard input has more than");
  expect(() => read("/dev/zero", 1_048_576)).toThrow("more than 1 MiB");
  expect(() => read(folder, 8)).toThrow("cannot be read");
});
