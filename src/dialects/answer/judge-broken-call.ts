import { GatewayError } from "../../canon/error.ts";
import type { FieldNote } from "../../canon/receipt.ts";
import { isCut, type Stop } from "../../canon/stop.ts";
import { answerNote } from "./answer-note.ts";

/**
 * What becomes of a call whose arguments are no JSON object, for a client whose protocol knows no others. Where the answer
 * was cut off, the receipt says so. Where the model meant it whole, there is no call to show: run without its arguments, a
 * tool would do more than it was asked to (H09).
 */
export function judgeBrokenCall(
  name: string,
  stop: Stop,
  { note, action }: { note: (note: FieldNote) => void; action: FieldNote["action"] },
): void {
  if (!isCut(stop)) {
    throw new GatewayError("upstream_failed", `The model called ${name} with arguments that are no JSON object.`);
  }
  note(answerNote("content", action, `the answer was cut off amid the arguments of its call of ${name}`));
}
