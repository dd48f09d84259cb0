/** Nothing has left for the server, so nothing can have happened. */
const NEVER_SENT = ["ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN", "EHOSTUNREACH", "ENETUNREACH", "UND_ERR_CONNECT_TIMEOUT"];
const DEEPEST = 4;

/** The system's code of a request that never left, looked for in the causes of what was thrown; null otherwise. */
export function neverSent(error: unknown): string | null {
  let at: unknown = error;
  for (let i = 0; i < DEEPEST && at instanceof Error; i++) {
    if ("code" in at && typeof at.code === "string") return NEVER_SENT.includes(at.code) ? at.code : null;
    at = at instanceof AggregateError ? at.errors[0] : at.cause;
  }
  return null;
}
