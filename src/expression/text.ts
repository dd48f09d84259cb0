import { mark, peel, type Val } from "../plan/marked.ts";
import { type Kind, kindOf, numberText } from "./values.ts";

/**
 * A value standing inside a longer string, as text; its marks stay on it. Texts, numbers and booleans have
 * one (times are text already when an evaluation ends); null, lists and maps have not.
 */
export function insertText(value: Val): { ok: true; text: Val } | { ok: false; message: string; help: string } {
  const { value: inner, marks } = peel(value);
  if (typeof inner === "string") return { ok: true, text: mark(inner, marks) };
  if (typeof inner === "number") return { ok: true, text: mark(numberText(inner), marks) };
  if (typeof inner === "boolean") return { ok: true, text: mark(String(inner), marks) };
  return { ok: false, ...refusal(kindOf(inner)) };
}

function refusal(kind: Kind): { message: string; help: string } {
  const help =
    kind === "null"
      ? 'say what stands for null: `default(v, "")`, or `json(v)`'
      : kind === "list"
        ? 'write `join(list, ", ")`, or `json(v)`'
        : "write `json(v)`, or name a field of it";
  return { message: `${kind === "null" ? "Null" : `A ${kind}`} cannot stand inside a text.`, help };
}
