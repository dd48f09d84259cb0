/** A broken assumption of our own: a bug, never an outcome of a run. */
export class InvariantError extends Error {
  override readonly name = "InvariantError";
}

/** Throws {@link InvariantError} unless `condition` holds. */
export function invariant(condition: unknown, message: string): asserts condition {
  if (!condition) throw new InvariantError(message);
}

/** Marks a switch as exhaustive: it does not compile while a case is missing. */
export function unreachable(value: never): never {
  throw new InvariantError(`unexpected case: ${JSON.stringify(value)}`);
}
