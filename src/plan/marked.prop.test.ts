import fc from "fast-check";
import { expect, test } from "vitest";
import type { Json } from "../base/json.ts";
import { Marked, mark, maskedParts, recorded, rehydrate, reveal, SENSITIVE, type Val } from "./marked.ts";

/** As a record reads back: JSON has no minus zero. */
const json = fc.jsonValue({ maxDepth: 4 }).map((value) => JSON.parse(JSON.stringify(value)) as Json);
/** JSON with keys that a forger would use. */
const odd = fc.letrec<{ value: Json }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    json,
    fc.array(tie("value"), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom("$sensitive", "$literal", "a"), fc.oneof(fc.constant(true), tie("value")), {
      maxKeys: 2,
    }),
  ),
})).value;

test("data comes back as it was, whatever it looks like", () => {
  fc.assert(
    fc.property(odd, (value) => {
      const back = rehydrate(recorded(value as Val));
      expect(back instanceof Marked).toBe(false);
      expect(reveal(back)).toEqual(value);
    }),
  );
});

test("with what was masked it comes back as it was, marks and all", () => {
  fc.assert(
    fc.property(odd, odd, (value, secret) => {
      const live = [mark(secret as Val, SENSITIVE), { a: [value, mark("canary", SENSITIVE)] }] as Val;
      const parts = maskedParts(live);
      expect(parts).toEqual([secret, "canary"]);
      const text = JSON.stringify(recorded(live));
      const back = rehydrate(JSON.parse(text) as Json, () => mark((parts.shift() ?? null) as Val, SENSITIVE));
      expect(parts).toEqual([]);
      expect(back).toEqual(live);
    }),
  );
});

test("a sensitive part is masked, wherever it stands, and cannot be read again", () => {
  fc.assert(
    fc.property(odd, fc.string({ minLength: 5 }), (value, secret) => {
      const text = JSON.stringify(recorded({ open: value, shut: mark(`canary-${secret}`, SENSITIVE) } as Val));
      expect(text).not.toContain("canary-");
      const back = rehydrate(JSON.parse(text) as Json) as { [key: string]: Val };
      expect((back["shut"] as Marked).marks).toEqual({ sensitive: true, redacted: "unsealed" });
      expect(reveal(back["open"] as Val)).toEqual(value);
    }),
  );
});
