const MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
const DAYS = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];

interface CronField {
  name: string;
  min: number;
  max: number;
  words: readonly string[];
}

const FIELDS: readonly CronField[] = [
  { name: "minute", min: 0, max: 59, words: [] },
  { name: "hour", min: 0, max: 23, words: [] },
  { name: "day", min: 1, max: 31, words: [] },
  { name: "month", min: 1, max: 12, words: MONTHS },
  { name: "weekday", min: 0, max: 7, words: DAYS },
];

/** What is wrong with a cron text of five fields (a sentence), or null. Lists, ranges, steps, English names. */
export function cronProblem(text: string): string | null {
  const parts = text.trim().split(/\s+/);
  if (text.length > 256 || parts.length !== FIELDS.length) return "A cron text has five fields.";
  for (const [i, field] of FIELDS.entries()) {
    for (const part of (parts[i] ?? "").split(",")) {
      if (!fits(part, field)) return `The ${field.name} of the cron text cannot be "${part.slice(0, 40)}".`;
    }
  }
  return null;
}

function fits(part: string, field: CronField): boolean {
  const found = /^(\*|[A-Za-z0-9]+)(?:-([A-Za-z0-9]+))?(?:\/([0-9]{1,2}))?$/.exec(part);
  if (found === null) return false;
  const [, first = "", last, step] = found;
  if (step !== undefined && Number(step) < 1) return false;
  if (first === "*") return last === undefined;
  const from = numberOf(first, field);
  const to = last === undefined ? from : numberOf(last, field);
  return from !== null && to !== null && from <= to;
}

function numberOf(text: string, field: CronField): number | null {
  const word = field.words.indexOf(text.toLowerCase());
  if (word !== -1) return word + (field.name === "month" ? 1 : 0);
  if (!/^[0-9]{1,2}$/.test(text)) return null;
  const value = Number(text);
  return value >= field.min && value <= field.max ? value : null;
}

/** Whether a text is the IANA name of a time zone. */
export function isZone(name: string): boolean {
  if (!/^[A-Za-z][A-Za-z0-9_+/-]{0,63}$/.test(name)) return false;
  try {
    new Intl.DateTimeFormat("en", { timeZone: name });
    return true;
  } catch {
    return false;
  }
}
