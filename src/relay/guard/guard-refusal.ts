import { GatewayError } from "../../canon/error.ts";
import type { GuardOn } from "../../canon/guard/guard-verdict.ts";
import { GuardBlockedError, GuardFailedError } from "../../guards/guard-errors.ts";
import type { GuardRun } from "./guard-run.ts";

/** What a guard's decision means for the caller. Other errors stay as they are. */
export function guardRefusal(thrown: unknown, on: GuardOn, { seen }: Pick<GuardRun, "seen">): unknown {
  if (thrown instanceof GuardBlockedError) {
    seen.hasBlocked = true;
    const message = `The guard "${thrown.guard}" blocked this ${on}: ${thrown.message}.`;
    return new GatewayError("content_blocked", message, { code: "content_blocked" });
  }
  if (thrown instanceof GuardFailedError) {
    const message = `The guard "${thrown.guard}" could not check this ${on}. Try again.`;
    return new GatewayError("overloaded", message, { cause: thrown });
  }
  return thrown;
}
