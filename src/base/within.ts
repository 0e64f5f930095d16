import type { Clock } from "./clock.ts";

/** The work's outcome, or a rejection with what `late` makes when it has not ended in time. The work itself goes on. */
export async function within<Result>(
  work: Promise<Result>,
  limitMs: number,
  clock: Clock,
  late: () => unknown,
): Promise<Result> {
  const { promise, reject } = Promise.withResolvers<never>();
  const cancel = clock.after(limitMs, () => reject(late()));
  try {
    return await Promise.race([work, promise]);
  } finally {
    cancel();
    // What becomes of it later is reported to no one.
    work.catch(() => {});
  }
}
