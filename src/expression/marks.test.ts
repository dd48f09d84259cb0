import { describe, expect, it } from "vitest";
import { hasMarks, Marked, mark, marksIn, peel, recorded, SENSITIVE, type Val } from "../plan/marked.ts";
import { run } from "./testing/harness.ts";
import { insertText } from "./text.ts";

const secret = (value: Val): Val => mark(value, SENSITIVE);
const names = {
  inputs: {
    open: "o",
    n: 2,
    token: secret("t"),
    k: secret(3),
    flag: secret(true),
    none: secret(null),
    list: [1, secret(2), 3],
  },
  vault: secret({ user: "u", age: 7, list: [1, 2] }),
};

function isMarked(source: string): boolean {
  return hasMarks(peel(run(source, names)).marks);
}

describe("evaluate I3: marks are exact", () => {
  it("a field keeps its own mark and its container's, nothing of its siblings", () => {
    expect(isMarked("inputs.token")).toBe(true);
    expect(isMarked("inputs.open")).toBe(false);
    expect(isMarked("inputs")).toBe(false);
    expect(isMarked("vault.user")).toBe(true);
    expect(isMarked("vault.list[0]")).toBe(true);
    expect(isMarked("inputs.list[0]")).toBe(false);
    expect(isMarked("inputs.list[1]")).toBe(true);
    expect(isMarked("inputs['token']")).toBe(true);
    expect(isMarked("{'a': 1}[inputs.token.replace('t', 'a')]")).toBe(true);
  });

  it("a computed value has the marks of all it was computed from", () => {
    expect(isMarked("inputs.open + inputs.token")).toBe(true);
    expect(isMarked("inputs.n + 1")).toBe(false);
    expect(isMarked("-inputs.k")).toBe(true);
    expect(isMarked("!inputs.flag")).toBe(true);
    expect(isMarked("inputs.token == 'x'")).toBe(true);
    expect(isMarked("inputs == {'a': 1}")).toBe(false);
    expect(isMarked("inputs.list == [1, 2, 3]")).toBe(true);
    expect(isMarked("size(inputs.token)")).toBe(true);
    expect(isMarked("size(inputs.list)")).toBe(false);
    expect(isMarked("size(vault.list)")).toBe(true);
    expect(isMarked("json(inputs.list)")).toBe(true);
    expect(isMarked("sum(inputs.list)")).toBe(true);
    expect(isMarked("sort(inputs.list)")).toBe(true);
    expect(isMarked("join(inputs.list, '-')")).toBe(true);
    expect(isMarked("2 in inputs.list")).toBe(true);
    expect(isMarked("1 in inputs.list")).toBe(false);
  });

  it("a list or map literal keeps marks where they are", () => {
    expect(recorded(run("[inputs.token, 1]", names))).toEqual([{ $sensitive: true }, 1]);
    expect(recorded(run("{'a': inputs.token, 'b': inputs.open}", names))).toEqual({ a: { $sensitive: true }, b: "o" });
    expect(isMarked("{inputs.token: 1}")).toBe(true);
    expect(recorded(run("slice(inputs.list, 0, 2)", names))).toEqual([1, { $sensitive: true }]);
  });

  it("a condition joins the branch that was taken, and only that", () => {
    expect(isMarked("inputs.n > 1 ? inputs.open : inputs.token")).toBe(false);
    expect(isMarked("inputs.n > 1 ? inputs.token : inputs.open")).toBe(true);
    expect(isMarked("inputs.flag ? 1 : 2")).toBe(true);
  });

  it("&& and || join what was evaluated", () => {
    expect(isMarked("inputs.flag && inputs.n > 1")).toBe(true);
    expect(isMarked("inputs.n > 1 || inputs.flag")).toBe(false);
    expect(isMarked("inputs.n > 5 || inputs.flag")).toBe(true);
    expect(isMarked("inputs.k / 0 > 1 || inputs.n > 1")).toBe(true);
  });

  it("loops: the list as a whole, the tests, the elements", () => {
    expect(isMarked("vault.list.map(x, x)")).toBe(true);
    expect(recorded(run("inputs.list.map(x, x + 1)", names))).toEqual([2, { $sensitive: true }, 4]);
    expect(isMarked("inputs.list.filter(x, x > 0)")).toBe(true);
    expect(isMarked("[1].filter(x, x > 0)")).toBe(false);
    expect(isMarked("inputs.list.exists(x, x == 1)")).toBe(false);
    expect(isMarked("inputs.list.exists(x, x == 3)")).toBe(true);
    expect(isMarked("[1, 2].map(x, inputs.flag, x)")).toBe(true);
  });

  it("has and default: that something is missing in a marked map is part of what the mark hides", () => {
    expect(isMarked("has(vault.user)")).toBe(true);
    expect(isMarked("has(vault.nope)")).toBe(true);
    expect(isMarked("has(inputs.token)")).toBe(false);
    expect(isMarked("default(vault.nope, 1)")).toBe(true);
    expect(isMarked("default(inputs.nope, 1)")).toBe(false);
    expect(isMarked("default(inputs.none, 1)")).toBe(true);
    expect(isMarked("default(inputs.open, inputs.token)")).toBe(false);
  });

  it("suppressed travels the same way, and times keep their marks when they become text", () => {
    const dry = { r: mark({ id: "x" }, { suppressed: true }), t: mark("2026-01-01T00:00:00Z", SENSITIVE) };
    expect(marksIn(run("[r.id + '!']", dry))).toEqual({ suppressed: true });
    expect(run("timestamp(t)", dry)).toEqual(new Marked("2026-01-01T00:00:00Z", { sensitive: true }));
    expect(recorded(run("[timestamp(t), 1]", dry))).toEqual([{ $sensitive: true }, 1]);
  });

  it("an inserted text keeps its mark", () => {
    const inserted = insertText(secret(12));
    expect(inserted).toEqual({ ok: true, text: secret("12") });
  });
});

describe("inserted into a longer text", () => {
  it("texts, numbers and booleans stand as they are", () => {
    expect(insertText("a")).toEqual({ ok: true, text: "a" });
    expect(insertText(0.1)).toEqual({ ok: true, text: "0.1" });
    expect(insertText(-0)).toEqual({ ok: true, text: "0" });
    expect(insertText(1e21)).toEqual({ ok: true, text: "1e+21" });
    expect(insertText(true)).toEqual({ ok: true, text: "true" });
  });

  it("null, lists and maps do not, and the help says how", () => {
    expect(insertText(null)).toMatchObject({ ok: false, help: expect.stringContaining("default(v") });
    expect(insertText([1])).toMatchObject({ ok: false, help: expect.stringContaining("join(list") });
    expect(insertText({ a: 1 })).toMatchObject({ ok: false, help: expect.stringContaining("json(v)") });
  });
});
