const MAX_LENGTH = 64;

/** The name most like `wanted`, if one is near enough to be meant. */
export function nearestName(wanted: string, names: Iterable<string>): string | null {
  let best: string | null = null;
  let bestDistance = Math.max(1, Math.floor(Math.min(wanted.length, 12) / 3)) + 1;
  for (const name of names) {
    if (name.length > MAX_LENGTH || wanted.length > MAX_LENGTH) continue;
    const distance = distanceOf(wanted.toLowerCase(), name.toLowerCase());
    if (distance < bestDistance && distance < Math.max(wanted.length, name.length)) {
      best = name;
      bestDistance = distance;
    }
  }
  return best;
}

/** Insertions, deletions, substitutions and swaps of neighbours. */
function distanceOf(a: string, b: string): number {
  let before: number[] = [];
  let previous = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1];
      let cost = Math.min((previous[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1, (previous[j - 1] ?? 0) + (same ? 0 : 1));
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1])
        cost = Math.min(cost, (before[j - 2] ?? 0) + 1);
      row.push(cost);
    }
    before = previous;
    previous = row;
  }
  return previous[b.length] ?? 0;
}
