import type { EffectContext } from "./scheduler.ts";

/**
 * Waits for something of the outside. Once the effect's signal has fired it is waited for `grace` ms at most, and
 * not at all once the run is in a hurry. Null: it did not come back. A rejection is handed to `failed`.
 */
export function settle<T>(
  { effect, clock, hurry }: EffectContext,
  grace: number,
  call: () => Promise<T>,
  failed: (error: unknown) => T,
): Promise<T | null> {
  const { signal } = effect;
  return new Promise((resolve) => {
    let timer: { cancel(): void } | null = null;
    const done = (result: T | null): void => {
      timer?.cancel();
      signal.removeEventListener("abort", onAbort);
      hurry.forget(onHurry);
      resolve(result);
    };
    const onAbort = (): void => {
      if (hurry.isOn) done(null);
      else timer = clock.after(grace, () => done(null));
    };
    const onHurry = (): void => {
      if (signal.aborted) done(null);
    };
    signal.addEventListener("abort", onAbort, { once: true });
    hurry.tell(onHurry);
    let pending: Promise<T>;
    try {
      pending = call();
    } catch (error) {
      pending = Promise.reject(error);
    }
    pending.then(done, (error: unknown) => done(failed(error)));
    if (signal.aborted) onAbort();
  });
}

/** Whole: it is cut where it is recorded, behind what is hidden in it. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
