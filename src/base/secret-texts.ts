/** Shorter ones would blank out half of every text, and protect nothing. */
export const MIN_SECRET = 4;
/** So many texts are looked for; with more, everything counts as secret. */
export const MAX_SECRETS = 1_000;
const MIN_BASE64 = 6;
/** What is put behind a text that was cut. */
const CUT_SIGNS = ["...", "…"];

/**
 * Texts that must not be seen, and where they stand in others, in every spelling of {@link formsOf}. One that comes
 * back reversed or encrypted is not recognised.
 */
export class SecretTexts {
  readonly #known = new Set<string>();
  /** Spellings by their first signs, longest first. */
  #forms: Map<string, string[]> | null = null;
  #starts = new Set<number>();
  #tooMany = false;

  /** More than {@link MAX_SECRETS} were told: what is not looked for could stand anywhere, so all is held secret. */
  get tooMany(): boolean {
    return this.#tooMany;
  }

  get isEmpty(): boolean {
    return this.#known.size === 0;
  }

  /** The texts themselves, without their other spellings. */
  get known(): ReadonlySet<string> {
    return this.#known;
  }

  /** Texts of fewer than `least` signs, but for what is space around them, are passed over. */
  add(text: string, least = MIN_SECRET): void {
    const trimmed = text.trim();
    if (trimmed.length < Math.max(least, MIN_SECRET) || this.#known.has(trimmed)) return;
    if (this.#known.size >= MAX_SECRETS) {
      this.#tooMany = true;
      return;
    }
    this.#known.add(trimmed);
    this.#forms = null;
  }

  /** These and those of another; this very object where they are the same. */
  with(other: SecretTexts): SecretTexts {
    if ([...other.#known].every((text) => this.#known.has(text)) && (this.#tooMany || !other.#tooMany)) return this;
    const both = new SecretTexts();
    both.#tooMany = this.#tooMany || other.#tooMany;
    for (const { known } of [this, other]) for (const text of known) both.add(text);
    return both;
  }

  isIn(text: string): boolean {
    if (this.#tooMany) return text !== "";
    return this.#find(text, 0, false) !== null;
  }

  /**
   * The text with each of them replaced. `cut`: a beginning of one in front of three dots is taken for the rest of
   * one that was cut; only for messages, since it takes harmless words for one now and then.
   */
  replaceIn(text: string, by: string, cut = false): string {
    if (this.#tooMany) return text === "" ? text : by;
    let out = "";
    let at = 0;
    for (let hit = this.#find(text, 0, cut); hit !== null; hit = this.#find(text, at, cut)) {
      out += text.slice(at, hit.from) + by;
      at = hit.to;
    }
    return at === 0 ? text : out + text.slice(at);
  }

  #find(text: string, start: number, cut: boolean): { from: number; to: number } | null {
    const forms = this.#index();
    if (forms.size === 0) return null;
    for (let from = start; from + MIN_SECRET <= text.length; from++) {
      if (!this.#starts.has(text.charCodeAt(from))) continue;
      const fitting = forms.get(text.slice(from, from + MIN_SECRET)) ?? [];
      for (const form of fitting) if (text.startsWith(form, from)) return { from, to: from + form.length };
      if (!cut) continue;
      for (const form of fitting) {
        let to = from + MIN_SECRET;
        while (to < text.length && text[to] === form[to - from]) to++;
        if (CUT_SIGNS.some((sign) => text.startsWith(sign, to))) return { from, to };
      }
    }
    return null;
  }

  #index(): Map<string, string[]> {
    if (this.#forms !== null) return this.#forms;
    const all = new Set<string>();
    for (const secret of this.#known) for (const form of formsOf(secret)) all.add(form);
    const index = new Map<string, string[]>();
    for (const form of [...all].sort((a, b) => b.length - a.length)) {
      const start = form.slice(0, MIN_SECRET);
      const those = index.get(start);
      if (those === undefined) index.set(start, [form]);
      else those.push(form);
    }
    this.#starts = new Set([...index.keys()].map((start) => start.charCodeAt(0)));
    this.#forms = index;
    return index;
  }
}

/** The spellings that are looked for: as it is, in URLs, quoted, and in base64 wherever it stands there (DU-09). */
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
    json.replaceAll(/[\u0080-\uffff]/g, (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, "0")}`),
    JSON.stringify(json).slice(1, -1),
  ];
  for (const core of base64Forms(secret)) forms.push(core, core.replaceAll("+", "-").replaceAll("/", "_"));
  return [...new Set(forms)].filter((form) => form.length >= MIN_SECRET);
}

/** Its base64 alone, and what stays the same of it whatever stands before and behind: one core per offset. */
function base64Forms(secret: string): string[] {
  const bytes = Buffer.from(secret, "utf8");
  const forms = [bytes.toString("base64").replaceAll("=", "")];
  for (let offset = 0; offset < 3; offset++) {
    const encoded = Buffer.concat([Buffer.alloc(offset), bytes]).toString("base64");
    // The signs at both ends mix with what stands there, unless the bits come out even.
    forms.push(encoded.slice(Math.ceil((offset * 8) / 6), Math.floor(((offset + bytes.length) * 8) / 6)));
  }
  return forms.filter((form) => form.length >= MIN_BASE64);
}
