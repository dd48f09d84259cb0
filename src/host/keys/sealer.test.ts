import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { keyFile, keyPathOf } from "./key-file.ts";
import { newKey, openSealer } from "./sealer.ts";

const PLACE = { run: "r1", seq: 3 };
const SECRET = "canary";

describe("a sealed text", () => {
  const sealer = openSealer(newKey());

  test("opens at its place, and shows nothing of what is in it", () => {
    const sealed = sealer.seal(PLACE, SECRET);
    expect(sealer.open(PLACE, sealed)).toEqual({ is: "open", text: SECRET });
    expect(sealed).not.toContain(SECRET);
    expect(sealed).not.toContain(Buffer.from(SECRET).toString("base64url"));
  });

  test("sealer I3: twice the same is not the same to look at", () => {
    const [one, two] = [sealer.seal(PLACE, SECRET), sealer.seal(PLACE, SECRET)];
    expect(one).not.toBe(two);
    expect(one.split(".")[3]).not.toBe(two.split(".")[3]);
  });

  test("sealer I1, I2: at another place, with another key, or changed in any sign it does not open, and says which", () => {
    const sealed = sealer.seal(PLACE, SECRET);
    expect(sealer.open({ run: "r2", seq: 3 }, sealed)).toEqual({ is: "shut", why: "moved" });
    expect(sealer.open({ run: "r1", seq: 4 }, sealed)).toEqual({ is: "shut", why: "moved" });
    expect(openSealer(newKey()).open(PLACE, sealed)).toEqual({ is: "shut", why: "other_key" });
    for (let at = 0; at < sealed.length; at++) {
      const other = sealed[at] === "A" ? "B" : "A";
      const changed = sealed.slice(0, at) + other + sealed.slice(at + 1);
      expect(sealer.open(PLACE, changed), `sign ${at}`).toMatchObject({ is: "shut" });
    }
  });

  test("sealer I1: a name in front that is put right by hand opens nothing", () => {
    const sealed = sealer.seal({ run: "r2", seq: 3 }, SECRET).split(".");
    const own = sealer.seal(PLACE, "x").split(".");
    const forged = [...own.slice(0, 3), ...sealed.slice(3)].join(".");
    expect(sealer.open(PLACE, forged)).toEqual({ is: "shut", why: "damaged" });
  });

  test.each(["", ".", "1.2.3.4", "1.....", "2.a.b.c.d", `${"x".repeat(1_000)}`])(
    "%j is damaged and no crash",
    (text) => {
      expect(sealer.open(PLACE, text)).toMatchObject({ is: "shut" });
    },
  );

  test("without a key nothing opens", () => {
    const none = openSealer({ find: () => null, make: () => "never" });
    expect(none.open(PLACE, sealer.seal(PLACE, SECRET))).toEqual({ is: "shut", why: "no_key" });
  });
});

describe("the key file", () => {
  const root = mkdtempSync(join(tmpdir(), "ambit-keys-"));
  afterAll(() => rmSync(root, { recursive: true, force: true }));

  test("lies in the folder of the project, or beside a store elsewhere", () => {
    expect(keyPathOf("/p/.ambit/ambit.db")).toBe("/p/.ambit/key");
    expect(keyPathOf("/p/runs.db")).toBe("/p/runs.db.key");
  });

  test("key-file I1: is made whole, 0600, and leaves nothing else behind", () => {
    const path = join(root, "a", ".ambit", "key");
    const text = keyFile(path).make();
    expect(readFileSync(path, "utf8")).toBe(`${text}\n`);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(readdirSync(join(root, "a", ".ambit"))).toEqual(["key"]);
    expect(keyFile(path).make()).toBe(text);
    expect(keyFile(path).find()).toBe(text);
  });

  test("is not made by looking for it", () => {
    const path = join(root, "none", "key");
    expect(keyFile(path).find()).toBeNull();
    expect(() => statSync(path)).toThrow();
  });

  test.each([
    ["other words", "mine\n"],
    ["half a key", "AAAA"],
    ["nothing", ""],
    ["too much", "A".repeat(5_000)],
  ])("key-file I2: %s in its place is left as it is, and refused", (_name, text) => {
    const path = join(root, `k${text.length}`);
    writeFileSync(path, text);
    expect(keyFile(path).find()).toBeNull();
    expect(() => keyFile(path).make()).toThrow(/holds no key|cannot be read/);
    expect(readFileSync(path, "utf8")).toBe(text);
  });

  test("a folder, or a link to nowhere, in its place is refused", () => {
    expect(() => keyFile(root).make()).toThrow(/cannot be read: it is a folder/);
    const link = join(root, "link");
    symlinkSync(join(root, "nowhere"), link);
    expect(() => keyFile(link).make()).toThrow(/missing/);
  });
});
