// The request of an operation.
//
// I1: no argument leads out of the base URL: not by `/`, `..`, `\`, `@`, `?`, `#`, raw or encoded.
// I2: no argument adds a header, or stands in one that speaks for us.
// I3: what is not an argument of the operation is not sent.
import { isObject, type Json, type JsonObject } from "../../base/json.ts";
import { headerProblem } from "./http-send.ts";
import type { Operation, Parameter } from "./openapi-document.ts";

export interface BuiltRequest {
  url: URL;
  headers: { [name: string]: string };
  body: Buffer | null;
}

const MAX_URL_LENGTH = 16_384;
const MAX_BODY_BYTES = 16 * 1024 * 1024;

/** Puts arguments into an operation's request; `problem` is a sentence about them. */
export function buildRequest(operation: Operation, base: URL, args: JsonObject): BuiltRequest | { problem: string } {
  const known = new Set([...operation.parameters.map(({ argument }) => argument), operation.body?.argument]);
  for (const name of Object.keys(args)) {
    if (!known.has(name)) return { problem: `The operation has no argument ${JSON.stringify(name.slice(0, 80))}.` };
  }
  const given = (parameter: Parameter): Json | undefined =>
    Object.hasOwn(args, parameter.argument) ? args[parameter.argument] : undefined;
  const located = locate(operation, base, given);
  if ("problem" in located) return located;
  const { url } = located;
  const headers: { [name: string]: string } = { Accept: "application/json, */*;q=0.5" };
  for (const parameter of operation.parameters) {
    const value = given(parameter);
    if (value === undefined) continue;
    if (parameter.in === "query") addToQuery(url, parameter, value);
    if (parameter.in !== "header") continue;
    const text = Array.isArray(value) ? value.map(said).join(",") : said(value);
    const problem = headerProblem(parameter.name, text);
    if (problem !== null) return { problem: `The header ${parameter.argument} ${problem}.` };
    headers[parameter.name] = text;
  }
  if (url.href.length > MAX_URL_LENGTH) return { problem: "The arguments make a URL that is too long." };
  const body = bodyOf(operation, args, headers);
  if (body !== null && "problem" in body) return body;
  return { url, headers, body };
}

function locate(
  operation: Operation,
  base: URL,
  given: (parameter: Parameter) => Json | undefined,
): { url: URL } | { problem: string } {
  let problem: string | null = null;
  const filled = operation.path.replaceAll(/\{([^{}]*)\}/g, (_whole, name: string) => {
    const parameter = operation.parameters.find((entry) => entry.in === "path" && entry.name === name);
    const value = parameter && given(parameter);
    if (parameter === undefined || value === undefined) {
      problem = `The argument ${name} is missing.`;
      return "";
    }
    const parts = (Array.isArray(value) ? value : [value]).map(said);
    const text = parts.join(",");
    problem ??= segmentProblem(text, parameter.argument);
    return parts.map((part) => encodeURIComponent(part.toWellFormed())).join(",");
  });
  if (problem !== null) return { problem };
  const root = base.pathname.replace(/\/+$/, "");
  const path = `${root}${filled}`;
  const url = new URL(base.href);
  url.search = "";
  url.hash = "";
  url.pathname = path;
  // I1: whatever the signs were, the place is the one that was written, segment by segment.
  const isSame = url.origin === base.origin && decoded(url.pathname) === decoded(path);
  const isBelow = root === "" || url.pathname.startsWith(`${new URL(base.href).pathname.replace(/\/+$/, "")}/`);
  if (!isSame || !isBelow) return { problem: "The arguments lead out of the service's base URL." };
  return { url };
}

/** A server behind a careless gateway decodes what we encode: what would climb then is refused. */
function segmentProblem(text: string, name: string): string | null {
  if (text === "") return `The argument ${name} is empty, and stands in the path.`;
  if (/\p{Cc}/u.test(text)) return `The argument ${name} holds a control character.`;
  let seen = text;
  for (let round = 0; round < 3; round++) {
    if (seen.split(/[/\\]/).some((part) => /^\.{1,2}(?:;.*)?$/.test(part))) {
      return `The argument ${name} holds . or .. as a step of a path.`;
    }
    const next = decoded(seen);
    if (next === seen) return null;
    seen = next;
  }
  return `The argument ${name} is encoded again and again.`;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function addToQuery(url: URL, { name, style }: Parameter, value: Json): void {
  const add = (key: string, text: string): void => url.searchParams.append(key, text);
  if (style === "json") add(name, JSON.stringify(value));
  else if (Array.isArray(value)) {
    if (style === "joined") add(name, value.map(said).join(","));
    else for (const item of value) add(name, said(item));
  } else if (isObject(value)) {
    const entries = Object.entries(value) as [string, Json][];
    if (style === "joined") add(name, entries.flatMap(([key, item]) => [key, said(item)]).join(","));
    else for (const [key, item] of entries) add(style === "deep" ? `${name}[${key}]` : key, said(item));
  } else add(name, said(value));
}

function bodyOf(
  operation: Operation,
  args: JsonObject,
  headers: { [name: string]: string },
): Buffer | null | { problem: string } {
  const { body } = operation;
  if (body === null || !Object.hasOwn(args, body.argument)) return null;
  const value = args[body.argument] ?? null;
  let text: string;
  if (body.form === "json") text = JSON.stringify(value);
  else if (body.form === "text") {
    if (typeof value !== "string") return { problem: "The body must be a text." };
    text = value.toWellFormed();
  } else {
    if (!isObject(value)) return { problem: "The body must be a map of fields." };
    const fields = new URLSearchParams();
    for (const [name, item] of Object.entries(value)) {
      for (const one of Array.isArray(item) ? item : [item]) fields.append(name, said(one as Json));
    }
    text = fields.toString();
  }
  const bytes = Buffer.from(text, "utf8");
  if (bytes.length > MAX_BODY_BYTES) return { problem: "The body has more than 16 MiB." };
  headers["Content-Type"] = body.form === "json" && !body.type.includes("*") ? body.type : typeFor(body.form);
  return bytes;
}

function typeFor(form: "json" | "form" | "text"): string {
  if (form === "json") return "application/json";
  return form === "form" ? "application/x-www-form-urlencoded" : "text/plain; charset=utf-8";
}

/** A value as text; what is no scalar as JSON. */
function said(value: Json): string {
  if (typeof value === "string") return value.toWellFormed();
  return value === null ? "" : typeof value === "object" ? JSON.stringify(value) : String(value);
}
