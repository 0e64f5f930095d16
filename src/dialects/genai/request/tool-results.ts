import { isObject, type JsonObject } from "../../../base/json.ts";
import { Fields } from "../../../canon/fields.ts";
import type { MediaPart, NativePart, TextPart, ToolResultPart } from "../../../canon/part.ts";
import { stringifyInOrder } from "../../../wire/ordered-json.ts";
import { decodePart, encodePromptPart } from "../content.ts";
import { leftOver, restoreExtras } from "../part-extras.ts";
import type { PartSource } from "../signature.ts";
import { type EncodeScope, noteCacheMark, pathOf } from "./encode-scope.ts";

/** The members in which callers with only text put a result. */
const TEXT_MEMBERS = ["output", "result", "content", "error"];

/** A `functionResponse` part. The caller finds the call that it belongs to, by id and name. */
export function decodeToolResult(
  raw: JsonObject,
  source: PartSource & { path: string },
  findCall: (id: string | undefined, name: string) => string,
): ToolResultPart {
  const outer = new Fields(raw);
  const inner = new Fields(outer.object("functionResponse"));
  const name = inner.string("name") ?? "";
  const callId = findCall(inner.string("id"), name);
  const response = inner.object("response");
  const media = (inner.array("parts") ?? []).flatMap((part, index): (MediaPart | NativePart | TextPart)[] => {
    const path = `${source.path}.functionResponse.parts[${index}]`;
    const decoded = isObject(part) ? decodePart(part, { ...source, path }) : undefined;
    return decoded === undefined || decoded.type === "reasoning" ? [] : [decoded];
  });
  const text = response === undefined ? [] : [{ type: "text" as const, text: textOf(response), path: source.path }];
  return {
    type: "tool-result",
    callId,
    name,
    content: [...text, ...media],
    ...(isError(response) ? { isError: true } : {}),
    ...(response === undefined ? {} : { response }),
    path: source.path,
    ...leftOver(outer, { name: "functionResponse", fields: inner }),
  };
}

const isError = (response: JsonObject | undefined): boolean =>
  response !== undefined && response["error"] != null && Object.keys(response).length === 1;

/** The text of a result, without the object around a single text member. */
function textOf(response: JsonObject): string {
  const [key, ...others] = Object.keys(response);
  const only = key !== undefined && others.length === 0 && TEXT_MEMBERS.includes(key) ? response[key] : undefined;
  return typeof only === "string" ? only : stringifyInOrder(response);
}

export interface EncodedResult {
  part: JsonObject;
  /** Media that the model does not accept inside a result, introduced by the call's id. */
  followers: JsonObject[];
}

/** `name`: the name of the called function. */
export function encodeToolResult(part: ToolResultPart, name: string, scope: EncodeScope): EncodedResult {
  const { context, notes, call } = scope;
  noteCacheMark(part, scope);
  const texts: string[] = [];
  const media: JsonObject[] = [];
  for (const one of part.content) {
    for (const wire of encodePromptPart(one, scope)) {
      if (typeof wire["text"] === "string") texts.push(wire["text"]);
      else media.push(wire);
    }
  }
  const text = texts.join("\n");
  const response = part.response ?? (part.isError ? { error: text } : { output: text });
  const inside = context.traits.mediaInToolResults === true;
  if (media.length > 0 && !inside)
    notes.approximated(
      pathOf(part),
      "this model does not accept media in tool results; they were sent after the result",
    );
  const functionResponse = {
    ...(context.quirks.functionIds ? { id: part.callId } : {}),
    name,
    response,
    ...(media.length > 0 && inside ? { parts: media } : {}),
  };
  return {
    part: restoreExtras({ functionResponse }, call.dialect === "genai" ? part.extras : undefined),
    followers: media.length === 0 || inside ? [] : [{ text: `Media of the result of call ${part.callId}:` }, ...media],
  };
}
