import type { OfferTried, Receipt } from "../canon/receipt.ts";
import type { FailedAttempt } from "../observe/call-line.ts";
import type { Gateway } from "./gateway.ts";

const NONE: readonly FailedAttempt[] = [];
const hasFailed = ({ outcome }: OfferTried): boolean => outcome === "failed";

/** The one line of a call, with every attempt that failed, whether or not another one answered. */
export function logCall(
  { log, snapshot }: Pick<Gateway, "log" | "snapshot">,
  receipt: Receipt,
  requestId?: string,
): void {
  const host = snapshot.providers.get(receipt.provider)?.host;
  log.call(receipt, {
    ...(requestId === undefined ? {} : { requestId }),
    ...(host ? { host } : {}),
    failures: receipt.offers.some(hasFailed) ? receipt.offers.filter(hasFailed).map(failedAttempt) : NONE,
  });
}

const failedAttempt = ({ provider, reason = "internal" }: OfferTried): FailedAttempt => ({ provider, kind: reason });
