/** stdout is data, stderr is talk. */
export interface Terminal {
  out(text: string): void;
  err(text: string): void;
  /** One line of talk, above whatever is drawn on the terminal. */
  say(line: string): void;
  /** Lines of talk go through `to` from now on; null: straight to stderr. */
  route(to: ((line: string) => void) | null): void;
  readonly color: Paint;
  readonly json: boolean;
}

export interface Paint {
  bold(text: string): string;
  dim(text: string): string;
  red(text: string): string;
  green(text: string): string;
  yellow(text: string): string;
  cyan(text: string): string;
}

export type ColorChoice = "auto" | "always" | "never";

type Environment = { readonly [name: string]: string | undefined };

/** NO_COLOR, FORCE_COLOR, TERM=dumb and `--color`, in the order in which they win. */
export function wantsColor(choice: ColorChoice, env: Environment, isTTY: boolean): boolean {
  if (choice !== "auto") return choice === "always";
  if (env["NO_COLOR"] !== undefined && env["NO_COLOR"] !== "") return false;
  const force = env["FORCE_COLOR"];
  if (force !== undefined) return force !== "0" && force !== "false";
  return isTTY && env["TERM"] !== "dumb";
}

export function paint(on: boolean): Paint {
  const style =
    (open: number, close: number) =>
    (text: string): string =>
      on && text !== "" ? `\u001b[${open}m${text}\u001b[${close}m` : text;
  return {
    bold: style(1, 22),
    dim: style(2, 22),
    red: style(31, 39),
    green: style(32, 39),
    yellow: style(33, 39),
    cyan: style(36, 39),
  };
}

export function processTerminal(choice: ColorChoice, json: boolean): Terminal {
  let routed: ((line: string) => void) | null = null;
  // Each stream for itself: what goes into a pipe stays plain, whatever the other one is.
  const [outColor, errColor] = [process.stdout, process.stderr].map((stream) =>
    wantsColor(choice, process.env, stream.isTTY === true),
  );
  const err = (text: string): void => void process.stderr.write(errColor ? text : withoutColor(text));
  return {
    out: (text) => void process.stdout.write(outColor ? text : withoutColor(text)),
    err,
    say: (line) => (routed === null ? err(`${line}\n`) : routed(line)),
    route: (to) => {
      routed = to;
    },
    color: paint(outColor === true || errColor === true),
    json,
  };
}

/** A text of ours without its colors: texts from outside hold no escapes any more. */
export function withoutColor(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is taken out
  return text.replace(/\u001b\[\d+m/g, "");
}

// Control characters of texts from outside would otherwise move the cursor, clear the screen or fake output; marks of
// the writing direction would show a text in another order than it is read.
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is replaced here
const CONTROL = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g;

/** Text from outside as it may be shown: no control characters, line breaks kept. */
export function safeText(text: string): string {
  return text.replace(CONTROL, (char) => {
    const code = char.charCodeAt(0);
    return code < 256 ? `\\x${code.toString(16).padStart(2, "0")}` : `\\u${code.toString(16).padStart(4, "0")}`;
  });
}

const WIDE =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6\u{20000}-\u{3fffd}]|\p{Emoji_Presentation}/u;

/** The columns that a character takes on a terminal, shown safely: 2 for wide ones, 0 for what combines. */
export function columnsOf(char: string): number {
  const safe = safeText(char);
  if (safe !== char) return safe.length;
  if (/^(?:\p{Mn}|\p{Me}|\u200b|\u200c|\u200d)$/u.test(char)) return 0;
  return WIDE.test(char) ? 2 : 1;
}

/** JSON with the same characters escaped: it reads back as the same value. */
export function jsonText(value: unknown, indent?: number): string {
  return escapedJson(JSON.stringify(value, null, indent));
}

/** The same for a text that is JSON already. */
export function escapedJson(json: string): string {
  return json.replace(CONTROL, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

/** The same on one line, cut to `max` characters. */
export function oneLine(text: string, max = 200): string {
  const line = safeText(text.replace(/\s+/g, " ").trim());
  const chars = [...line];
  return chars.length > max ? `${chars.slice(0, max - 1).join("")}…` : line;
}
