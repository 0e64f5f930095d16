import { type JsonObject, objectAt, stringAt } from "../../../base/json.ts";
import { withoutAbsent } from "../../../base/without-absent.ts";
import type { CanonReply } from "../../../canon/reply.ts";
import { noteFinish } from "../../answer/note-finish.ts";
import { stopDetails } from "../../answer/stop-details.ts";
import type { EncodeAnswerContext } from "../../codec.ts";
import { decodeStop, encodeStop } from "./stop-reason.ts";

type Finish = Pick<CanonReply, "stop" | "stopSequence" | "stopDetail" | "stopCategory">;

/** How a response ended. Complete responses and the `delta` of a streamed one have the same fields. */
export function decodeFinish(value: JsonObject | undefined): Finish {
  const stopSequence = stringAt(value, "stop_sequence");
  const details = objectAt(value, "stop_details");
  const stopDetail = stringAt(details, "explanation");
  const stopCategory = stringAt(details, "category");
  return withoutAbsent({
    stop: decodeStop(stringAt(value, "stop_reason") ?? ""),
    stopSequence,
    stopDetail,
    stopCategory,
  });
}

/** Notes what a client of this dialect does not learn about the end. */
export const noteMessagesFinish = (finish: Finish, refused: boolean, note: EncodeAnswerContext["note"]): void =>
  noteFinish(finish, note, {
    without: ["abnormal", "other"],
    explained: refused || finish.stop.unified === "filter" || finish.stop.unified === "abnormal",
  });

/** `refused`: the model declined to answer, which some upstreams report with an ordinary stop reason. */
export function encodeFinish(finish: Finish, refused: boolean): JsonObject {
  const { stop, stopSequence } = finish;
  const reason = refused ? "refusal" : encodeStop(stop, stopSequence);
  return {
    stop_reason: reason,
    stop_sequence: stopSequence ?? null,
    ...(reason === "refusal" ? stopDetails(refused ? { ...finish, stop: REFUSAL } : finish) : {}),
  };
}

const REFUSAL = decodeStop("refusal");
