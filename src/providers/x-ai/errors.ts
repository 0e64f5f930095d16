import { GatewayError } from "../../canon/error.ts";
import type { MediaAnswer } from "../../media/adapter.ts";
import type { CodeTable } from "../media-adapters/code-table.ts";
import { mediaFailure } from "../media-adapters/media-failure.ts";

export const X_AI_CODES: CodeTable = [
  [/^(moderation_blocked|content_policy_violation)$/, "content_blocked"],
  [/^(insufficient_quota|permission_denied)$/, "upstream_credentials"],
  [/^resource_exhausted$/, "rate_limited"],
  [/^invalid_argument$/, "invalid_request"],
];

/** The code of a refusal is a general sentence; only the message says that moderation was the cause. */
const MODERATED = /\bcontent (?:moderation|policy)\b/i;

export function xAiError(answer: MediaAnswer): GatewayError {
  const error = mediaFailure(answer, X_AI_CODES);
  const moderated = error.kind === "invalid_request" && MODERATED.test(error.message);
  return moderated ? new GatewayError("content_blocked", error.message) : error;
}
