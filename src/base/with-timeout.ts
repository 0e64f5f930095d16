import type { Clock } from "./clock.ts";

/** The result of the work, or a rejection with what `late` returns if the work takes longer. The work is not stopped. */
export async function withTimeout<Result>(
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
    // A later failure is ignored.
    work.catch(() => {});
  }
}
