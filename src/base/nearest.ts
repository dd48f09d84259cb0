/** The most characters of a name that is compared: longer ones are nobody's typing slip. */
const LONGEST = 64;

/**
 * The candidate that `name` was most likely meant to be, or null where none is near. Case and the signs `-`
 * and `_` weigh little, a swap of two neighbours counts as one slip. At most a third of the letters may differ.
 */
export function nearestName(name: string, candidates: Iterable<string>): string | null {
  if (name.length === 0 || name.length > LONGEST) return null;
  const wanted = plain(name);
  let best: string | null = null;
  let bestCost = Number.POSITIVE_INFINITY;
  for (const candidate of candidates) {
    if (candidate === name || candidate.length > LONGEST) continue;
    const allowed = Math.max(1, Math.floor(Math.max(name.length, candidate.length) / 3));
    const full = plain(candidate);
    // An abbreviation counts as one slip, however much of the name it leaves out.
    const isStart = wanted.length >= 3 && full.startsWith(wanted) && full !== wanted;
    // Each letter more or less is a slip.
    if (!isStart && Math.abs(wanted.length - full.length) > Math.min(allowed, bestCost)) continue;
    const cost = isStart ? 1 : distance(wanted, full);
    if (cost <= allowed && cost < bestCost && cost < Math.max(wanted.length, 1)) {
      best = candidate;
      bestCost = cost;
    }
  }
  return best;
}

/** `Did you mean "x"?` or an empty text: to be put before the list of what is legal. */
export function didYouMean(name: string, candidates: Iterable<string>): string {
  const near = nearestName(name, candidates);
  return near === null ? "" : `Did you mean "${near}"?`;
}

function plain(name: string): string {
  return name.toLowerCase().replaceAll(/[-_ ]/g, "");
}

/** Edits between two texts: insert, delete, replace, and the swap of two neighbours. */
function distance(a: string, b: string): number {
  let before: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1];
      let cost = Math.min((last[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1, (last[j - 1] ?? 0) + (same ? 0 : 1));
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) {
        cost = Math.min(cost, (before[j - 2] ?? 0) + 1);
      }
      row.push(cost);
    }
    before = last;
    last = row;
  }
  return last[b.length] ?? 0;
}
