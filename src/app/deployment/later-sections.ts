import { keyPath } from "../../text/path.ts";
import { clip } from "../../text/reader.ts";
import { toJson } from "../../text/tree.ts";
import { type Keys, keySpan, type Section } from "./section.ts";

/** What no part of the engine reads yet: whoever builds one takes its section off this list. */
const WITHOUT_EFFECT = ["workflows", "models", "sandbox", "coordinate", "awl", "serve"] as const;

/** Sections of parts of the engine that are not there yet: they are checked, and it is said that nothing reads them. */
export function checkLaterSections(section: Section, top: Keys): void {
  for (const key of WITHOUT_EFFECT) section.withoutEffect(top, "", key);
  checkSandbox(section, top);
  checkCoordinate(section, top);
  checkAwl(section, top);
  checkServe(section, top);
}

function checkSandbox(section: Section, top: Keys): void {
  const base = "sandbox";
  const legal = ["languages", "require_os_layer", "private_hosts", "memory", "result", "fetch"];
  const keys = section.map(top, "", base, legal);
  if (!keys) return;
  const languages = keys.get("languages");
  const items = languages ? section.reader.list(languages.value, `${base}.languages`, "languages") : null;
  for (const [i, item] of (items ?? []).entries()) {
    section.reader.oneOf(item, `${base}.languages[${i}]`, "a language", ["python", "javascript"] as const);
  }
  section.boolean(keys, base, "require_os_layer");
  section.texts(keys, base, "private_hosts");
  const memory = section.map(keys, base, "memory", ["python", "javascript"]);
  if (memory) for (const key of ["python", "javascript"]) section.bytes(memory, `${base}.memory`, key);
  section.bytes(keys, base, "result");
  const fetch = section.map(keys, base, "fetch", ["at_once", "calls", "bytes"]);
  if (!fetch) return;
  section.integer(fetch, `${base}.fetch`, "at_once", { min: 1 });
  section.integer(fetch, `${base}.fetch`, "calls", { min: 0 });
  section.bytes(fetch, `${base}.fetch`, "bytes");
}

function checkCoordinate(section: Section, top: Keys): void {
  const base = "coordinate";
  const legal = [
    "entry",
    "allow",
    "depth",
    "children",
    "group",
    "deadline",
    "max_deadline",
    "concurrent",
    "drain_grace",
    "cleanup_grace",
  ];
  const keys = section.map(top, "", base, legal);
  if (!keys) return;
  const entry = section.map(keys, base, "entry", ["library", "cli", "http", "mcp"]);
  for (const key of entry?.keys() ?? []) if (entry) section.texts(entry, `${base}.entry`, key);
  for (const { entry: allowed, path } of section.entries(keys, base, "allow")) {
    section.reader.list(allowed.value, path, "the allowed actions");
  }
  for (const key of ["depth", "children", "group", "concurrent"]) section.integer(keys, base, key, { min: 1 });
  for (const key of ["deadline", "max_deadline"]) section.duration(keys, base, key, { min: 1 });
  for (const key of ["drain_grace", "cleanup_grace"]) section.duration(keys, base, key, {});
}

function checkAwl(section: Section, top: Keys): void {
  const base = "awl";
  const keys = section.map(top, "", base, ["tools", "max_steps", "max_tool_calls", "stall", "goal_interval"]);
  if (!keys) return;
  const tools = keys.get("tools");
  if (tools?.value.kind === "list") section.texts(keys, base, "tools");
  else section.oneOf(keys, base, "tools", ["all"] as const);
  section.integer(keys, base, "max_steps", { min: 1 });
  section.integer(keys, base, "max_tool_calls", { min: 0 });
  section.duration(keys, base, "stall", { min: 1 });
  const interval = keys.get("goal_interval")?.value;
  if (interval && toJson(interval) !== "none") section.duration(keys, base, "goal_interval", { min: 1 });
}

function checkServe(section: Section, top: Keys): void {
  const base = "serve";
  const legal = ["host", "port", "auth_token_file", "public_url", "webhook_secret", "webhooks", "body_limit", "rate"];
  const keys = section.map(top, "", base, legal);
  if (!keys) return;
  for (const key of ["host", "auth_token_file", "public_url"]) section.text(keys, base, key);
  section.integer(keys, base, "port", { min: 0, max: 65_535 });
  section.secret(keys, base, "webhook_secret");
  for (const { entry, path } of section.entries(keys, base, "webhooks")) {
    if (!entry.key.startsWith("/"))
      section.bad(keySpan(entry), path, `A webhook path begins with /: "${clip(entry.key)}".`);
    const hook = section.reader.closed(entry.value, path, "the webhook", ["secret", "header", "delivery"], ["secret"]);
    if (!hook) continue;
    section.secret(hook, path, "secret");
    section.text(hook, path, "header");
    section.text(hook, path, "delivery");
  }
  section.bytes(keys, base, "body_limit");
  readRate(section, keys, base, "rate");
}

/** `10/s` or `100/m` as starts per second; `none` and nonsense (reported) are undefined. */
export function readRate(section: Section, keys: Keys, base: string, key: string): number | undefined {
  const text = section.textOrNone(keys, base, key);
  const entry = keys.get(key);
  if (text === undefined || !entry) return undefined;
  const match = /^([1-9]\d{0,6})\/(s|m|h)$/.exec(text);
  if (match) return Number(match[1]) / { s: 1, m: 60, h: 3_600 }[match[2] as "s" | "m" | "h"];
  section.bad(entry.value, keyPath(base, key), `${key} is no rate: "${clip(text)}".`, "Write it like 10/s or 100/m.");
  return undefined;
}
