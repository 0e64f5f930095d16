import type { GatewayError } from "./error.ts";
import { completionTokens, type Usage } from "./usage.ts";

/** The failure of a provider that has reported what it generated before it failed: that is billed, whoever answers (H14). */
export const paidFailure = <Failure extends GatewayError>(error: Failure, usage: Usage | undefined): Failure =>
  usage === undefined || completionTokens(usage) === 0 ? error : error.withFailure({ usage });
