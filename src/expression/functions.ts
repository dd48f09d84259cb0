/**
 * The closed table of functions, as data: the checker reads kinds and counts of arguments from it,
 * `ambit explain functions` prints it. What a plain one does stands in `calls/`. Over 400 lines, since it is
 * one table: a row here is all that a function is, but for its code.
 */
import type { Kind } from "./values.ts";

export type FunctionGroup = "text" | "lists and maps" | "numbers" | "any value" | "times";

/** What a call gives, as far as the table can say it; `same`: the kind of the first argument. */
export type Gives = Kind | "texts" | "numbers" | "same" | "any";

/** One row of the table. `kinds` lists, per argument, the kinds it takes; null: any. */
export interface FunctionRow {
  name: string;
  group: FunctionGroup;
  /** How it may be written: `f(x, y)`, `x.f(y)`; operators and macros have the one form their signature shows. */
  forms: readonly ("call" | "method" | "operator")[];
  signature: string;
  doc: string;
  kinds: readonly (readonly Kind[] | null)[];
  /** How many of the arguments must be there. */
  least: number;
  gives: Gives;
  /** A form the compiler itself knows: its arguments are not evaluated like those of a call. */
  macro?: true;
}

const TEXT = ["text"] as const;
const NUMBER = ["number"] as const;
const LIST = ["list"] as const;
const METHOD = ["method"] as const;
const BOTH = ["call", "method"] as const;
const CALL = ["call"] as const;

type Kinds = FunctionRow["kinds"];

function row<N extends string>(
  name: N,
  group: FunctionGroup,
  forms: FunctionRow["forms"],
  signature: string,
  doc: string,
  kinds: Kinds,
  gives: Gives,
  least = kinds.length,
): FunctionRow & { name: N } {
  return { name, group, forms, signature, doc, kinds, least, gives };
}

function macro(
  name: string,
  group: FunctionGroup,
  forms: FunctionRow["forms"],
  signature: string,
  doc: string,
): FunctionRow {
  return { name, group, forms, signature, doc, kinds: [], least: 0, gives: "any", macro: true };
}

function part<N extends string>(name: N, doc: string): FunctionRow & { name: N } {
  return row(name, "times", METHOD, `t.${name}(zone)`, doc, [["timestamp"], TEXT], "number", 1);
}

function clock<N extends string>(name: N, doc: string): FunctionRow & { name: N } {
  return row(name, "times", METHOD, `t.${name}(zone)`, doc, [["timestamp", "duration"], TEXT], "number", 1);
}

