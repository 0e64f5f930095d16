import type { Sources } from "../base/sources.ts";
import { timePrefix } from "../base/timed-id.ts";

const PREFIX = "instance_";
/** Calls of a process have later times than its start, unless the clock was set back by more than this. */
const SET_BACK_MS = 86_400_000;

/** The name of this process, in which its start can be read. */
export const instanceId = ({ clock, random }: Sources): string =>
  `${PREFIX}${timePrefix(clock.wallMs())}${random.id()}`;

/** None of its receipts is older. */
export function startOf(instance: string): number {
  const startedMs = Number.parseInt(instance.slice(PREFIX.length, PREFIX.length + timePrefix(0).length), 36);
  return Number.isNaN(startedMs) ? 0 : Math.max(0, startedMs - SET_BACK_MS);
}
