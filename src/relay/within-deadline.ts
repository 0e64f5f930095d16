import type { Clock } from "../base/clock.ts";
import { withTimeout } from "../base/with-timeout.ts";
import { deadlinePassed } from "./call.ts";

/** From when on, and for how long, a call may take; without a limit where none is given. */
export interface CallTime {
  readonly startedAtMs: number;
  readonly deadlineMs: number | undefined;
}

/** What the work gives, or the call's DeadlineError where its time is up before that. The work is not stopped. */
export function withinDeadline<Result>(
  work: Promise<Result>,
  { startedAtMs, deadlineMs }: CallTime,
  clock: Clock,
): Promise<Result> {
  if (deadlineMs === undefined) return work;
  return withTimeout(work, startedAtMs + deadlineMs - clock.nowMs(), clock, () => deadlinePassed(deadlineMs));
}
