import { type JsonObject, numberAt, stringAt } from "../../../base/json.ts";
import type { AnswerTexts } from "../../answer/answer-texts.ts";

const DELTA = ".delta";
const DONE = ".done";
const ITEM_DONE = "response.output_item.done";
/** Pieces of media, in base64. */
const MEDIA = /audio\.delta$|partial_image/;

/** A name for each part of each output item. An item's own end ends all of its texts. */
export const answerTexts: AnswerTexts = {
  repeats: true,
  pieces: (event) => {
    const type = stringAt(event, "type") ?? "";
    if (!type.endsWith(DELTA) || MEDIA.test(type) || stringAt(event, "delta") === undefined) return [];
    return [{ path: "delta", block: nameOf(event, type.slice(0, -DELTA.length)), isJson: type.includes("arguments") }];
  },
  ends: (event) => {
    const type = stringAt(event, "type") ?? "";
    if (type === ITEM_DONE) return [itemOf(event)];
    return type.endsWith(DONE) ? [nameOf(event, type.slice(0, -DONE.length))] : [];
  },
};

const itemOf = (event: JsonObject): string => `output[${numberAt(event, "output_index") ?? 0}].`;

function nameOf(event: JsonObject, kind: string): string {
  const part = numberAt(event, "content_index") ?? numberAt(event, "summary_index") ?? 0;
  return `${itemOf(event)}${kind.replace(/^response\./, "")}[${part}].`;
}
