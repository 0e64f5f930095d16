import type { GatewayError } from "./error.ts";
import { completionTokens, type Usage } from "./usage.ts";

/** A provider's failure with the usage it reported. That usage is billed, whichever provider answers in the end (H14). */
export const paidFailure = <Failure extends GatewayError>(error: Failure, usage: Usage | undefined): Failure =>
  usage === undefined || completionTokens(usage) === 0 ? error : error.withFailure({ usage });
