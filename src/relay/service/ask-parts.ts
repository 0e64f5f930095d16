/** Requests to a provider at once for one call of a client. */
const MAX_CONCURRENT = 5;

/**
 * Asks for all parts of a call, several at once; those that are there already are not asked for. After a failure no part is
 * begun, and those under way are waited for: they are paid, and another try need not ask for them again.
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
