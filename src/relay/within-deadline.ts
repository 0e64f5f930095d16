import type { Clock } from "../base/clock.ts";
import { withTimeout } from "../base/with-timeout.ts";
import { deadlinePassed } from "./call.ts";

/** When a call started, and its deadline if it has one. */
export interface CallTime {
  readonly startedAtMs: number;
  readonly deadlineMs: number | undefined;
}

/** Returns the result of the work, or throws DeadlineError if the call's time is up first. The work is not stopped. */
export function withinDeadline<Result>(
  work: Promise<Result>,
  { startedAtMs, deadlineMs }: CallTime,
  clock: Clock,
): Promise<Result> {
  if (deadlineMs === undefined) return work;
  return withTimeout(work, startedAtMs + deadlineMs - clock.nowMs(), clock, () => deadlinePassed(deadlineMs));
}
