import { isObject, type JsonObject, stringAt } from "../../../base/json.ts";
import { wrapOpaque } from "../../../canon/opaque.ts";
import { carryNative } from "../../../canon/opaque-carriers.ts";
import type { MediaPart } from "../../../canon/part.ts";
import type { ReplyPart } from "../../../canon/reply.ts";
import { requireSmallArguments } from "../../answer/answer-bounds.ts";
import { decodeArguments } from "../../answer/decode-arguments.ts";
import { noteNullArguments } from "../../answer/note-null-arguments.ts";
import type { DecodeAnswerContext, EncodeAnswerContext } from "../../codec.ts";
import { FREE_TEXT_ARGUMENT } from "../../request/free-text-tool.ts";
import { sayNative } from "../../request/say-native.ts";
import { encodeCarrier } from "../carriers.ts";
import { encodeCitation } from "../citations.ts";
import { decodeBlock } from "../content.ts";
import { encodeOpaque, OWN_ORIGIN } from "../opaque-values.ts";
import { encodeSearchResults, encodeServerToolCall } from "../search.ts";
import { encodeHiddenThinking, encodeThinking } from "../thinking.ts";
import { fitCallId, parseInput } from "../tool-input.ts";

/** One complete block of an upstream response. */
export function decodeAnswerBlock(value: unknown, context: DecodeAnswerContext): ReplyPart {
  const block = isObject(value) ? value : {};
  const named = block["type"] === "tool_use" && !block["id"] ? { ...block, id: `toolu_${context.makeId()}` } : block;
  const part = decodeBlock(named, undefined, { origin: context.origin, fromClient: false });
  switch (part.type) {
    case "tool-result":
    case "search-result":
      return { type: "native", dialect: "messages", name: stringAt(block, "type") ?? "", raw: block };
    default: {
      // No other dialect can represent them, and a client of this dialect gets the response unchanged.
      const { extras: _extras, cache: _cache, ...kept } = part;
      if (kept.type !== "tool-call" || isObject(block["input"])) return kept;
      return { ...kept, input: decodeArguments(block["input"], kept.name, context.note) };
    }
  }
}

/** How a client wants to receive a response. */
export interface AnswerOptions {
  /** Omit the reasoning text. */
  hidden: boolean;
  /** The client takes the last block for the answer, so no block that only carries a signature may follow the last text. */
  lastIsAnswer: boolean;
  /** Called with the name of each tool call whose arguments are not an object. */
  breakCall: (name: string) => void;
  /** The text that replaces an image, video or sound: responses of this dialect hold only text and tool calls. */
  leaveOut: (media: MediaPart) => string;
  /** For the receipt. */
  note: EncodeAnswerContext["note"];
}

/** One part of a response, for a client. */
export function encodeAnswerPart(part: ReplyPart, { hidden, breakCall, leaveOut, note }: AnswerOptions): JsonObject[] {
  switch (part.type) {
    case "text": {
      const { text, citations = [], signature } = part;
      const cited =
        citations.length === 0 ? {} : { citations: citations.map((one) => encodeCitation(one, encodeOpaque)) };
      const there = text !== "" || citations.length > 0;
      return [
        ...(there ? [{ type: "text", text, ...cited }] : []),
        ...(signature === undefined ? [] : [encodeCarrier({ position: there ? "text" : "empty-text", signature })]),
      ];
    }
    case "refusal":
      return part.text === "" ? [] : [{ type: "text", text: part.text }];
    case "reasoning": {
      const block = hidden ? encodeHiddenThinking(part) : encodeThinking(part);
      return block === undefined ? [] : [block];
    }
    case "tool-call": {
      const { id, name, custom, signature } = part;
      if (!custom) requireSmallArguments(part.input);
      const input = custom ? { [FREE_TEXT_ARGUMENT]: part.input } : parseInput(part.input);
      if (input === undefined) breakCall(name);
      noteNullArguments(part, note);
      return [
        ...(signature === undefined ? [] : [encodeCarrier({ position: "next-call", signature })]),
        { type: "tool_use", id: fitCallId(id), name, input: input ?? {} },
      ];
    }
    case "server-tool-call":
      return [encodeServerToolCall(part)];
    case "server-tool-result":
      return [encodeSearchResults(part, encodeOpaque)];
    case "native": {
      if (part.dialect === OWN_ORIGIN) return [part.raw];
      const text = sayNative(part, note);
      const carried = { type: "redacted_thinking", data: wrapOpaque(carryNative(part)) };
      return text === "" ? [carried] : [carried, { type: "text", text }];
    }
    case "media":
      return [{ type: "text", text: leaveOut(part) }];
    default:
      return part satisfies never;
  }
}
