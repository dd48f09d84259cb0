import canonicalize from "canonicalize";
import fc from "fast-check";
import { expect, test } from "vitest";
import { canonical, type Json } from "./json.ts";

test("canonical JSON is that of RFC 8785, as a second implementation has it", () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 6 }), (value) => {
      expect(canonical(value as Json)).toBe(canonicalize(value));
    }),
    { numRuns: 500 },
  );
});

test.each([
  [[-0, 1e21, 1e-7, 0.1, 333333333.3333333, 2 ** 53], "[0,1e+21,1e-7,0.1,333333333.3333333,9007199254740992]"],
  [
    { "\u20ac": 1, "\r": 2, "\ufb33": 3, "1": 4, "\ud83d\ude00": 5, "\u0080": 6, "\u00f6": 7 },
    '{"\\r":2,"1":4,"\u0080":6,"\u00f6":7,"\u20ac":1,"\ud83d\ude00":5,"\ufb33":3}',
  ],
  ['\u000f\n\u2028"\\', '"\\u000f\\n\u2028\\"\\\\"'],
])("the corners of RFC 8785: %j", (value, text) => {
  expect(canonical(value as Json)).toBe(text);
});
