/** Timestamps and lengths of time: their texts and their calendar. */
import { Lapse, NANOS_PER_MS, NANOS_PER_SECOND, Timestamp } from "./values.ts";

/** 0001-01-01T00:00:00Z and 9999-12-31T23:59:59.999999999Z. */
const FIRST = -62_135_596_800n * NANOS_PER_SECOND;
const LAST = 253_402_300_800n * NANOS_PER_SECOND - 1n;
/** CEL's bound, 64 bits of nanoseconds: about 292 years. */
const LONGEST = 2n ** 63n - 1n;

export function inRange(time: Timestamp | Lapse): boolean {
  if (time instanceof Timestamp) return time.nanos >= FIRST && time.nanos <= LAST;
  return time.nanos >= -LONGEST && time.nanos <= LONGEST;
}

const RFC_3339 = /^(\d{4})-(\d{2})-(\d{2})[Tt](\d{2}):(\d{2}):(\d{2})(?:\.(\d{1,20}))?(?:[Zz]|([+-])(\d{2}):(\d{2}))$/;

/** A moment of RFC 3339 text; null if it is none. */
export function parseTimestamp(text: string): Timestamp | null {
  const found = text.length > 64 ? null : RFC_3339.exec(text);
  if (found === null) return null;
  const [year, month, day, hour, minute, second] = found.slice(1, 7).map(Number) as [
    number,
    number,
    number,
    number,
    number,
    number,
  ];
  const zoneHour = Number(found[9] ?? 0);
  const zoneMinute = Number(found[10] ?? 0);
  if (month < 1 || month > 12 || day < 1 || day > daysIn(year, month)) return null;
  if (hour > 23 || minute > 59 || second > 59 || zoneHour > 23 || zoneMinute > 59) return null;
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  date.setUTCHours(hour, minute, second);
  const offset = (zoneHour * 60 + zoneMinute) * (found[8] === "-" ? -60 : 60);
  const seconds = BigInt(date.getTime() / 1000 - offset);
  const stamp = new Timestamp(seconds * NANOS_PER_SECOND + fraction(found[7]));
  return inRange(stamp) ? stamp : null;
}

