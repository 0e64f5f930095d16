import { withoutAbsent } from "../../base/without-absent.ts";
import type { OfferTried, Receipt } from "../../canon/receipt.ts";
import type { CallFacts, FailedAttempt } from "../../observe/call-line.ts";
import type { Gateway } from "../gateway.ts";

const NONE: readonly FailedAttempt[] = [];
const hasFailed = ({ outcome }: OfferTried): boolean => outcome === "failed";

/** Logs a call in one line, with every failed attempt, even if another one answered. */
export function logCall(
  { log, snapshot }: Pick<Gateway, "log" | "snapshot">,
  receipt: Receipt,
  requestId?: string,
  trace?: CallFacts["trace"],
): void {
  const { offers } = receipt;
  log.call(receipt, {
    requestId,
    trace,
    host: snapshot.providers.get(receipt.provider)?.[0]?.host,
    failures: offers.some(hasFailed) ? offers.filter(hasFailed).map(failedAttempt) : NONE,
  });
}

/** Everything about a failed attempt except the provider's own message, which may quote a prompt. */
function failedAttempt({ provider, reason = "internal", failure = {} }: OfferTried): FailedAttempt {
  const { host, status, errno, cure } = failure;
  return withoutAbsent({ provider, kind: reason, host, status, errno, cure });
}
