import { expect, test } from "vitest";
import type { Val } from "../plan/marked.ts";
import { reportedUsage } from "./usage.ts";

test("two counts are a report, anything else is none", () => {
  expect(reportedUsage({ input: 3, output: 0, total: 3 })).toEqual({ input: 3, output: 0 });
  const none: unknown[] = [
    null,
    7,
    [1, 2],
    {},
    { input: 1 },
    { input: "5", output: 1 },
    { input: 1, output: null },
    { input: true, output: 1 },
    { input: -1, output: 1 },
    { input: 1.5, output: 1 },
    { input: Number.MAX_SAFE_INTEGER, output: 1 },
    { input: 1e300, output: 1 },
  ];
  for (const usage of none) expect(reportedUsage(usage as Val)).toBeNull();
});
