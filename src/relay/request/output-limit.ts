import type { Call } from "../call.ts";

/** What an answer is taken to need where the caller sets it no limit. */
export const ASSUMED_OUTPUT_TOKENS = 4096;

/** What of a call says how much may be generated for it. */
interface LimitedCall extends Pick<Call, "model" | "body"> {
  incoming: Pick<Call["incoming"], "dialect">;
}

/** The most tokens that all answers of a call may come to; `usual` stands in for a limit that the caller did not set. */
export function outputLimit({ incoming: { dialect }, model, body }: LimitedCall, usual: number): number {
  const each = Math.min(dialect.requests.outputLimit(body) ?? usual, model.maxOutputTokens ?? Number.MAX_SAFE_INTEGER);
  return each * dialect.requests.answerCount(body);
}