const PLAIN = [
  row(
    "size",
    "text",
    BOTH,
    "size(x)",
    "Characters of a text, elements of a list, keys of a map.",
    [["text", "list", "map"]],
    "number",
  ),
  row("lowerAscii", "text", METHOD, "s.lowerAscii()", "The text with A to Z in lower case.", [TEXT], "text"),
  row("upperAscii", "text", METHOD, "s.upperAscii()", "The text with a to z in upper case.", [TEXT], "text"),
  row("trim", "text", METHOD, "s.trim()", "The text without blanks and line breaks around it.", [TEXT], "text"),
  row("contains", "text", METHOD, "s.contains(part)", "Whether the part stands in the text.", [TEXT, TEXT], "boolean"),
  row(
    "startsWith",
    "text",
    METHOD,
    "s.startsWith(part)",
    "Whether the text begins with the part.",
    [TEXT, TEXT],
    "boolean",
  ),
  row("endsWith", "text", METHOD, "s.endsWith(part)", "Whether the text ends with the part.", [TEXT, TEXT], "boolean"),
  row(
    "indexOf",
    "text",
    METHOD,
    "s.indexOf(part, from)",
    "Where the part first stands, from 0; -1 if it does not. `from` may be left out.",
    [TEXT, TEXT, NUMBER],
    "number",
    2,
  ),
  row(
    "lastIndexOf",
    "text",
    METHOD,
    "s.lastIndexOf(part, from)",
    "Where the part last stands, from 0; -1 if it does not. `from` may be left out.",
    [TEXT, TEXT, NUMBER],
    "number",
    2,
  ),
  row(
    "substring",
    "text",
    METHOD,
    "s.substring(from, to)",
    "The characters from `from` up to, without, `to`; to the end without it.",
    [TEXT, NUMBER, NUMBER],
    "text",
    2,
  ),
  row(
    "split",
    "text",
    METHOD,
    "s.split(separator, most)",
    "The parts between the separators; `most` may bound their number.",
    [TEXT, TEXT, NUMBER],
    "texts",
    2,
  ),
  row(
    "replace",
    "text",
    BOTH,
    "replace(s, a, b)",
    "The text with b in the place of every a.",
    [TEXT, TEXT, TEXT],
    "text",
  ),
  row(
    "matches",
    "text",
    BOTH,
    "s.matches(r'pattern')",
    "Whether the RE2 pattern is found in the text. The pattern is a literal of at most 1 KiB.",
    [TEXT, TEXT],
    "boolean",
  ),
  row(
    "join",
    "lists and maps",
    BOTH,
    "join(list, separator)",
    "The texts, numbers and booleans of a list in one text.",
    [LIST, TEXT],
    "text",
    1,
  ),
  row("keys", "lists and maps", BOTH, "keys(map)", "The keys of a map, sorted.", [["map"]], "texts"),
  row(
    "slice",
    "lists and maps",
    BOTH,
    "slice(x, from, to)",
    "Part of a list or text; negative counts from the end; cut to what is there. `to` may be left out.",
    [["list", "text"], NUMBER, NUMBER],
    "same",
    2,
  ),
  row(
    "sort",
    "lists and maps",
    BOTH,
    'sort(list, "field")',
    "The list in order: all numbers or all texts, or maps by such a field. Equal ones keep their order.",
    [LIST, TEXT],
    "same",
    1,
  ),
  row("reverse", "lists and maps", BOTH, "reverse(list)", "The list from its end.", [LIST], "same"),
  row(
    "flatten",
    "lists and maps",
    BOTH,
    "flatten(list)",
    "The list with the elements of the lists in it, one level.",
    [LIST],
    "list",
  ),
  row(
    "distinct",
    "lists and maps",
    BOTH,
    "distinct(list)",
    "The list without repeated elements; the first of equal ones stays.",
    [LIST],
    "same",
  ),
  row(
    "range",
    "lists and maps",
    BOTH,
    "range(from, to)",
    "The whole numbers from `from` (or 0) up to, without, `to`; at most 1000.",
    [NUMBER, NUMBER],
    "numbers",
    1,
  ),
  row("sum", "numbers", BOTH, "sum(list)", "The sum of a list of numbers; 0 if it is empty.", [LIST], "number"),
  row("min", "numbers", BOTH, "min(list)", "The least of a list of numbers; null if it is empty.", [LIST], "any"),
  row("max", "numbers", BOTH, "max(list)", "The greatest of a list of numbers; null if it is empty.", [LIST], "any"),
  row(
    "round",
    "numbers",
    BOTH,
    "round(x, places)",
    "The number rounded half away from 0 by its text; `places` from 0 (default) to 15.",
    [NUMBER, NUMBER],
    "number",
    1,
  ),
  row("floor", "numbers", BOTH, "floor(x)", "The next whole number below.", [NUMBER], "number"),
  row("ceil", "numbers", BOTH, "ceil(x)", "The next whole number above.", [NUMBER], "number"),
  row("abs", "numbers", BOTH, "abs(x)", "The number without its sign.", [NUMBER], "number"),
  row(
    "json",
    "any value",
    BOTH,
    "json(v)",
    "The value as JSON text (RFC 8785: keys sorted, no blanks).",
    [null],
    "text",
  ),
  row("parse_json", "any value", BOTH, "parse_json(s)", "The value of a JSON text, at most 64 deep.", [TEXT], "any"),
  row(
    "string",
    "any value",
    CALL,
    "string(v)",
    "A number, boolean, timestamp or duration as text.",
    [["text", "number", "boolean", "timestamp", "duration"]],
    "text",
  ),
  row(
    "int",
    "any value",
    CALL,
    "int(v)",
    "A number cut towards 0, a whole number from its text, or the seconds since 1970 of a timestamp.",
    [["text", "number", "timestamp"]],
    "number",
  ),
  row("double", "any value", CALL, "double(v)", "A number, or a number from its text.", [["text", "number"]], "number"),
  row(
    "timestamp",
    "times",
    CALL,
    "timestamp(text)",
    "A moment from RFC 3339 text.",
    [["text", "timestamp"]],
    "timestamp",
  ),
  row(
    "duration",
    "times",
    CALL,
    "duration(text)",
    "A length of time from text like 1h30m or PT36H30M.",
    [["text", "duration"]],
    "duration",
  ),
  part("getFullYear", "The year."),
  part("getMonth", "The month, from 0."),
  part("getDate", "The day of the month, from 1."),
  part("getDayOfMonth", "The day of the month, from 0."),
  part("getDayOfWeek", "The day of the week, Sunday is 0."),
  part("getDayOfYear", "The day of the year, from 0."),
  clock("getHours", "The hour of a timestamp; all whole hours of a duration."),
  clock("getMinutes", "The minute of a timestamp; all whole minutes of a duration."),
  clock("getSeconds", "The second of a timestamp; all whole seconds of a duration."),
  clock("getMilliseconds", "The milliseconds within the second."),
  row(
    "date",
    "times",
    BOTH,
    "date(t, pattern, zone)",
    "A timestamp, or its text, written by a pattern of yyyy MM dd HH mm ss SSS EEE MMM and signs; zone is an IANA name, UTC if left out.",
    [["timestamp", "text"], TEXT, TEXT],
    "text",
    2,
  ),
] as const;

