import { arrayAt, numberAt, objectAt, stringAt } from "../../../base/json.ts";
import type { AnswerTexts, TextPiece } from "../../answer/answer-texts.ts";

/** Text has no index: all of a candidate's text is one, and all of its thoughts are another. */
export const answerTexts: AnswerTexts = {
  repeats: false,
  pieces: (event) => arrayAt(event, "candidates").flatMap(piecesOf),
  ends: (event) =>
    arrayAt(event, "candidates").flatMap((candidate, index) =>
      stringAt(candidate, "finishReason") === undefined ? [] : [`${nameOf(candidate, index)}.`],
    ),
};

const nameOf = (candidate: unknown, index: number): string => `candidates[${numberAt(candidate, "index") ?? index}]`;

function piecesOf(candidate: unknown, index: number): TextPiece[] {
  const name = nameOf(candidate, index);
  return arrayAt(objectAt(candidate, "content"), "parts").flatMap((part, place): TextPiece[] => {
    const path = `candidates[${index}].content.parts[${place}]`;
    const isThought = objectAt({ part }, "part")?.["thought"] === true;
    const said =
      stringAt(part, "text") === undefined
        ? []
        : [{ path: `${path}.text`, block: `${name}.${isThought ? "thought" : "text"}` }];
    const call = objectAt(part, "functionCall");
    const streamed = arrayAt(call, "partialArgs").flatMap((argument, at): TextPiece[] => {
      if (stringAt(argument, "stringValue") === undefined) return [];
      const block = `${name}.args.${stringAt(argument, "jsonPath") ?? ""}`;
      return [{ path: `${path}.functionCall.partialArgs[${at}].stringValue`, block }];
    });
    return [...said, ...streamed];
  });
}
