import { arrayAt, numberAt, stringAt } from "../../base/json.ts";
import type { AnswerTexts } from "../../dialects/answer/answer-texts.ts";

/** Where the texts of streamed services are: those of completions in choices, those of transcripts in typed deltas. */
export const serviceTexts: AnswerTexts = {
  repeats: true,
  pieces: (event) => {
    const type = stringAt(event, "type") ?? "";
    if (type.endsWith(".delta") && stringAt(event, "delta") !== undefined) return [{ path: "delta", block: "text" }];
    // Segments follow one another, and a match may be spread over them.
    if (type.endsWith(".segment")) return [{ path: "text", block: "segments" }];
    return arrayAt(event, "choices").flatMap((choice, place) =>
      stringAt(choice, "text") === undefined
        ? []
        : [{ path: `choices[${place}].text`, block: `choices[${numberAt(choice, "index") ?? place}].text` }],
    );
  },
  ends: (event) => {
    if (stringAt(event, "type")?.endsWith(".done")) return ["text"];
    return arrayAt(event, "choices").flatMap((choice, place) =>
      stringAt(choice, "finish_reason") === undefined ? [] : [`choices[${numberAt(choice, "index") ?? place}].`],
    );
  },
};
