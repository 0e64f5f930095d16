/** The work's outcome, or a rejection with what `late` makes when it has not ended in time. The work itself goes on. */
export async function within<Result>(work: Promise<Result>, limitMs: number, late: () => unknown): Promise<Result> {
  const { promise, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(late()), limitMs);
  try {
    return await Promise.race([work, promise]);
  } finally {
    clearTimeout(timer);
    // Nobody hears of what becomes of it later.
    work.catch(() => {});
  }
}
