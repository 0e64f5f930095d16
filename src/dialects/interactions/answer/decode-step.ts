import { arrayAt, isObject, type JsonObject, objectAt, stringAt } from "../../../base/json.ts";
import { WEB_SEARCH } from "../../../canon/billable.ts";
import type { MediaPart, WebPage } from "../../../canon/part.ts";
import type { ReplyPart } from "../../../canon/reply.ts";
import { decodeArguments } from "../../answer/decode-arguments.ts";
import { writeQueries } from "../../answer/search-queries.ts";
import type { DecodeAnswerContext } from "../../codec.ts";
import { decodeContent } from "../content.ts";
import { summaryOf } from "../request/decode-steps.ts";
import { SEARCH } from "../request/tools.ts";
import { OWN_ORIGIN, readSignature } from "../signature.ts";
import { decodeAnnotations } from "./annotations.ts";

/** Steps that belong to the request. A host that returns them repeats the client's words. */
const OF_THE_CLIENT: ReadonlySet<string> = new Set(["user_input", "function_result"]);

/** One step of a response. Steps that exist only in this dialect stay as they are, and are returned to their provider. */
export function decodeStep(step: JsonObject, context: DecodeAnswerContext): ReplyPart[] {
  const type = stringAt(step, "type") ?? "";
  const source = { origin: context.origin, fromClient: false };
  switch (type) {
    case "model_output":
      return arrayAt(step, "content").flatMap((content) => (isObject(content) ? decodeOutput(content, context) : []));
    case "thought": {
      const text = summaryOf(step);
      const signature = readSignature(stringAt(step, "signature"), source);
      if (text === undefined) return [nativeStep(step, type)];
      return text === "" && signature === undefined
        ? []
        : [{ type: "reasoning", text, summary: true, ...(signature === undefined ? {} : { signature }) }];
    }
    case "function_call": {
      const name = stringAt(step, "name") ?? "";
      const signature = readSignature(stringAt(step, "signature"), source);
      return [
        {
          type: "tool-call",
          id: stringAt(step, "id") ?? "",
          name,
          input: decodeArguments(step["arguments"], name, context.note),
          ...(signature === undefined ? {} : { signature }),
        },
      ];
    }
    case `${SEARCH}_call`:
      return decodeSearch(step) ?? [nativeStep(step, type)];
    case `${SEARCH}_result`:
      return decodeFound(step) ?? [nativeStep(step, type)];
    default:
      return OF_THE_CLIENT.has(type) ? [] : [nativeStep(step, type)];
  }
}

function decodeOutput(content: JsonObject, { note }: DecodeAnswerContext): ReplyPart[] {
  const part = decodeContent(content, undefined, false);
  if (part.type !== "text") return [part];
  const { extras: _annotations, ...text } = part;
  const citations = decodeAnnotations(arrayAt(content, "annotations"), text.text, note);
  if (text.text === "") return [];
  return [citations.length > 0 ? { ...text, citations } : text];
}

const nativeStep = (step: JsonObject, name: string): ReplyPart => ({
  type: "native",
  dialect: OWN_ORIGIN,
  name,
  raw: step,
});

/** A signed search must come back as it is. */
function decodeSearch(step: JsonObject): ReplyPart[] | undefined {
  const queries = arrayAt(objectAt(step, "arguments"), "queries").filter((query) => typeof query === "string");
  const id = stringAt(step, "id");
  if (!id || queries.length === 0 || stringAt(step, "signature")) return undefined;
  return [{ type: "server-tool-call", id, name: WEB_SEARCH, input: writeQueries(queries) }];
}

function decodeFound(step: JsonObject): ReplyPart[] | undefined {
  const callId = stringAt(step, "call_id");
  if (!callId || stringAt(step, "signature")) return undefined;
  const pages = arrayAt(step, "result").flatMap(decodePage);
  const result = step["is_error"] === true ? ({ error: "unavailable" } as const) : { pages };
  return [{ type: "server-tool-result", callId, name: WEB_SEARCH, result }];
}

function decodePage(found: unknown): WebPage[] {
  const url = stringAt(found, "url");
  const title = stringAt(found, "title");
  return url === undefined ? [] : [{ url, ...(title ? { title } : {}) }];
}

/** Media that came as a delta. */
export const decodeMediaDelta = (delta: JsonObject): MediaPart | undefined => {
  const part = decodeContent(delta, undefined, false);
  return part.type === "media" ? part : undefined;
};
