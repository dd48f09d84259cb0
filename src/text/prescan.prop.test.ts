import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Composer, type CST, Parser } from "yaml";
import { prescan } from "./prescan.ts";

const MOST = 4;
const RUNS = Number(process.env["AMBIT_RUNS"] ?? 4_000);

const PIECES = [
  "a",
  "b: ",
  "- ",
  "? ",
  ": ",
  "[",
  "]",
  "{",
  "}",
  ",",
  ", ",
  "'",
  '"',
  "''",
  '\\"',
  "\\",
  "|",
  ">",
  "|2",
  "|-",
  " #",
  "#",
  "\n",
  "\n",
  "\n",
  "\r\n",
  " ",
  "  ",
  "    ",
  "\t",
  "&x ",
  "*x",
  "!t ",
  "---\n",
  "...\n",
  "x y",
  "c:",
  "'q'",
  '"q"',
  "d: |\n",
];

/** How deep the parser's own structure is, and whether it took the text without a complaint. */
function parsed(text: string): { depth: number; clean: boolean } {
  const tokens = [...new Parser().parse(text)];
  let deepest = 0;
  const stack: { token: unknown; depth: number }[] = tokens.map((token) => ({ token, depth: 0 }));
  for (let next = stack.pop(); next !== undefined; next = stack.pop()) {
    const { token, depth } = next;
    if (Array.isArray(token)) {
      for (const item of token) stack.push({ token: item, depth });
    } else if (typeof token === "object" && token !== null) {
      const { type } = token as CST.Token;
      const within = type === "block-map" || type === "block-seq" || type === "flow-collection" ? depth + 1 : depth;
      deepest = Math.max(deepest, within);
      const parts = token as { items?: unknown; key?: unknown; value?: unknown };
      for (const part of [parts.items, parts.key, parts.value]) stack.push({ token: part, depth: within });
    }
  }
  let clean = tokens.every((token) => token.type !== "error");
  const documents = new Composer({ stringKeys: true, uniqueKeys: false, prettyErrors: false, logLevel: "silent" });
  for (const document of documents.compose(tokens)) clean &&= document.errors.length === 0;
  return { depth: deepest, clean };
}

describe("I1, I3: the scan and the parser agree", () => {
  const texts = fc.array(fc.constantFrom(...PIECES), { minLength: 1, maxLength: 40 }).map((pieces) => pieces.join(""));

  test("a text that passes is nowhere deeper for the parser; one that is clean and flat enough passes", () => {
    fc.assert(
      fc.property(texts, (text) => {
        const scan = prescan(text, MOST);
        const { depth, clean } = parsed(text);
        if (scan.ok && scan.slips.length === 0 && clean) expect(depth).toBeLessThanOrEqual(MOST);
        if (!scan.ok && clean) expect(depth).toBeGreaterThan(MOST);
        // The library lets a few odd things behind quotes and ? pass which YAML does not know.
        if (scan.ok && clean && !/['"?]/.test(text)) expect(scan.slips).toEqual([]);
      }),
      { numRuns: RUNS },
    );
  });

  test("a broken text that passes is not much deeper", () => {
    fc.assert(
      fc.property(texts, (text) => {
        const scan = prescan(text, MOST);
        if (scan.ok && scan.slips.length === 0) expect(parsed(text).depth).toBeLessThanOrEqual(MOST * 3 + 2);
      }),
      { numRuns: RUNS },
    );
  });
});
