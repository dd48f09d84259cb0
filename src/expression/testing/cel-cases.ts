/**
 * The CEL project's own test cases, brought into the terms of this language: which of them speak of things it
 * has, and what their bindings and expected values are as JSON.
 */
import { tests } from "@bufbuild/cel-spec/testdata/conformance.js";
import { isObject, type Json } from "../../base/json.ts";
import { lapseText, parseTimestamp, timestampText } from "../times.ts";
import { Lapse } from "../values.ts";

export interface CelCase {
  /** `file/section/name`, with the source behind it where a name stands twice. */
  id: string;
  source: string;
  bindings: { readonly [name: string]: Json };
  expected: { value: Json } | "failure";
}

/** Files and sections that speak of what this language has: the rest is about messages, enums, bytes, types, extensions. */
const SECTIONS: { readonly [file: string]: readonly string[] | "all" } = {
  basic: "all",
  bindings_ext: "all",
  comparisons: "all",
  conversions: ["double", "dyn", "int", "string", "identity"],
  fields: ["map_fields", "map_has", "quoted_map_fields", "in"],
  fp_math: "all",
  integer_math: ["int64_math"],
  lists: "all",
  logic: "all",
  macros: "all",
  parse: ["nest", "repeat", "string_literals", "whitespace", "comments", "selectors", "receiver_function_names"],
  plumbing: "all",
  string: ["size", "starts_with", "ends_with", "matches", "concatenation", "contains"],
  string_ext: [
    "index_of",
    "last_index_of",
    "ascii_casing",
    "replace",
    "split",
    "substring",
    "trim",
    "join",
    "value_errors",
  ],
  timestamps: "all",
};

/** Section 3: no bytes, unsigned numbers, types, messages, and no way to ask for one. */
const ABSENT =
  /\d[uU]\b|\b[rR]?[bB][rR]?['"]|\b(?:uint|bytes|type|optional|proto)\s*\(|google\.protobuf|TestAllTypes|\bcel\.(?:block|@)|\b(?:int|uint|double|bool|string|bytes|list|map|type|null_type)\s*(?:$|[,)\]}]|==|!=)/;

interface Suite {
  name: string;
  suites?: Suite[];
  tests?: { original: { name?: string; expr: string; [key: string]: unknown } }[];
}

/** The cases that apply, and how many others there are. */
export function celCases(): { cases: CelCase[]; others: number } {
  const cases: CelCase[] = [];
  const seen = new Set<string>();
  let others = 0;
  for (const file of (tests as Suite).suites ?? []) {
    const wanted = SECTIONS[file.name];
    for (const section of file.suites ?? []) {
      for (const { original } of section.tests ?? []) {
        const inScope = wanted === "all" || wanted?.includes(section.name) === true;
        const found = inScope ? toCase(original) : null;
        if (found === null) {
          others++;
          continue;
        }
        let id = `${file.name}/${section.name}/${original.name ?? ""}`;
        if (seen.has(id)) id += ` ${original.expr}`;
        seen.add(id);
        cases.push({ id, ...found });
      }
    }
  }
  return { cases, others };
}

function toCase(original: { expr: string; [key: string]: unknown }): Omit<CelCase, "id"> | null {
  if (ABSENT.test(original.expr) || original["checkOnly"] === true || original["typedResult"] !== undefined)
    return null;
  const container = original["container"];
  if (typeof container === "string" && container !== "") return null;
  const bindings: { [name: string]: Json } = {};
  for (const [name, binding] of Object.entries(
    (original["bindings"] ?? {}) as { [name: string]: { value?: unknown } },
  )) {
    const value = toJson(binding.value);
    if (value === undefined) return null;
    bindings[name] = value;
  }
  // Nothing has a static type here, so `dyn` is what it does: nothing.
  const source = original.expr.replace(/\bdyn\(/g, "(");
  if (original["evalError"] !== undefined) return { source, bindings, expected: "failure" };
  const value = original["value"] === undefined ? true : toJson(original["value"]);
  return value === undefined ? null : { source, bindings, expected: { value } };
}

/** The JSON of a value of the test data; undefined where this language has no such value. */
function toJson(value: unknown): Json | undefined {
  if (!isObject(value)) return undefined;
  const [kind] = Object.keys(value);
  const inner = value[kind ?? ""];
  switch (kind) {
    case "nullValue":
      return null;
    case "boolValue":
    case "stringValue":
      return inner as Json;
    case "int64Value":
    case "doubleValue":
      return Number(inner);
    case "listValue":
      return all(((inner as { values?: unknown[] }).values ?? []).map(toJson));
    case "mapValue": {
      const out: { [key: string]: Json } = {};
      for (const entry of (inner as { entries?: { key: unknown; value: unknown }[] }).entries ?? []) {
        const key = toJson(entry.key);
        const field = toJson(entry.value);
        if (typeof key !== "string" || field === undefined) return undefined;
        out[key] = field;
      }
      return out;
    }
    case "objectValue": {
      const message = inner as { "@type"?: string; value?: string };
      if (message["@type"]?.endsWith("protobuf.Timestamp")) {
        const stamp = parseTimestamp(message.value ?? "");
        return stamp === null ? undefined : timestampText(stamp);
      }
      const seconds = /^(-?)(\d+)(?:\.(\d+))?s$/.exec(message.value ?? "");
      if (!message["@type"]?.endsWith("protobuf.Duration") || seconds === null) return undefined;
      const nanos = BigInt(`${seconds[2]}${(seconds[3] ?? "").padEnd(9, "0")}`);
      return lapseText(new Lapse(seconds[1] === "-" ? -nanos : nanos));
    }
    default:
      return undefined;
  }
}

function all(values: (Json | undefined)[]): Json | undefined {
  return values.some((value) => value === undefined) ? undefined : (values as Json[]);
}
