import { GatewayError } from "../../canon/error.ts";
import type { FieldNote } from "../../canon/receipt.ts";
import { isCut, type Stop } from "../../canon/stop.ts";
import { answerNote } from "./answer-note.ts";

/**
 * Handles a call whose arguments are not a JSON object, for a client whose protocol requires one. If the response was truncated,
 * the receipt notes it. Otherwise the response fails: without its arguments, a tool could do more than intended (H09).
 */
export function judgeBrokenCall(
  name: string,
  stop: Stop,
  { note, action }: { note: (note: FieldNote) => void; action: FieldNote["action"] },
): void {
  if (!isCut(stop)) {
    throw new GatewayError("upstream_failed", `The model called ${name} with arguments that are not a JSON object.`);
  }
  note(answerNote("content", action, `the response was cut off inside the arguments of its call to ${name}`));
}
