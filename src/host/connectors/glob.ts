const MAX_PATTERN = 512;

/**
 * Whether relative paths fit a pattern: `*` any signs but `/`, `?` one of these, `**` any folders. Names that
 * begin with a dot are found only where the pattern says the dot. Null if the pattern is too long.
 */
export function compileGlob(pattern: string): ((path: string) => boolean) | null {
  if (pattern.length > MAX_PATTERN) return null;
  const wanted = pattern.split("/").filter((part) => part !== "" && part !== ".");
  return (path) => fits(wanted, path.split("/"));
}

/** By a table of which parts of the pattern may end where: no backtracking. */
function fits(pattern: readonly string[], path: readonly string[]): boolean {
  let reached = new Set([0]);
  const open = (set: Set<number>): Set<number> => {
    for (const at of set) if (pattern[at] === "**") set.add(at + 1);
    return set;
  };
  open(reached);
  for (const segment of path) {
    const next = new Set<number>();
    for (const at of reached) {
      const part = pattern[at];
      if (part === undefined) continue;
      if (part === "**") {
        if (!segment.startsWith(".")) next.add(at);
      } else if (segmentFits(part, segment)) next.add(at + 1);
    }
    reached = open(next);
    if (reached.size === 0) return false;
  }
  return reached.has(pattern.length);
}

function segmentFits(part: string, segment: string): boolean {
  if (segment.startsWith(".") && !part.startsWith(".")) return false;
  const signs = [...segment];
  let reached = [true, ...signs.map(() => false)];
  for (const sign of part) {
    const next = reached.map(() => false);
    for (let i = 0; i <= signs.length; i++) {
      if (sign === "*") next[i] = (reached[i] ?? false) || (i > 0 && (next[i - 1] ?? false));
      else if (i > 0) next[i] = (reached[i - 1] ?? false) && (sign === "?" || sign === signs[i - 1]);
    }
    reached = next;
  }
  return reached[signs.length] ?? false;
}
