import { type ErrorDetails, type ErrorKind, GatewayError } from "../canon/error.ts";
import type { Need } from "../leases/leased-window.ts";
import type { Awaited, Share } from "./account.ts";
import type { LimitName } from "./limits.ts";

/** What a call needs of a limit that several processes share. */
export interface SharedNeed extends Need {
  readonly share: Share;
  readonly limit: LimitName;
}

/** This process holds less than a call needs: others may give it back. */
export class ShareRefusal extends GatewayError {
  readonly lacking: SharedNeed;
  /**
   * What the call needs of every shared limit. Others must not take one of them while it waits for another: two calls
   * that wait for each other's share would both be refused.
   */
  needs: readonly SharedNeed[];

  constructor(kind: ErrorKind, message: string, details: ErrorDetails, lacking: SharedNeed) {
    super(kind, message, details);
    this.lacking = lacking;
    this.needs = [lacking];
  }
}

/** Enough for other processes and instances to be notified and to give. */
const WAIT_MS = 500;

/**
 * Retries for a moment, whenever this process holds more. Only a call that would be refused waits: one whose share
 * suffices never gets here.
 */
export async function whenShared<Result>(refusal: unknown, retry: () => Result, nowMs: () => number): Promise<Result> {
  const sinceMs = nowMs();
  for (let last = refusal; ; ) {
    if (!(last instanceof ShareRefusal)) throw last;
    const awaited = last.needs.map((need) => ({ need, window: need.share.window(need.limit) }));
    const leftMs = sinceMs + WAIT_MS - nowMs();
    if (leftMs <= 0) giveUp(awaited, last.lacking);
    if (leftMs <= 0 || !awaited.every(({ need, window }) => window?.mayWait(need))) throw last;
    await more(awaited, sinceMs, leftMs);
    try {
      return retry();
    } catch (again) {
      last = again;
    }
  }
}

interface AwaitedNeed {
  readonly need: SharedNeed;
  readonly window: Awaited | undefined;
}

/** Resolves when more is held of any of them, or the time is up. */
async function more(awaited: readonly AwaitedNeed[], sinceMs: number, leftMs: number): Promise<void> {
  const { promise, resolve: wake } = Promise.withResolvers<void>();
  const isHopeless = () => awaited.some(({ need, window }) => window?.lacks(need));
  const waiter = { sinceMs, wake, isHopeless };
  const ends = awaited.map(({ need, window }) => window?.wait(waiter, need));
  const cancel = awaited[0]?.window?.after(leftMs, wake);
  await promise;
  cancel?.();
  for (const end of ends) end?.();
}

/** Further calls do not wait for a limit that is exhausted. */
function giveUp(awaited: readonly AwaitedNeed[], lacking: SharedNeed): void {
  const scarce = awaited.filter(({ need, window }) => window?.lacks(need));
  for (const { need, window } of scarce) window?.giveUp(need);
  if (scarce.length === 0) lacking.share.window(lacking.limit)?.giveUp(lacking);
}