const MACROS: readonly FunctionRow[] = [
  macro(
    "in",
    "lists and maps",
    ["operator"],
    "v in list",
    "Whether the value is an element of the list, or a key of the map.",
  ),
  macro("+", "lists and maps", ["operator"], "list + list", "Both lists, one behind the other."),
  macro(
    "has",
    "lists and maps",
    CALL,
    "has(a.b)",
    "Whether the field is there; false also where the path ends earlier.",
  ),
  macro(
    "cel.bind",
    "lists and maps",
    CALL,
    "cel.bind(x, value, result)",
    "The result, in which x stands for the value.",
  ),
  macro(
    "map",
    "lists and maps",
    METHOD,
    "list.map(x, value)",
    "A value for each element (each key of a map); `map(x, test, value)` for those that pass. Loops nest 2 deep.",
  ),
  macro("filter", "lists and maps", METHOD, "list.filter(x, test)", "The elements that pass the test."),
  macro("all", "lists and maps", METHOD, "list.all(x, test)", "Whether all elements pass the test."),
  macro("exists", "lists and maps", METHOD, "list.exists(x, test)", "Whether some element passes the test."),
  macro(
    "exists_one",
    "lists and maps",
    METHOD,
    "list.exists_one(x, test)",
    "Whether exactly one element passes the test.",
  ),
  macro("default", "any value", BOTH, "default(v, w)", "The value; w where it is null or its path ends early."),
];

/** Names of the functions that are plain calls: each has its code in `calls/`. */
export type FunctionName = (typeof PLAIN)[number]["name"];

const GROUPS: readonly FunctionGroup[] = ["text", "lists and maps", "numbers", "any value", "times"];

/** The whole table, by group. */
export const FUNCTIONS: readonly FunctionRow[] = GROUPS.flatMap((group) =>
  [...PLAIN, ...MACROS].filter((entry) => entry.group === group),
);

const BY_NAME: ReadonlyMap<string, FunctionRow> = new Map(FUNCTIONS.map((entry) => [entry.name, entry]));

/** What to write instead of a name people try, as a help. */
export function insteadOf(name: string): string | undefined {
  const instead = TRIED_NAMES.get(name);
  return instead === undefined || instead.startsWith("there ") ? instead : `write ${instead}`;
}

export function findFunction(name: string): FunctionRow | undefined {
  return BY_NAME.get(name);
}

const NO_CLOCK = "there is no clock, since a replay must find the same time; `run.started_at` is when the run began";

