/** What an agent step may spend; at least one of the three. What has been spent is a Meter (`run/meter.ts`). */
export interface Budget {
  /** Dispatched tool attempts, retries included. */
  steps?: number;
  /** Tokens by the resolved agent's counting method. */
  tokens?: number;
  /** Milliseconds from the agent's start. */
  duration?: number;
}
