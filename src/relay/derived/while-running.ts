import type { Clock } from "../../base/clock.ts";
import { withTimeout } from "../../base/with-timeout.ts";
import { type CallListener, type CausingCall, ClientDisconnectedError, deadlinePassed } from "../call.ts";

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

type EndedCall = Pick<CausingCall, "client" | "startedAtMs"> & { readonly routing: { deadlineMs: number | undefined } };

/** Throws if nothing more is to be done for a call: an operator has stopped it, its client is gone, or its time is up. */
export function requireRunning({ client, routing: { deadlineMs }, startedAtMs }: EndedCall, clock: Clock): void {
  if (client.stopped !== undefined) throw client.stopped;
  if (client.disconnected) throw new ClientDisconnectedError();
  if (deadlineMs !== undefined && clock.nowMs() >= startedAtMs + deadlineMs) throw deadlinePassed(deadlineMs);
}

/** The result of the work, unless the call ends before. The work is not stopped. */
export async function whileRunning<Result>(work: Promise<Result>, call: EndedCall, clock: Clock): Promise<Result> {
  const { client, routing, startedAtMs } = call;
  const { promise, reject } = Promise.withResolvers<never>();
  const listener: CallListener = {
    clientDisconnected: () => reject(new ClientDisconnectedError()),
    callStopped: reject,
  };
  client.check();
  client.addListener(listener);
  try {
    const time = { startedAtMs, deadlineMs: routing.deadlineMs };
    return await Promise.race([withinDeadline(work, time, clock), promise]);
  } finally {
    client.removeListener(listener);
    // A later failure is ignored.
    work.catch(() => {});
  }
}
