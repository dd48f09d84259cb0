/** RFC 8785 text of a value inside an evaluation, and JSON text to a value. */
import { emptyObject, type Json, MAX_JSON_DEPTH } from "../base/json.ts";
import { setOwn } from "../plan/marked.ts";
import { MAX_SIZE } from "./frame.ts";
import { lapseText, timestampText } from "./times.ts";
import { type Cell, type CellMap, Lapse, numberText, Timestamp } from "./values.ts";
import type { Work } from "./work.ts";

/** The canonical text; a timestamp or duration stands as its text. Stops as soon as it grows too long. */
export function writeJson(cell: Cell, work: Work): string {
  return write(cell, work, (time) => `"${time instanceof Timestamp ? timestampText(time) : lapseText(time)}"`);
}

/** A text that is equal for equal values only: a time is told from its text, to the nanosecond. */
export function fingerprint(cell: Cell, work: Work): string {
  return write(cell, work, (time) => `${time instanceof Timestamp ? "t" : "d"}${time.nanos}`);
}

function write(cell: Cell, work: Work, timeText: (time: Timestamp | Lapse) => string): string {
  const out: string[] = [];
  let length = 0;
  const put = (text: string): void => {
    length += text.length;
    // Escapes and pairs make UTF-16 units outnumber characters; the exact bound is checked at the end.
    if (length > 2 * MAX_SIZE) work.frame.checkLength(length, work.where);
    work.spendText(text.length);
    out.push(text);
  };
  const visit = (part: Cell): void => {
    work.spend(1);
    const value = work.open(part);
    if (value === null || typeof value === "boolean") put(String(value));
    else if (typeof value === "number") put(numberText(value));
    else if (typeof value === "string") {
      work.spendText(value.length);
      put(JSON.stringify(value));
    } else if (value instanceof Timestamp || value instanceof Lapse) put(timeText(value));
    else if (Array.isArray(value)) {
      put("[");
      value.forEach((item, i) => {
        if (i > 0) put(",");
        visit(item);
      });
      put("]");
    } else {
      put("{");
      const keys = Object.keys(value);
      work.spend(keys.length);
      // RFC 8785 orders keys by UTF-16 units, as sort() does.
      keys.sort().forEach((key, i) => {
        put(`${i > 0 ? "," : ""}${JSON.stringify(key)}:`);
        visit((value as CellMap)[key] ?? null);
      });
      put("}");
    }
  };
  visit(cell);
  return work.text(out.join(""));
}

/** Reads JSON text. Fails where it is none, is too deep, or holds what no value of a run may hold. */
export function readJson(text: string, work: Work): Cell {
  work.spendText(text.length);
  if (!shallow(text)) work.fail(`The text holds JSON that is more than ${MAX_JSON_DEPTH} deep.`);
  let parsed: Json;
  try {
    parsed = JSON.parse(text) as Json;
  } catch {
    return work.fail("The text is no JSON.", "`parse_json` reads one JSON value, with texts in double quotes");
  }
  return work.frame.made(adopt(parsed, work), work.where);
}

/** Looks at brackets outside of quotes only: what else is wrong the parser says. */
function shallow(text: string): boolean {
  let depth = 0;
  let quoted = false;
  for (let i = 0; i < text.length; i++) {
    const char = text.charCodeAt(i);
    if (quoted) {
      if (char === 0x5c) i++;
      else if (char === 0x22) quoted = false;
    } else if (char === 0x22) quoted = true;
    else if (char === 0x5b || char === 0x7b) {
      depth++;
      if (depth > MAX_JSON_DEPTH) return false;
    } else if (char === 0x5d || char === 0x7d) depth--;
  }
  return true;
}

function adopt(value: Json, work: Work): Cell {
  work.spend(1);
  if (typeof value === "number") {
    if (!Number.isFinite(value) || (Number.isInteger(value) && !Number.isSafeInteger(value))) {
      work.fail("The JSON holds a number beyond what is exact.", "keep such numbers as texts");
    }
    return value === 0 ? 0 : value;
  }
  if (typeof value === "string") {
    if (!value.isWellFormed()) work.fail("The JSON holds a text with half a character.");
    return value;
  }
  if (Array.isArray(value)) {
    work.frame.checkElements(value.length, work.where);
    return value.map((item) => adopt(item, work));
  }
  if (typeof value === "object" && value !== null) {
    const out = emptyObject<Cell>();
    for (const key of Object.keys(value)) {
      if (!key.isWellFormed()) work.fail("The JSON holds a key with half a character.");
      setOwn(out, key, adopt(value[key] ?? null, work));
    }
    return out;
  }
  return value;
}
