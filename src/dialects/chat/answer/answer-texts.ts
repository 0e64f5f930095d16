import { arrayAt, isObject, type JsonObject, numberAt, objectAt, stringAt } from "../../../base/json.ts";
import type { AnswerTexts, TextPiece } from "../../answer/answer-texts.ts";

/** A name of each choice, and in it of each text: choices may be streamed at the same time. */
export const answerTexts: AnswerTexts = {
  repeats: false,
  pieces: (event) => arrayAt(event, "choices").flatMap(piecesOf),
  ends: (event) =>
    arrayAt(event, "choices").flatMap((choice, index) =>
      stringAt(choice, "finish_reason") === undefined ? [] : [`${nameOf(choice, index)}.`],
    ),
};

const nameOf = (choice: unknown, index: number): string => `choices[${numberAt(choice, "index") ?? index}]`;

function piecesOf(choice: unknown, index: number): TextPiece[] {
  const delta = objectAt(choice, "delta");
  if (delta === undefined) return [];
  const [path, block] = [`choices[${index}].delta`, nameOf(choice, index)];
  const pieces: TextPiece[] = [];
  for (const [key, value] of Object.entries(delta)) {
    if (typeof value === "string" && key !== "role") pieces.push({ path: `${path}.${key}`, block: `${block}.${key}` });
  }
  const takeCall = (call: JsonObject, at: string, name: string) => {
    if (typeof call["arguments"] === "string") pieces.push({ path: `${at}.arguments`, block: name, isJson: true });
  };
  for (const [place, call] of arrayAt(delta, "tool_calls").entries()) {
    const at = `${path}.tool_calls[${place}]`;
    const name = `${block}.tool_calls[${numberAt(call, "index") ?? place}]`;
    takeCall(objectAt(call, "function") ?? {}, `${at}.function`, `${name}.arguments`);
    if (stringAt(objectAt(call, "custom"), "input") !== undefined)
      pieces.push({ path: `${at}.custom.input`, block: `${name}.input` });
  }
  takeCall(objectAt(delta, "function_call") ?? {}, `${path}.function_call`, `${block}.function_call.arguments`);
  for (const [place, detail] of arrayAt(delta, "reasoning_details").entries()) {
    if (!isObject(detail)) continue;
    for (const key of ["text", "summary"]) {
      if (typeof detail[key] !== "string") continue;
      const name = `${block}.reasoning_details[${numberAt(detail, "index") ?? place}].${key}`;
      pieces.push({ path: `${path}.reasoning_details[${place}].${key}`, block: name });
    }
  }
  if (stringAt(objectAt(delta, "audio"), "transcript") !== undefined)
    pieces.push({ path: `${path}.audio.transcript`, block: `${block}.audio.transcript` });
  return pieces;
}
