import { type ErrorDetails, type ErrorKind, GatewayError } from "../canon/error.ts";
import type { Share } from "./account.ts";
import type { LimitName } from "./limits.ts";

/** What a process lacks of a limit that is not used up as far as it knows. */
export interface Shortage {
  readonly share: Share;
  readonly limit: LimitName;
  readonly needed: number;
}

/** Other processes hold what a call would need: they may give it back. */
export class ShareRefusal extends GatewayError {
  readonly shortage: Shortage | undefined;

  constructor(kind: ErrorKind, message: string, details?: ErrorDetails, shortage?: Shortage) {
    super(kind, message, details);
    this.shortage = shortage;
  }
}

/** Enough for others to hear of it and to give, between instances too. */
const WAIT_MS = 500;

/**
 * Tries again what was refused, each time that this process holds more, for a moment. Only a call that would be refused waits:
 * one whose share suffices has nothing to do with this.
 */
export async function whenShared<Result>(refusal: unknown, retry: () => Result, nowMs: () => number): Promise<Result> {
  const untilMs = nowMs() + WAIT_MS;
  for (let last = refusal; ; ) {
    const moved = last instanceof ShareRefusal ? moreOf(last, untilMs) : undefined;
    if (moved === undefined) throw last;
    await moved;
    try {
      return retry();
    } catch (again) {
      last = again;
    }
  }
}

function moreOf({ shortage }: ShareRefusal, untilMs: number): Promise<void> | undefined {
  return shortage?.share.more(shortage.limit, shortage.needed, untilMs);
}
