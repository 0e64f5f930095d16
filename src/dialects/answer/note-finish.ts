import type { CanonReply } from "../../canon/reply.ts";
import type { UnifiedStop } from "../../canon/stop.ts";
import type { EncodeAnswerContext } from "../codec.ts";
import { answerNote } from "./answer-note.ts";
import { stopWord } from "./stop-details.ts";

interface Shown {
  /** The stop reasons that the client's protocol cannot express. */
  without: readonly UnifiedStop[];
  /** The client received the provider's explanation. */
  explained: boolean;
}

/** Notes what a client does not learn about the end of a response. An end without a reason loses nothing. */
export function noteFinish(
  { stop, stopDetail, stopCategory }: Pick<CanonReply, "stop" | "stopDetail" | "stopCategory">,
  note: EncodeAnswerContext["note"],
  { without, explained }: Shown,
): void {
  if (stop.raw !== "" && without.includes(stop.unified)) {
    const reason = `this protocol has no equivalent of the provider's stop reason ${stopWord(stop)}; the nearest was sent`;
    note(answerNote("stop", "approximated", reason));
  }
  if ((stopDetail ?? stopCategory) !== undefined && !explained) {
    const reason = "this protocol has no field for the provider's explanation of why it stopped";
    note(answerNote("stop_details", "dropped", reason));
  }
}
