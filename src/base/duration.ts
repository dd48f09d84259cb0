import { parse as parseIso } from "tinyduration";

export const MAX_DURATION_MS = 366 * 86_400_000;

/** The longest pause before a retry (workfile.md 2), whoever asks for it; a computed one beyond it fails its step. */
export const MAX_BACKOFF_MS = 30_000;

type DurationResult = { ok: true; ms: number } | { ok: false; message: string };

const UNITS = [
  ["d", 86_400_000],
  ["h", 3_600_000],
  ["m", 60_000],
  ["s", 1_000],
  ["ms", 1],
] as const;

const SHORT = /^(?:(\d+)d)?(?:(\d+)h)?(?:(\d+)m(?!s))?(?:(\d+)s)?(?:(\d+)ms)?$/;
const ISO = /^P(?:\d+D)?(?:T(?:\d+H)?(?:\d+M)?(?:\d+(?:\.\d+)?S)?)?$/;

/**
 * Milliseconds of `500ms`, `1h30m`, `2d` (d h m s ms in this order, each at most once) or of an ISO 8601
 * duration of days and smaller (`P13D`, `PT30S`). No bare numbers, no sign. 0 is allowed here: the caller
 * says whether it is in its place.
 */
export function parseDuration(text: string): DurationResult {
  const usage = "write it like 500ms, 30s, 5m, 1h30m or 2d (units d h m s ms, in this order), or as ISO 8601 (PT30S)";
  if (text.length > 64) return { ok: false, message: usage };
  const short = text === "" ? null : SHORT.exec(text);
  let ms = 0;
  if (short) {
    UNITS.forEach(([, size], i) => {
      ms += Number(short[i + 1] ?? 0) * size;
    });
  } else if (ISO.test(text) && /\d/.test(text) && !text.endsWith("T")) {
    try {
      const d = parseIso(text);
      ms = Math.floor(
        (d.days ?? 0) * 86_400_000 +
          (d.hours ?? 0) * 3_600_000 +
          (d.minutes ?? 0) * 60_000 +
          Math.round((d.seconds ?? 0) * 1_000_000) / 1_000,
      );
    } catch {
      return { ok: false, message: usage };
    }
  } else {
    return { ok: false, message: usage };
  }
  if (ms > MAX_DURATION_MS) return { ok: false, message: "longer than 366 days" };
  return { ok: true, ms };
}

/** The short text of a duration: 90_000 is `1m30s`, 0 is `0s`. */
export function formatDuration(ms: number): string {
  let rest = Math.round(ms);
  let text = "";
  for (const [unit, size] of UNITS) {
    const count = Math.floor(rest / size);
    if (count > 0) text += `${count}${unit}`;
    rest -= count * size;
  }
  return text === "" ? "0s" : text;
}
