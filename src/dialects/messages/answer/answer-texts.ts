import { numberAt, objectAt, stringAt } from "../../../base/json.ts";
import type { AnswerTexts } from "../../answer/answer-texts.ts";

/** The members of deltas that continue a text. */
const DELTAS = ["text", "thinking", "partial_json", "content", "input"] as const;

/** A name for each content block. */
export const answerTexts: AnswerTexts = {
  repeats: false,
  pieces: (event) => {
    const name = `content[${numberAt(event, "index") ?? 0}]`;
    const isStart = event["type"] === "content_block_start";
    if (!isStart && event["type"] !== "content_block_delta") return [];
    const at = isStart ? "content_block" : "delta";
    const part = objectAt(event, at);
    return DELTAS.filter((key) => stringAt(part, key) !== undefined).map((key) => ({
      path: `${at}.${key}`,
      block: `${name}.${key}`,
      isJson: key === "partial_json",
    }));
  },
  ends: (event) => (event["type"] === "content_block_stop" ? [`content[${numberAt(event, "index") ?? 0}].`] : []),
  seal: (event) => {
    const isSeal = stringAt(objectAt(event, "delta"), "type") === "signature_delta";
    return isSeal
      ? { path: "delta.signature", block: `content[${numberAt(event, "index") ?? 0}].thinking` }
      : undefined;
  },
};