/** Names people try, from other languages and CEL libraries, and what to write instead. */
export const TRIED_NAMES: ReadonlyMap<string, string> = new Map([
  ["toLowerCase", "s.lowerAscii()"],
  ["toLower", "s.lowerAscii()"],
  ["lower", "s.lowerAscii()"],
  ["lowercase", "s.lowerAscii()"],
  ["downcase", "s.lowerAscii()"],
  ["toUpperCase", "s.upperAscii()"],
  ["toUpper", "s.upperAscii()"],
  ["upper", "s.upperAscii()"],
  ["uppercase", "s.upperAscii()"],
  ["upcase", "s.upperAscii()"],
  ["strip", "s.trim()"],
  ["length", "size(x)"],
  ["len", "size(x)"],
  ["count", "size(x), or size(list.filter(x, test))"],
  ["includes", "s.contains(part) for a text, `v in list` for a list"],
  ["has_key", 'has(a.b), or `"key" in map`'],
  ["startswith", "s.startsWith(part)"],
  ["starts_with", "s.startsWith(part)"],
  ["endswith", "s.endsWith(part)"],
  ["ends_with", "s.endsWith(part)"],
  ["index", "s.indexOf(part)"],
  ["find", "list.filter(x, test)[0], or s.indexOf(part)"],
  ["first", "list[0]"],
  ["last", "slice(list, -1)[0]"],
  ["charAt", "s.substring(i, i + 1)"],
  ["at", "list[i]"],
  ["substr", "s.substring(from, to)"],
  ["replaceAll", "replace(s, a, b)"],
  ["test", "s.matches(r'pattern')"],
  ["match", "s.matches(r'pattern')"],
  ["regex", "s.matches(r'pattern')"],
  ["concat", "a + b"],
  ["append", "list + [v]"],
  ["push", "list + [v]"],
  ["some", "list.exists(x, test)"],
  ["any", "list.exists(x, test)"],
  ["every", "list.all(x, test)"],
  ["existsOne", "list.exists_one(x, test)"],
  ["select", "list.filter(x, test)"],
  ["where", "list.filter(x, test)"],
  ["forEach", "list.map(x, value), or a wf.each"],
  ["reduce", "sum(list), or a wf.repeat"],
  ["flatMap", "flatten(list.map(x, value))"],
  ["flat", "flatten(list)"],
  ["unique", "distinct(list)"],
  ["uniq", "distinct(list)"],
  ["sorted", "sort(list)"],
  ["sortBy", 'sort(list, "field")'],
  ["sort_by", 'sort(list, "field")'],
  ["reversed", "reverse(list)"],
  ["values", "keys(map).map(k, map[k])"],
  ["isEmpty", "size(x) == 0"],
  ["coalesce", "default(v, w)"],
  ["orValue", "default(v, w)"],
  ["average", "sum(list) / size(list)"],
  ["avg", "sum(list) / size(list)"],
  ["mean", "sum(list) / size(list)"],
  ["toString", "string(v)"],
  ["str", "string(v)"],
  ["String", "string(v)"],
  ["Number", "double(s)"],
  ["float", "double(s)"],
  ["number", "double(s)"],
  ["parseInt", "int(s)"],
  ["parseFloat", "double(s)"],
  ["integer", "int(s)"],
  ["uint", "int(v)"],
  ["bool", "v == 'true'"],
  ["dyn", "there is no need of a cast: the value itself does"],
  ["type", "there is no way to ask for a kind; test for null with `v != null`"],
  ["typeof", "there is no way to ask for a kind; test for null with `v != null`"],
  ["bytes", "there are no bytes: the text itself does"],
  ["tojson", "json(v)"],
  ["toJson", "json(v)"],
  ["to_json", "json(v)"],
  ["fromjson", "parse_json(s)"],
  ["fromJson", "parse_json(s)"],
  ["from_json", "parse_json(s)"],
  ["quote", "json(v)"],
  ["format", 'date(t, "yyyy-MM-dd"), or texts joined by +'],
  ["strftime", 'date(t, "yyyy-MM-dd")'],
  ["getYear", "t.getFullYear()"],
  ["getDay", "t.getDayOfWeek()"],
  ["now", NO_CLOCK],
  ["today", NO_CLOCK],
  ["Date", "timestamp(text), or run.started_at"],
  ["random", "there is no randomness, since a replay must find the same; use a code step"],
  ["uuid", "there is no randomness, since a replay must find the same; use a code step"],
  ["env", "there is no access to the environment; put plain values into `settings`"],
  ["getenv", "there is no access to the environment; put plain values into `settings`"],
  ["JSON.stringify", "json(v)"],
  ["JSON.parse", "parse_json(s)"],
  ["Math.round", "round(x)"],
  ["Math.floor", "floor(x)"],
  ["Math.ceil", "ceil(x)"],
  ["Math.abs", "abs(x)"],
  ["Math.trunc", "int(x)"],
  ["Math.min", "min([a, b])"],
  ["Math.max", "max([a, b])"],
  ["math.least", "min([a, b])"],
  ["math.greatest", "max([a, b])"],
  ["math.round", "round(x)"],
  ["math.floor", "floor(x)"],
  ["math.ceil", "ceil(x)"],
  ["math.abs", "abs(x)"],
  ["math.trunc", "int(x)"],
  ["Object.keys", "keys(map)"],
  ["Object.values", "keys(map).map(k, map[k])"],
  ["lists.range", "range(n)"],
  ["strings.quote", "json(v)"],
  ["Date.now", NO_CLOCK],
]);
