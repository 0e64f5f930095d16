/** Concurrent requests to a provider for one client request. */
const MAX_CONCURRENT = 5;

/**
 * Requests all parts of a call, several concurrently, except those that are already there. After a failure no part is started, and
 * those in flight are awaited: they are billed, and another attempt need not repeat them.
 */
export async function askParts<Part, Reply>(
  parts: readonly Part[],
  replies: (Reply | undefined)[],
  ask: (part: Part) => Promise<Reply>,
): Promise<void> {
  const failures: unknown[] = [];
  const queue = parts.entries();
  const work = async () => {
    for (const [index, part] of queue) {
      if (failures.length > 0) return;
      if (replies[index] !== undefined) continue;
      try {
        replies[index] = await ask(part);
      } catch (thrown) {
        failures.push(thrown);
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(MAX_CONCURRENT, parts.length) }, work));
  if (failures.length > 0) throw failures[0];
}
