import { expect, test } from "vitest";
import { runIdProblem } from "./run-id.ts";

test.each(["run_01hx", "a", "2026-11-30T10:00:00Z", "größe", "订单-7", "a..b", "a@b", "x".repeat(128)])(
  "%s is a run id",
  (id) => expect(runIdProblem(id)).toBeNull(),
);

test.each([
  "",
  "@last",
  "@failed",
  "@",
  ".",
  "..",
  ".hidden",
  "../up",
  "a/b",
  "a\\b",
  "--json",
  "a b",
  "a\u00a0b",
  "a\u2028b",
  "a\n",
  "a\u0000",
  "\u001b[2Ja",
  "a\u009b",
  "a\u202eb",
  "a\u2066b",
  "a\u200fb",
  "a\u061cb",
  "a\u200bb",
  "\ufeffa",
  "\ud800",
  "x".repeat(129),
])("%j is none", (id) => expect(runIdProblem(id)).toMatch(/^(is|holds|begins) /));