function daysIn(year: number, month: number): number {
  if (month === 2) return (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0 ? 29 : 28;
  return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31;
}

/** Nanoseconds of the digits behind the point; finer ones are cut. */
function fraction(digits: string | undefined): bigint {
  return digits === undefined ? 0n : BigInt(digits.slice(0, 9).padEnd(9, "0"));
}

const SHORT = /^(?:(\d+)d)?(?:(\d+)h)?(?:(\d+)m(?!s))?(?:(\d+)s)?(?:(\d+)ms)?$/;
const ISO = /^(-)?P(?:(\d+)D)?(?:T(?=\d)(?:(\d+)H)?(?:(\d+)M)?(?:(\d+)(?:\.(\d+))?S)?)?$/;

/** A length of time from `1h30m` or ISO 8601 of days and smaller, a sign and a fraction of seconds allowed; null if it is none. */
export function parseLapse(text: string): Lapse | null {
  if (text.length > 64 || !/\d/.test(text)) return null;
  const short = SHORT.exec(text);
  let nanos: bigint;
  if (short) {
    const [days, hours, minutes, seconds, millis] = short.slice(1, 6).map((part) => BigInt(part ?? 0));
    nanos = total(days, hours, minutes, seconds) + (millis ?? 0n) * NANOS_PER_MS;
  } else {
    const iso = ISO.exec(text);
    if (iso === null) return null;
    const [days, hours, minutes, seconds] = iso.slice(2, 6).map((part) => BigInt(part ?? 0));
    nanos = total(days, hours, minutes, seconds) + fraction(iso[6]);
    if (iso[1] !== undefined) nanos = -nanos;
  }
  const lapse = new Lapse(nanos);
  return inRange(lapse) ? lapse : null;
}

function total(days = 0n, hours = 0n, minutes = 0n, seconds = 0n): bigint {
  return (((days * 24n + hours) * 60n + minutes) * 60n + seconds) * NANOS_PER_SECOND;
}

/** `2026-03-04T08:00:00Z`, milliseconds only if there are any; finer is cut. */
export function timestampText(time: Timestamp): string {
  return new Date(wholeMillis(time)).toISOString().replace(".000Z", "Z");
}

/** Milliseconds since 1970, the finer part cut: downwards, so that the text never names a later moment. */
function wholeMillis(time: Timestamp): number {
  return Number(floorDiv(time.nanos, NANOS_PER_MS));
}

/** `PT36H30M`, `-PT0.5S`; milliseconds are the finest. */
export function lapseText(lapse: Lapse): string {
  const negative = lapse.nanos < 0n;
  let rest = (negative ? -lapse.nanos : lapse.nanos) / NANOS_PER_MS;
  if (rest === 0n) return "PT0S";
  const millis = rest % 1000n;
  rest /= 1000n;
  const seconds = rest % 60n;
  const minutes = (rest / 60n) % 60n;
  const hours = rest / 3600n;
  let text = negative ? "-PT" : "PT";
  if (hours > 0n) text += `${hours}H`;
  if (minutes > 0n) text += `${minutes}M`;
  if (millis > 0n) text += `${seconds}.${String(millis).padStart(3, "0").replace(/0+$/, "")}S`;
  else if (seconds > 0n) text += `${seconds}S`;
  return text;
}

/** Whole seconds since 1970. */
export function epochSeconds(time: Timestamp): number {
  return Number(floorDiv(time.nanos, NANOS_PER_SECOND));
}

function floorDiv(a: bigint, b: bigint): bigint {
  const quotient = a / b;
  return a % b < 0n ? quotient - 1n : quotient;
}

/** A moment as a calendar of some zone shows it. Months and days of the month from 1, Sunday is 0. */
export interface Calendar {
  year: number;
  month: number;
  day: number;
  weekday: number;
  yearDay: number;
  hour: number;
  minute: number;
  second: number;
  millis: number;
}

const FIXED = /^([+-]?)(\d{2}):(\d{2})$/;
const MAX_FORMATS = 64;
const formats = new Map<string, Intl.DateTimeFormat>();

/** Making a formatter is dear, so some are kept; a bounded number, since zone names may come from data. */
function formatOf(zone: string): Intl.DateTimeFormat | null {
  const known = formats.get(zone);
  if (known !== undefined) return known;
  try {
    const made = new Intl.DateTimeFormat("en-US-u-ca-iso8601-nu-latn", {
      timeZone: zone,
      hourCycle: "h23",
      year: "numeric",
      month: "numeric",
      day: "numeric",
      hour: "numeric",
      minute: "numeric",
      second: "numeric",
    });
    if (formats.size >= MAX_FORMATS) formats.clear();
    formats.set(zone, made);
    return made;
  } catch {
    return null;
  }
}

/** Whether `zone` is an IANA name, or an offset like +01:00. */
export function isZone(zone: string): boolean {
  return FIXED.test(zone) || formatOf(zone) !== null;
}

/** The calendar of a moment in a zone (UTC if left out); null for an unknown zone. */
export function calendarOf(time: Timestamp, zone: string | undefined): Calendar | null {
  const millis = wholeMillis(time);
  if (zone === undefined || zone === "UTC") return fromLocal(millis);
  const fixed = FIXED.exec(zone);
  if (fixed !== null) {
    const minutes = Number(fixed[2]) * 60 + Number(fixed[3]);
    return fromLocal(millis + (fixed[1] === "-" ? -minutes : minutes) * 60_000);
  }
  const format = formatOf(zone);
  if (format === null) return null;
  const parts: { [type: string]: number } = {};
  for (const piece of format.formatToParts(millis)) parts[piece.type] = Number(piece.value);
  const local = new Date(0);
  local.setUTCFullYear(parts["year"] ?? 0, (parts["month"] ?? 1) - 1, parts["day"] ?? 1);
  local.setUTCHours(parts["hour"] ?? 0, parts["minute"] ?? 0, parts["second"] ?? 0, ((millis % 1000) + 1000) % 1000);
  return fromLocal(local.getTime());
}

/** The calendar of a moment that has been moved by its zone's offset. */
function fromLocal(millis: number): Calendar {
  const date = new Date(millis);
  const newYear = new Date(0);
  newYear.setUTCFullYear(date.getUTCFullYear(), 0, 1);
  return {
    year: date.getUTCFullYear(),
    month: date.getUTCMonth() + 1,
    day: date.getUTCDate(),
    weekday: date.getUTCDay(),
    yearDay: Math.floor((millis - newYear.getTime()) / 86_400_000),
    hour: date.getUTCHours(),
    minute: date.getUTCMinutes(),
    second: date.getUTCSeconds(),
    millis: date.getUTCMilliseconds(),
  };
}

const DAYS = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"];
const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

const FIELDS: ReadonlyMap<string, (calendar: Calendar) => string> = new Map([
  ["yyyy", (c: Calendar) => String(c.year).padStart(4, "0")],
  ["MM", (c: Calendar) => String(c.month).padStart(2, "0")],
  ["dd", (c: Calendar) => String(c.day).padStart(2, "0")],
  ["HH", (c: Calendar) => String(c.hour).padStart(2, "0")],
  ["mm", (c: Calendar) => String(c.minute).padStart(2, "0")],
  ["ss", (c: Calendar) => String(c.second).padStart(2, "0")],
  ["SSS", (c: Calendar) => String(c.millis).padStart(3, "0")],
  ["EEE", (c: Calendar) => DAYS[c.weekday] ?? ""],
  ["MMM", (c: Calendar) => MONTHS[c.month - 1] ?? ""],
]);

export const DATE_FIELDS = [...FIELDS.keys()].join(" ");

/** The text of a calendar by a pattern; null if the pattern has a letter that means nothing. */
export function writeDate(calendar: Calendar, pattern: string): string | null {
  let known = true;
  const text = pattern.replace(/([A-Za-z])\1*/g, (run) => {
    const write = FIELDS.get(run);
    if (write === undefined) known = false;
    return write?.(calendar) ?? "";
  });
  return known ? text : null;
}
