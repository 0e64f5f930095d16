import { numberAt, objectAt, stringAt } from "../../../base/json.ts";
import type { AnswerTexts, TextPiece } from "../../answer/answer-texts.ts";

/** A name for each step. */
export const answerTexts: AnswerTexts = {
  repeats: true,
  pieces: (event) => {
    if (event["event_type"] !== "step.delta") return [];
    const delta = objectAt(event, "delta");
    const name = nameOf(event["index"]);
    const pieces: TextPiece[] = [];
    if (stringAt(delta, "text") !== undefined) pieces.push({ path: "delta.text", block: `${name}text` });
    // The summary of a thought is a part with its own text.
    if (stringAt(objectAt(delta, "content"), "text") !== undefined)
      pieces.push({ path: "delta.content.text", block: `${name}thought` });
    for (const key of ["arguments", "partial_arguments"])
      if (stringAt(delta, key) !== undefined)
        pieces.push({ path: `delta.${key}`, block: `${name}arguments`, isJson: true });
    return pieces;
  },
  ends: (event) => (event["event_type"] === "step.stop" ? [nameOf(event["index"])] : []),
};

const nameOf = (index: unknown): string => `steps[${numberAt({ index }, "index") ?? 0}].`;
