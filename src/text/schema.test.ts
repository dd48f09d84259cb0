import { Ajv } from "ajv";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parseDuration } from "../base/duration.ts";
import {
  closed,
  DURATION_PATTERN,
  durationOrExpression,
  integer,
  list,
  mapOr,
  open,
  type Schema,
  text,
} from "./schema.ts";

const messages = (schema: Schema, value: unknown): string[] => {
  const check = new Ajv({ strict: false, allErrors: true }).compile(schema);
  check(value);
  return (check.errors ?? [])
    .filter(({ keyword }) => keyword !== "if")
    .map((error) => `${error.instancePath} ${error.message}`);
};

describe("schemas in the reader's terms", () => {
  const point = closed({ x: integer({ min: 0 }), y: integer({ max: 9 }) }, ["x", "y"]);

  test("I1: a misspelt key is one fault, not a stranger and a missing one", () => {
    expect(messages(point, { x: 1, z: 2 })).toEqual([" must NOT have additional properties"]);
    expect(messages(point, { x: 1 })).toEqual([" must have required property 'y'"]);
    expect(messages(point, { x: 1, y: 2 })).toEqual([]);
  });

  test("I2: what is a map is judged as one, whatever else could stand there", () => {
    const either = mapOr(point, text());
    expect(messages(either, "words")).toEqual([]);
    expect(messages(either, { x: -1, y: 2 })).toEqual(["/x must be >= 0"]);
    expect(messages(either, 3)).toEqual([" must be string"]);
  });

  test("open maps and lists hold values of one kind", () => {
    expect(messages(open(integer({}), text({}, "^a")), { ab: 1, ac: "x" })).toEqual(["/ac must be integer"]);
    expect(messages(open(integer({}), text({}, "^a")), { b: 1 })).not.toEqual([]);
    expect(messages(list(integer({})), [1, true])).toEqual(["/1 must be integer"]);
  });

  test("an expression may stand where a duration may be computed", () => {
    expect(messages(durationOrExpression(), "{{ consts.pause }}")).toEqual([]);
    expect(messages(durationOrExpression(), "soon")).toHaveLength(1);
  });
});

test("the pattern of durations takes what the reader takes", () => {
  const pattern = new RegExp(DURATION_PATTERN, "u");
  const part = fc.constantFrom(
    "1",
    "30",
    "0",
    "d",
    "h",
    "m",
    "s",
    "ms",
    "P",
    "T",
    "D",
    "H",
    "M",
    "S",
    ".5",
    "-",
    " ",
    "W",
  );
  fc.assert(
    fc.property(
      fc.array(part, { maxLength: 7 }).map((parts) => parts.join("")),
      (words) => {
        const read = parseDuration(words);
        // How long it may be no pattern can say.
        expect(pattern.test(words), words).toBe(read.ok || read.message.startsWith("longer than"));
      },
    ),
    { numRuns: 20_000, examples: [["1h30m"], ["PT30S"], ["P1DT0.5S"], ["5"], [""], ["30m"], ["30ms"], ["1m30ms"]] },
  );
});
