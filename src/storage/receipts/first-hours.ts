import type { TimeSpan, UsageSources } from "./usage-spans.ts";

const HOUR_MS = 3_600_000;
/** Read first; they show how many more are needed. */
const FIRST_HOURS = 48;
/** Hours differ: rather some more at once than a third read. */
const MARGIN = 1.2;

/**
 * Groups by hour are in the order of hours: of a long range, a report needs only its first hours. Reads groups hour by
 * hour until there are enough, or no hours are left.
 */
export async function inFirstHours<Group>(
  sources: UsageSources,
  limit: number,
  groupsIn: (sources: UsageSources, limit: number) => Promise<readonly Group[]>,
): Promise<Group[]> {
  const [first, end] = hoursOf(sources);
  const found: Group[] = [];
  for (let at = first; at < end && found.length < limit; ) {
    const next = at + nextHours(at - first, found.length, limit);
    // Leaving out the rest would save little.
    const until = next + FIRST_HOURS < end ? next : end;
    found.push(...(await groupsIn(within(sources, [at, until]), limit - found.length)));
    at = until;
  }
  return found;
}

function nextHours(read: number, found: number, limit: number): number {
  if (read === 0) return FIRST_HOURS;
  return Math.ceil(Math.min(((limit - found) * read * MARGIN) / Math.max(1, found), read * 10));
}

/** From the first to after the last. */
function hoursOf({ hours, receipts }: UsageSources): TimeSpan {
  const starts = [...hours.map(([from]) => from), ...receipts.map(([fromMs]) => Math.floor(fromMs / HOUR_MS))];
  const ends = [...hours.map(([, until]) => until), ...receipts.map(([, untilMs]) => Math.ceil(untilMs / HOUR_MS))];
  return [Math.min(...starts), Math.max(...ends)];
}

function within({ hours, receipts }: UsageSources, [first, end]: TimeSpan): UsageSources {
  const cut = (spans: readonly TimeSpan[], from: number, until: number): TimeSpan[] =>
    spans
      .map(([start, stop]): TimeSpan => [Math.max(start, from), Math.min(stop, until)])
      .filter(([start, stop]) => start < stop);
  return {
    days: [],
    hours: cut(hours, first, end),
    receipts: cut(receipts, first * HOUR_MS, end * HOUR_MS),
  };
}
