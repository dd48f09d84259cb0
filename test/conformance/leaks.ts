/** Looks for a text that must not be there, also where it was written in another form. */

/** Where a text was searched for, by name. */
export interface Place {
  name: PlaceName;
  text: string;
}
export const PLACES = ["agent", "journal", "export", "output", "log"] as const;
export type PlaceName = (typeof PLACES)[number];

/** The places that hold the text: raw, or as base64, percent-encoding or JSON escapes, each in all its spellings. */
export function leaksOf(
  secret: string,
  places: readonly Place[],
): { place: PlaceName; form: string; around: string }[] {
  const forms = formsOf(secret);
  return places.flatMap(({ name, text }) => {
    for (const { form, needle, foldCase } of forms) {
      const at = (foldCase ? text.toLowerCase() : text).indexOf(foldCase ? needle.toLowerCase() : needle);
      if (at !== -1) return [{ place: name, form, around: text.slice(Math.max(0, at - 60), at + needle.length + 20) }];
    }
    const plain = [unescapeJson(text), unescapeUrl(text)].find((decoded) => decoded.includes(secret));
    if (plain === undefined) return [];
    const at = plain.indexOf(secret);
    return [{ place: name, form: "escapes", around: plain.slice(Math.max(0, at - 60), at + secret.length + 20) }];
  });
}

interface Form {
  form: string;
  needle: string;
  foldCase: boolean;
}

function formsOf(secret: string): Form[] {
  const bytes = Buffer.from(secret, "utf8");
  const forms: Form[] = [
    { form: "raw", needle: secret, foldCase: false },
    { form: "JSON", needle: JSON.stringify(secret).slice(1, -1), foldCase: false },
    { form: "URL", needle: encodeURIComponent(secret), foldCase: false },
    { form: "URL (all bytes)", needle: [...bytes].map((byte) => `%${hex(byte, 2)}`).join(""), foldCase: true },
  ];
  // A text inside a longer one meets the groups of three bytes in one of three ways; the ends hang on neighbours.
  for (const lead of [0, 1, 2]) {
    const padded = Buffer.concat([Buffer.alloc(lead), bytes])
      .toString("base64")
      .replace(/=+$/, "");
    const from = lead === 0 ? 0 : lead + 1;
    const to = padded.length - ((lead + bytes.length) % 3 === 0 ? 0 : 1);
    const needle = padded.slice(from, to);
    if (needle.length < 6) continue;
    forms.push({ form: "base64", needle, foldCase: false });
    forms.push({ form: "base64url", needle: needle.replaceAll("+", "-").replaceAll("/", "_"), foldCase: false });
  }
  return forms;
}

function unescapeJson(text: string): string {
  return text
    .replace(/\\+u([0-9a-fA-F]{4})/g, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)))
    .replace(/\\+([nrt"/\\])/g, (_, sign: string) => ({ n: "\n", r: "\r", t: "\t" })[sign] ?? sign);
}

function unescapeUrl(text: string): string {
  return text.replace(/(?:%[0-9a-fA-F]{2})+/g, (run) => Buffer.from(run.replaceAll("%", ""), "hex").toString("utf8"));
}

function hex(value: number, digits: number): string {
  return value.toString(16).padStart(digits, "0");
}
