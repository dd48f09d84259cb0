import { describe, expect, test } from "vitest";
import { MAX_SECRETS, type SecretTexts } from "../base/secret-texts.ts";
import type { Field } from "../plan/field.ts";
import { mark, recorded, reveal, SENSITIVE, type Val } from "../plan/marked.ts";
import { HIDDEN, hide, hideMarked, hideMessage, hideText, markFields, markTexts, sensitiveTexts } from "./hide.ts";

const MASK = { $sensitive: true };
const secret = (value: Val): Val => mark(value, SENSITIVE);
const of = (...texts: string[]): SecretTexts => sensitiveTexts([secret(texts)]);

describe("DU-09: what a run calls sensitive", () => {
  test("texts and numbers below a mark are found, at any depth, and what stands beside them is not", () => {
    const texts = sensitiveTexts([{ a: "plain", b: secret({ c: ["hidden-1", { d: 12345 }] }) }, secret("hidden-2")]);
    expect([...texts.known]).toEqual(["hidden-1", "12345", "hidden-2"]);
  });

  test("I3: short ones would blank out half of every text and are left alone", () => {
    expect(sensitiveTexts([secret("abc"), secret(7), secret(true), secret(null)]).isEmpty).toBe(true);
  });

  test("I1: a text that holds one is marked as a whole and keeps its value", () => {
    const marked = markTexts({ to: "ana", text: "the token is s3cret!", n: [54321] }, of("s3cret", "54321"));
    expect(recorded(marked)).toEqual({ to: "ana", text: MASK, n: [MASK] });
    expect(reveal(marked)).toEqual({ to: "ana", text: "the token is s3cret!", n: [54321] });
  });

  test("I1: so is a map with a key that holds one, however deep", () => {
    const value = { a: [{ "for s3cret": 1, b: 2 }], c: { d: 3 } };
    const marked = markTexts(value, of("s3cret"));
    expect(recorded(marked)).toEqual({ a: [MASK], c: { d: 3 } });
    expect(reveal(marked)).toEqual(value);
    expect(recorded(markTexts({ s3cret: "plain" }, of("s3cret")))).toEqual(MASK);
    expect(recorded(markTexts(mark({ s3cret: 1 }, {}), of("s3cret")))).toEqual(MASK);
  });

  test("I2, I3: in messages the value alone is replaced, also in keys, URLs and base64", () => {
    const texts = sensitiveTexts([secret("p&ss word")]);
    const said = { "p&ss word": ["x p&ss word y", `?t=${encodeURIComponent("p&ss word")}`, btoa("p&ss word")] };
    expect(hide(said, texts)).toEqual({ [HIDDEN]: [`x ${HIDDEN} y`, `?t=${HIDDEN}`, expect.stringContaining(HIDDEN)] });
    expect(hideMarked({ a: secret("x"), b: "p&ss word" }, texts)).toEqual({ a: HIDDEN, b: HIDDEN });
  });

  test("I3: also where it is quoted, and within longer base64", () => {
    const texts = of('pa"ss\\word');
    const said = [JSON.stringify({ token: 'pa"ss\\word' }), btoa('ana:pa"ss\\word!')];
    for (const text of said) expect(hideText(text, texts)).toContain(HIDDEN);
    expect(hideText(said[0] as string, texts)).not.toContain("ss");
    expect(recorded(markTexts(said, texts))).toEqual([MASK, MASK]);
  });

  test("I3: more than are looked for hide everything", () => {
    const texts = of(...Array.from({ length: MAX_SECRETS + 1 }, (_, i) => `secret-${i}`));
    const value = { a: ["harmless", 12, `secret-${MAX_SECRETS}`], b: null };
    expect(recorded(markTexts(value, texts))).toEqual(MASK);
    expect(reveal(markTexts(value, texts))).toEqual(value);
    expect(JSON.stringify(hide(value, texts))).not.toMatch(/secret-|harmless|12/);
    expect(hideText("harmless", texts)).toBe(HIDDEN);
  });

  test("I4: what is cut is hidden before, so no part of it stands in front of the cut", () => {
    const texts = of("hunter2-and-more");
    expect(hideText(`${"z".repeat(10)}hunter2-and-more`, texts, 17)).toBe(`${"z".repeat(10)}[sensit`);
    expect(hideMessage("somebody said hunter2-an...", texts, 100)).toBe(`somebody said ${HIDDEN}...`);
    expect(hideText("ab😀", of(), 3)).toBe("ab\ufffd");
  });

  test("without anything sensitive the very same value comes back", () => {
    const value = { a: [1, "x"] };
    expect(hide(value, of())).toBe(value);
    expect(markTexts(value, of())).toBe(value);
  });

  test("what declarations call sensitive is marked in a value that does not fit them, too", () => {
    const shape = { type: "string", required: true } as const;
    const fields: Field[] = [
      { name: "pin", ...shape, sensitive: true },
      {
        name: "list",
        type: "array",
        required: true,
        items: { type: "object", required: false, fields: [{ name: "pin", ...shape, sensitive: true }] },
      },
      { name: "open", ...shape },
    ];
    expect(recorded(markFields(fields, { pin: [1], list: [{ pin: 1, other: 2 }, "odd"], open: "x", more: 1 }))).toEqual(
      {
        pin: MASK,
        list: [{ pin: MASK, other: 2 }, MASK],
        open: "x",
        more: 1,
      },
    );
    expect(recorded(markFields(fields, { list: "none" }))).toEqual({ list: MASK });
    expect(recorded(markFields(fields, "a text in place of it"))).toEqual(MASK);
  });

  test("hostile keys stay own keys", () => {
    const value = JSON.parse('{"__proto__": {"x": "s3cret"}}') as Val;
    expect(JSON.stringify(recorded(markTexts(value, of("s3cret"))))).toBe('{"__proto__":{"x":{"$sensitive":true}}}');
  });
});
