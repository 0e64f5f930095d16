import type { Call } from "../call.ts";

/** The assumed length of a response if the caller sets no limit. */
export const ASSUMED_OUTPUT_TOKENS = 4096;

/** The parts of a call that limit its output. */
interface LimitedCall extends Pick<Call, "model" | "outline"> {
  incoming: Pick<Call["incoming"], "dialect">;
}

/** The most tokens that all responses of a call may have. `usual` replaces a limit that the caller did not set. */
export function outputLimit({ incoming: { dialect }, model, outline }: LimitedCall, usual: number): number {
  const each = Math.min(
    dialect.requests.outputLimit(outline) ?? usual,
    model.maxOutputTokens ?? Number.MAX_SAFE_INTEGER,
  );
  return each * dialect.requests.answerCount(outline);
}
