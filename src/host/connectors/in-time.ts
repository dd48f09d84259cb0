import type { Clock } from "../../base/clock.ts";

/** Waits `ms` for something of the outside, or until the signal; rejects with `late` in words, or as it does itself. */
export function within<T>(
  clock: Clock,
  ms: number,
  signal: AbortSignal | undefined,
  work: Promise<T>,
  late: string,
): Promise<T> {
  return new Promise((resolve, reject) => {
    const end = (): void => {
      timer.cancel();
      signal?.removeEventListener("abort", stopped);
    };
    const stopped = (): void => {
      end();
      reject(new Error("it was stopped"));
    };
    const timer = clock.after(ms, () => {
      end();
      reject(new Error(late));
    });
    signal?.addEventListener("abort", stopped, { once: true });
    work.then(
      (value) => {
        end();
        resolve(value);
      },
      (error: unknown) => {
        end();
        reject(error);
      },
    );
    if (signal?.aborted) stopped();
  });
}
