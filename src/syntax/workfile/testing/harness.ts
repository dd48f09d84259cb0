import { expect } from "vitest";
import { hasErrors } from "../../../errors/diagnostic.ts";
import type { Plan } from "../../../plan/plan.ts";
import type { Step } from "../../../plan/step.ts";
import { markedText } from "../../../text/testing/marked-text.ts";
import { parseWorkfile } from "../parse.ts";

const HEAD = `workfile: "1"
name: test
inputs:
  sender: { type: string, required: true }
  kind: { type: string, enum: [good, bad], required: true }
  sure: { type: boolean, required: true }
  maybe: { type: boolean }
  list: { type: array, items: { type: object, fields: { id: integer } }, required: true }
  secret: { type: string, sensitive: true, default: "" }
consts: { channel: ops, limits: { low: 1 } }
steps:
`;

/** Steps become a whole file; a text that begins with `workfile` is one already. */
function whole(text: string): string {
  if (text.startsWith("workfile") || text.startsWith("«workfile")) return text;
  return HEAD + text.replace(/^\n/, "").replace(/^(?=.)/gm, "  ");
}

/**
 * Each finding as `code path`, in text order; the stretches between « and » are where they must stand, in the
 * same order. Without marks the places are not looked at.
 */
export function findings(text: string): string[] {
  const { source, places } = markedText(whole(text));
  const { plan, diagnostics } = parseWorkfile(source);
  expect(plan === null).toBe(hasErrors(diagnostics));
  if (places.length > 0) {
    const spans = diagnostics.map(({ line, column, endLine, endColumn }) => ({ line, column, endLine, endColumn }));
    expect(spans).toEqual(places.map(([start, end]) => source.span(start, end)));
  }
  return diagnostics.map((entry) => `${entry.code} ${entry.path}`.trim());
}

/** The first finding's message and help. */
export function said(text: string): string {
  const { diagnostics } = parseWorkfile(markedText(whole(text)).source);
  return diagnostics.map((entry) => `${entry.message} ${entry.help}`).join("\n");
}

export function planOf(text: string): Plan {
  const { plan, diagnostics } = parseWorkfile(markedText(whole(text)).source);
  expect(diagnostics.filter((entry) => entry.severity === "error")).toEqual([]);
  return plan as Plan;
}

/** The step of an id anywhere in the plan's top list, without spans, as plain JSON. */
export function stepOf(text: string, index = 0): { [key: string]: unknown } {
  return bare(planOf(text).steps[index] as Step) as { [key: string]: unknown };
}

export function bare(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value, (key, part) => (key === "span" ? undefined : part)));
}
