import type { Sources } from "../base/sources.ts";
import { timePrefix } from "../base/timed-id.ts";

const PREFIX = "instance_";
/** The calls of a process are later than its start, unless the clock was set back by more than this. */
const SET_BACK_MS = 86_400_000;

/** A unique name for this process that contains its start time. */
export const instanceId = ({ clock, random }: Sources): string =>
  `${PREFIX}${timePrefix(clock.wallMs())}${random.id()}`;

/** The start time of an instance; none of its receipts is older. */
export function startOf(instance: string): number {
  const startedMs = Number.parseInt(instance.slice(PREFIX.length, PREFIX.length + timePrefix(0).length), 36);
  return Number.isNaN(startedMs) ? 0 : Math.max(0, startedMs - SET_BACK_MS);
}
