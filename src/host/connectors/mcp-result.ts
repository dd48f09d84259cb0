import { isObject, type Json } from "../../base/json.ts";
import type { CallResult } from "../../catalog/connector.ts";

/**
 * What an MCP result means (workfile.md 5): `structuredContent`; without it `{ text }` if all parts are text,
 * joined by a line feed; else `{ content }` as it came. `isError` is a failure with its text as the message.
 */
export function readMcpResult(result: unknown): CallResult {
  if (!isObject(result)) return { is: "unreadable", message: "The server's answer is no result." };
  const content = result["content"];
  const parts = Array.isArray(content) ? content : [];
  if (result["isError"] === true) {
    const text = textOf(parts) ?? "";
    return { is: "failed", code: "action.failed", message: text === "" ? "The tool reported an error." : text };
  }
  const structured = result["structuredContent"];
  if (structured !== undefined) return { is: "ok", value: structured as Json };
  if (!Array.isArray(content)) return { is: "unreadable", message: "The server's answer has no content." };
  const text = textOf(parts);
  return { is: "ok", value: text === null ? { content: content as Json } : { text } };
}

/** The parts' texts, or null if one is no text. */
function textOf(parts: readonly unknown[]): string | null {
  const texts: string[] = [];
  for (const part of parts) {
    if (!isObject(part) || part["type"] !== "text" || typeof part["text"] !== "string") return null;
    texts.push(part["text"]);
  }
  return texts.join("\n");
}
