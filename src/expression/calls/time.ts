import { time } from "../operators.ts";
import { type Calendar, calendarOf, DATE_FIELDS, parseLapse, parseTimestamp, writeDate } from "../times.ts";
import { Lapse, type Plain, Timestamp } from "../values.ts";
import type { Work } from "../work.ts";
import type { Implementation, Implementations } from "./call.ts";

type TimeName =
  | "timestamp"
  | "duration"
  | "getFullYear"
  | "getMonth"
  | "getDate"
  | "getDayOfMonth"
  | "getDayOfWeek"
  | "getDayOfYear"
  | "getHours"
  | "getMinutes"
  | "getSeconds"
  | "getMilliseconds"
  | "date";

/** Looking up a zone's rules is dear beside all else an expression does. */
const ZONE_VISITS = 25;

function calendar(time: Timestamp, zone: Plain | undefined, work: Work): Calendar {
  if (zone !== undefined) work.spend(ZONE_VISITS);
  const found = calendarOf(time, zone as string | undefined);
  return found ?? work.fail("The zone is not known.", "write an IANA name like Europe/Paris");
}

function part(pick: (calendar: Calendar) => number): Implementation {
  return ([stamp, zone], work) => pick(calendar(stamp as Timestamp, zone, work));
}

/** The same name asks a timestamp for its clock and a duration for all its whole units. */
function clock(pick: (calendar: Calendar) => number, unit: (millis: bigint) => bigint): Implementation {
  return ([value, zone], work) => {
    if (!(value instanceof Lapse)) return pick(calendar(value as Timestamp, zone, work));
    if (zone !== undefined) work.fail("A duration has no zone.");
    return Number(unit(value.nanos / 1_000_000n));
  };
}

function stamp(value: Plain | undefined, work: Work): Timestamp {
  if (value instanceof Timestamp) return value;
  const read = parseTimestamp(value as string);
  return read === null
    ? work.fail("The text is no timestamp.", "write RFC 3339: 2026-03-04T08:00:00Z")
    : time(read, work);
}

export const timeCalls: Implementations<TimeName> = {
  timestamp: ([value], work) => stamp(value, work),
  duration: ([value], work) => {
    if (value instanceof Lapse) return value;
    const read = parseLapse(value as string);
    if (read === null)
      return work.fail("The text is no duration.", "write it like 1h30m (d h m s ms, in this order) or PT36H30M");
    return time(read, work);
  },
  getFullYear: part((c) => c.year),
  getMonth: part((c) => c.month - 1),
  getDate: part((c) => c.day),
  getDayOfMonth: part((c) => c.day - 1),
  getDayOfWeek: part((c) => c.weekday),
  getDayOfYear: part((c) => c.yearDay),
  getHours: clock(
    (c) => c.hour,
    (ms) => ms / 3_600_000n,
  ),
  getMinutes: clock(
    (c) => c.minute,
    (ms) => ms / 60_000n,
  ),
  getSeconds: clock(
    (c) => c.second,
    (ms) => ms / 1_000n,
  ),
  getMilliseconds: clock(
    (c) => c.millis,
    (ms) => ms % 1_000n,
  ),
  date: ([value, pattern, zone], work) => {
    work.spendText((pattern as string).length);
    const text = writeDate(calendar(stamp(value, work), zone, work), pattern as string);
    return text === null
      ? work.fail("The pattern of `date` has a letter that means nothing.", `known are ${DATE_FIELDS} and signs`)
      : work.text(text);
  },
};
