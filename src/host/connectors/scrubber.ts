import { isObject, type Json } from "../../base/json.ts";
import { SecretTexts } from "../../base/secret-texts.ts";

const SCRUBBED = "[redacted]";

/** Plain fields of a connection (a URL, an account) are left alone when they are words like `true` or `prod`. */
const MIN_FIELD = 8;

/**
 * Takes the exact values of secrets out of what a connector says, in every spelling of base/secret-texts.ts. With
 * more of them than can be looked for, nothing that it says is kept.
 */
export class Scrubber {
  readonly #secrets = new SecretTexts();

  addSecrets(secrets: readonly string[]): void {
    for (const text of secrets) this.#secrets.add(text);
  }

  /** Values of a connection that are no secrets but concern nobody else (WX-28). */
  addFields(fields: readonly string[]): void {
    for (const text of fields) this.#secrets.add(text, MIN_FIELD);
  }

  text(text: string): string {
    return this.#secrets.replaceIn(text, SCRUBBED);
  }

  /** A message, of which somebody else may have cut the end off. */
  message(text: string): string {
    return this.#secrets.replaceIn(text, SCRUBBED, true);
  }

  /** The value with all its texts and keys scrubbed; the same object where there was nothing to take out. */
  value(value: Json): Json {
    if (this.#secrets.isEmpty) return value;
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
    if (typeof value !== "number") return value;
    return this.#secrets.tooMany || this.#secrets.known.has(String(value)) ? SCRUBBED : value;
  }
}
