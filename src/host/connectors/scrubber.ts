import { isObject, type Json } from "../../base/json.ts";

const SCRUBBED = "[redacted]";

/** Shorter secrets would blank out half of every text, and protect nothing. */
const MIN_SECRET = 4;
/** Plain fields of a connection (a URL, an account) are left alone when they are words like `true` or `prod`. */
const MIN_FIELD = 8;
const MIN_BASE64_CORE = 8;
const MAX_SECRETS = 1_000;

/**
 * Takes the exact values of secrets out of what a connector says: raw, URL-encoded, JSON-escaped and in base64
 * at any offset. A secret that comes back cut, reversed or encrypted is not recognised.
 */
export class Scrubber {
  readonly #known = new Set<string>();
  #pattern: RegExp | null = null;

  addSecrets(secrets: readonly string[]): void {
    this.#add(secrets, MIN_SECRET);
  }

  /** Values of a connection that are no secrets but concern nobody else (WX-28). */
  addFields(fields: readonly string[]): void {
    this.#add(fields, MIN_FIELD);
  }

  #add(texts: readonly string[], least: number): void {
    for (const text of texts) {
      const trimmed = text.trim();
      if (trimmed.length < least || this.#known.size >= MAX_SECRETS || this.#known.has(trimmed)) continue;
      this.#known.add(trimmed);
      this.#pattern = null;
    }
  }

  text(text: string): string {
    const pattern = this.#compiled();
    return pattern === null ? text : text.replace(pattern, SCRUBBED);
  }

  /** The value with all its texts and keys scrubbed; the same object where there was nothing to take out. */
  value(value: Json): Json {
    if (this.#compiled() === null) return value;
    return this.#visit(value);
  }

  #visit(value: Json): Json {
    if (typeof value === "string") return this.text(value);
    if (Array.isArray(value)) {
      const items = value.map((item) => this.#visit(item));
      return items.every((item, i) => item === value[i]) ? value : items;
    }
    if (!isObject(value)) return this.#number(value);
    const out: { [key: string]: Json } = {};
    let changed = false;
    for (const key of Object.keys(value)) {
      const before = value[key] as Json;
      const name = this.text(key);
      const after = this.#visit(before);
      if (name !== key || after !== before) changed = true;
      Object.defineProperty(out, name, { value: after, enumerable: true, writable: true, configurable: true });
    }
    return changed ? out : value;
  }

  /** A secret of digits comes back as a number more often than one would think. */
  #number(value: Json): Json {
    return typeof value === "number" && this.#known.has(String(value)) ? SCRUBBED : value;
  }

  #compiled(): RegExp | null {
    if (this.#known.size === 0) return null;
    if (this.#pattern === null) {
      const forms = new Set<string>();
      for (const secret of this.#known) for (const form of formsOf(secret)) forms.add(form);
      const longestFirst = [...forms].sort((a, b) => b.length - a.length);
      this.#pattern = new RegExp(longestFirst.map(escaped).join("|"), "g");
    }
    return this.#pattern;
  }
}

/** The spellings of a secret that are looked for. */
export function formsOf(secret: string): string[] {
  const url = encodeURIComponent(secret.toWellFormed());
  const json = JSON.stringify(secret).slice(1, -1);
  const forms = [
    secret,
    url,
    url.replaceAll("%20", "+"),
    url.replaceAll(/%[0-9A-F]{2}/g, (code) => code.toLowerCase()),
    new URLSearchParams([["", secret]]).toString().slice(1),
    json,
    json.replaceAll("/", "\\/"),
    JSON.stringify(json).slice(1, -1),
  ];
  for (const core of base64Cores(secret)) forms.push(core, core.replaceAll("+", "-").replaceAll("/", "_"));
  return [...new Set(forms)].filter((form) => form.length >= Math.min(MIN_SECRET, secret.length));
}

/** What stays the same of a text's base64, whatever stands before and behind it: one core per offset. */
function base64Cores(secret: string): string[] {
  const bytes = Buffer.from(secret, "utf8");
  const cores: string[] = [];
  for (let offset = 0; offset < 3; offset++) {
    const encoded = Buffer.concat([Buffer.alloc(offset), bytes])
      .toString("base64")
      .replaceAll("=", "");
    const from = Math.ceil((offset * 8) / 6);
    // The last sign mixes with what follows unless the bits come out even.
    const bits = (offset + bytes.length) * 8;
    const to = Math.floor(bits / 6);
    const core = encoded.slice(from, to);
    if (core.length >= MIN_BASE64_CORE) cores.push(core);
  }
  return cores;
}

function escaped(text: string): string {
  return text.replaceAll(/[.*+?^${}()|[\]\\/-]/g, "\\$&");
}
