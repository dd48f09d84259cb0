import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { readRegularFile, whyNotRegular } from "./regular-file.ts";

const folder = mkdtempSync(join(tmpdir(), "ambit-files-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function at(name: string, text?: string): string {
  const path = join(folder, name);
  if (text !== undefined) writeFileSync(path, text);
  return path;
}

function pipe(name: string): string {
  const path = at(name);
  execFileSync("mkfifo", [path]);
  return path;
}

describe("a file that somebody named", () => {
  test("I2: is read as UTF-8, also behind a link, up to the bound and not beyond it", () => {
    symlinkSync(at("whole.txt", "héé"), at("link.txt"));
    expect(readRegularFile(at("link.txt"), 5)).toEqual({ ok: true, text: "héé" });
    expect(readRegularFile(at("link.txt"), 4)).toMatchObject({ ok: false });
    expect(readRegularFile(at("empty.txt", ""), 4)).toEqual({ ok: true, text: "" });
  });

  test("I3: what is no UTF-8 is refused with its first byte, wherever it stands", () => {
    const text = Buffer.from("häß→😀".repeat(2_000));
    for (const place of [0, 1, 3, 4_094, 4_095, 4_096, 4_097, 9_000, text.length]) {
      // Moved back to where a character begins.
      let begins = place;
      while (begins < text.length && ((text[begins] ?? 0) & 0xc0) === 0x80) begins--;
      writeFileSync(at("bad"), Buffer.concat([text.subarray(0, begins), Buffer.from([0xff]), text.subarray(begins)]));
      expect(readRegularFile(at("bad"), 100_000)).toMatchObject({
        why: `it is no UTF-8 from byte offset ${begins} on`,
      });
    }
    writeFileSync(at("cut"), text.subarray(0, text.length - 1));
    expect(readRegularFile(at("cut"), 100_000)).toMatchObject({
      why: `it is no UTF-8 from byte offset ${text.length - 4} on`,
    });
    writeFileSync(at("utf16"), Buffer.from("\ufeffhi", "utf16le"));
    expect(readRegularFile(at("utf16"), 100)).toMatchObject({ why: expect.stringContaining("UTF-16") });
  });

  test("I1: a pipe, a device and a folder are refused at once", () => {
    const fifo = pipe("pipe");
    symlinkSync(fifo, at("to-pipe"));
    for (const path of [fifo, at("to-pipe"), "/dev/zero"]) {
      expect(readRegularFile(path, 1_024)).toEqual({ ok: false, why: "it is no regular file", code: null });
      expect(whyNotRegular(path, 1_024)).toBe("it is no regular file");
    }
    mkdirSync(at("folder"));
    expect(readRegularFile(at("folder"), 1_024)).toMatchObject({ ok: false, why: "it is a folder" });
  });

  test.skipIf(process.platform !== "linux")("I2: a file that tells no size is bounded by what comes", () => {
    expect(readRegularFile("/proc/self/maps", 16)).toMatchObject({ ok: false, why: "it is larger than 1 KiB" });
    expect(readRegularFile("/proc/self/stat", 65_536)).toMatchObject({ ok: true });
  });

  test("one that is not there, or may not be read, is refused with the system's code", () => {
    expect(readRegularFile(at("none"), 1)).toEqual({ ok: false, why: "there is no such file", code: "ENOENT" });
    expect(readRegularFile(`${at("whole.txt")}/x`, 1)).toMatchObject({ ok: false, code: "ENOTDIR" });
  });
});
