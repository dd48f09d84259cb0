import { describe, expect, test } from "vitest";
import { type DeclaredCommand, matchCommand, normalLine, wordsOf } from "./command-line.ts";

test("lines are compared with runs of blanks outside quotes made one", () => {
  expect(normalLine("  git   status\t-s ")).toBe("git status -s");
  expect(normalLine("echo 'a  b'   \"c  d\" e\\ \\  f")).toBe("echo 'a  b' \"c  d\" e\\ \\  f");
});

test("words: quotes keep blanks together, and no sign means anything", () => {
  expect(wordsOf(' a \'b c\'"d e"f  "" ')).toEqual(["a", "b cd ef", ""]);
  expect(wordsOf("a $(b) `c` ;|&>")).toEqual(["a", "$(b)", "`c`", ";|&>"]);
  expect(wordsOf("a 'b")).toBeNull();
  expect(wordsOf("x ".repeat(300))).toBeNull();
});

describe("which commands start", () => {
  const commands: DeclaredCommand[] = [
    { line: "make test  && echo 'a  b'" },
    { argv: ["git", "fetch", "*"] },
    { argv: ["tool", "--name=x", "*", "*"] },
  ];
  const match = (line: string) => matchCommand(commands, line);

  test("a whole line, as the operator wrote it", () => {
    const start = { file: "/bin/sh", args: ["-c", "make test  && echo 'a  b'"] };
    expect(match("make  test && echo 'a  b'")).toEqual({ is: "match", start });
  });

  test("a template, without a shell", () => {
    expect(match("git fetch 'origin main'")).toEqual({
      is: "match",
      start: { file: "git", args: ["fetch", "origin main"] },
    });
    expect(match("tool --name=x $(id) '; rm -rf /'")).toMatchObject({
      start: { args: ["--name=x", "$(id)", "; rm -rf /"] },
    });
  });

  test.each([
    "make test && echo 'a b'",
    "make test && echo 'a  b'; id",
    "make test",
    "git fetch",
    "git fetch a b",
    "git push origin",
    "GIT fetch origin",
    "/usr/bin/git fetch origin",
    "tool --name=y a b",
    "",
  ])("%j is none of them", (line) => {
    expect(match(line).is).toBe("none");
  });

  test.each([
    "git fetch --upload-pack=id",
    "git fetch -x",
    "git fetch ''",
    "git fetch 'a\nb'",
    "git fetch a\u0000b",
    "git fetch 'a",
    `git fetch ${"a".repeat(70_000)}`,
  ])("%j is refused", (line) => {
    expect(match(line).is).toBe("refused");
  });
});
