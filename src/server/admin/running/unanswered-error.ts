import { GatewayError } from "../../../canon/error.ts";
import type { Gathered } from "../../../instances/questions.ts";

const RETRY_SECONDS = 2;

/** A call that was not found may be in a process that did not answer. Undefined if all have answered. */
export function unansweredError(
  { unanswered, problem }: Gathered<unknown>,
  therefore: string,
): GatewayError | undefined {
  if (unanswered.length === 0 && problem === undefined) return undefined;
  const places = unanswered.map(({ place }) => place).join("; ");
  const who = places === "" ? "other processes" : `${unanswered.length} of the other processes (${places})`;
  const message = `No answer from ${who}, so ${therefore}.${problem === undefined ? "" : ` ${problem}`} Try again.`;
  return new GatewayError("overloaded", message, { code: "instances_unanswered", retryAfterSeconds: RETRY_SECONDS });
}
