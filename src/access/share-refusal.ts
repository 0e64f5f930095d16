import type { Cancel } from "../base/clock.ts";
import { type ErrorDetails, type ErrorKind, GatewayError } from "../canon/error.ts";
import type { Need } from "../leases/leased-window.ts";
import type { Share } from "./account.ts";
import type { LimitName } from "./limits.ts";

/** What a call needs of a limit that several processes divide. */
export interface SharedNeed extends Need {
  readonly share: Share;
  readonly limit: LimitName;
}

/** This process holds less than a call needs: others may give it back. */
export class ShareRefusal extends GatewayError {
  readonly lacking: SharedNeed;
  /**
   * Of every shared limit, what the call needs. Others must not take one of them while it waits for another: two calls that wait for
   * what the other one has would both be refused.
   */
  needs: readonly SharedNeed[] = [];

  constructor(kind: ErrorKind, message: string, details: ErrorDetails, lacking: SharedNeed) {
    super(kind, message, details);
    this.lacking = lacking;
  }
}

type Deadline = (wake: () => void) => Cancel;

/** Enough for others to hear of it and to give, between instances too. */
const WAIT_MS = 500;

/**
 * Tries again what was refused, each time that this process holds more, for a moment. Only a call that would be refused waits:
 * one whose share suffices has nothing to do with this.
 */
export async function whenShared<Result>(refusal: unknown, retry: () => Result, nowMs: () => number): Promise<Result> {
  const sinceMs = nowMs();
  for (let last = refusal; ; ) {
    if (!(last instanceof ShareRefusal)) throw last;
    const window = last.lacking.share.window(last.lacking.limit);
    const leftMs = sinceMs + WAIT_MS - nowMs();
    if (leftMs <= 0) window?.giveUp(last.lacking);
    if (leftMs <= 0 || !window?.mayWait(last.lacking)) throw last;
    await more(last.needs, sinceMs, (wake) => window.after(leftMs, wake));
    try {
      return retry();
    } catch (again) {
      last = again;
    }
  }
}

/** Resolves when more is held of any of them, or the time is up. */
async function more(needs: readonly SharedNeed[], sinceMs: number, deadline: Deadline): Promise<void> {
  const { promise, resolve: wake } = Promise.withResolvers<void>();
  const awaited = needs.map((need) => ({ need, window: need.share.window(need.limit) }));
  const isHopeless = () => awaited.some(({ need, window }) => window?.lacks(need));
  const waiter = { sinceMs, wake, isHopeless };
  const ends = awaited.map(({ need, window }) => window?.wait(waiter, need));
  const cancel = deadline(wake);
  await promise;
  cancel();
  for (const end of ends) end?.();
}
