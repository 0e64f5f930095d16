import type { JsonObject } from "../../../base/json.ts";
import { withoutAbsent } from "../../../base/without-absent.ts";
import { carryNative } from "../../../canon/opaque-carriers.ts";
import type { MediaPart } from "../../../canon/part.ts";
import type { CanonReply, ReplyPart } from "../../../canon/reply.ts";
import { noteFinish } from "../../answer/note-finish.ts";
import { Paragraphs } from "../../answer/paragraphs.ts";
import { stopDetails } from "../../answer/stop-details.ts";
import type { EncodeAnswerContext } from "../../codec.ts";
import { omitMedia } from "../../request/omit-media.ts";
import { hidesReasoning, wantsCost } from "../native.ts";
import { olderFunctions } from "../older-functions.ts";
import {
  EMPTY_TEXT_ID,
  encodeDetails,
  encodeSignature,
  NATIVE_ID,
  saysNothing,
  spellForClient,
  TEXT_ID,
} from "../reasoning-details.ts";
import { encodeToolCall } from "../tool-call.ts";
import { encodeAnnotations } from "./annotations.ts";
import { encodeLogprobs } from "./logprobs.ts";
import { encodeStop, UNTOLD } from "./stop-reason.ts";
import { encodeUsage } from "./usage.ts";

/**
 * Contract 2.13. A message has one text, one reasoning and one list of calls. Texts and reasonings are joined without a separator. Of the
 * provider's own actions, such as searches, the citations remain, and a paragraph break between the texts around them. Separate messages
 * become paragraphs, too.
 */
export function encodeResponse(reply: CanonReply, context: EncodeAnswerContext): string {
  const { usage, logprobs } = reply;
  noteFinish(reply, context.note, UNTOLD);
  const cost = usage !== undefined && wantsCost(context.request) ? context.costUsd(usage) : undefined;
  const choice = {
    index: 0,
    message: encodeMessage(reply.parts, context),
    // The vendor's answers always have it.
    logprobs: logprobs === undefined ? null : encodeLogprobs(logprobs),
    finish_reason: encodeStop(reply.stop, olderFunctions.readBy(context.request)),
    ...stopDetails(reply),
  };
  const completion = {
    id: context.answerId ?? reply.id ?? `chatcmpl-${context.makeId()}`,
    object: "chat.completion",
    created: reply.created ?? context.nowSeconds(),
    model: context.publicModel,
    choices: [choice],
    ...(usage === undefined ? {} : { usage: encodeUsage(usage, cost) }),
  };
  context.keep?.(completion);
  return JSON.stringify(completion);
}

function encodeMessage(parts: readonly ReplyPart[], { request, note }: EncodeAnswerContext): JsonObject {
  const hideReasoning = hidesReasoning(request);
  const readsOlder = olderFunctions.readBy(request);
  const details: JsonObject[] = [];
  const calls: JsonObject[] = [];
  const annotations: JsonObject[] = [];
  const images: JsonObject[] = [];
  let own: JsonObject = {};
  let olderCall: JsonObject | undefined;
  let content: string | undefined;
  let refusal: string | undefined;
  let reasoning: string | undefined;
  const paragraphs = new Paragraphs();
  for (const part of parts) {
    switch (part.type) {
      case "text": {
        if (part.apart) paragraphs.break();
        content = (content ?? "") + paragraphs.before(part.text);
        const offset = content.length;
        content += part.text;
        const { length } = part.text;
        annotations.push(...encodeAnnotations(part.citations ?? [], { offset, length }, note));
        if (part.signature !== undefined) {
          const id = part.text === "" ? EMPTY_TEXT_ID : TEXT_ID;
          details.push(encodeSignature(part.signature, id, details.length, spellForClient));
        }
        break;
      }
      case "reasoning":
        if (part.text !== "") reasoning = (reasoning ?? "") + part.text;
        details.push(...encodeDetails(part, details.length, spellForClient));
        break;
      case "refusal":
        refusal = (refusal ?? "") + part.text;
        break;
      case "tool-call":
        if (readsOlder) {
          if (olderCall !== undefined) note(olderFunctions.secondCall(part.name));
          olderCall ??= olderFunctions.encodeCall(part);
          break;
        }
        calls.push(encodeToolCall(part));
        if (part.signature !== undefined) {
          details.push(encodeSignature(part.signature, part.id, details.length, spellForClient));
        }
        break;
      case "media": {
        const image = encodeImage(part, images.length);
        if (image === undefined) {
          const words = omitMedia(part, note);
          content = (content ?? "") + paragraphs.before(words) + words;
        } else images.push(image);
        break;
      }
      case "native":
        if (part.dialect === "chat") own = { ...own, ...part.raw };
        else {
          details.push(encodeSignature(carryNative(part), NATIVE_ID, details.length, spellForClient));
          paragraphs.break();
        }
        break;
      case "server-tool-call":
      case "server-tool-result":
        paragraphs.break();
        break;
      default:
        part satisfies never;
    }
  }
  const silent = calls.length > 0 || olderCall !== undefined || refusal !== undefined;
  const shown = hideReasoning ? details.filter(saysNothing) : details;
  return {
    role: "assistant",
    content: content ?? (silent ? null : ""),
    refusal: refusal ?? null,
    ...(hideReasoning || reasoning === undefined ? {} : { reasoning, reasoning_content: reasoning }),
    ...(shown.length === 0 ? {} : { reasoning_details: shown }),
    ...(annotations.length === 0 ? {} : { annotations }),
    ...(images.length === 0 ? {} : { images }),
    ...(calls.length === 0 ? {} : { tool_calls: calls }),
    ...withoutAbsent({ function_call: olderCall }),
    ...own,
  };
}

/**
 * Images in answers. The contract defines no form for them; this is the one that hosts and clients of the protocol share. Undefined for
 * anything that has no such form.
 */
export function encodeImage({ kind, source }: MediaPart, index: number): JsonObject | undefined {
  if (kind !== "image") return undefined;
  if (source.type === "url") return { type: "image_url", image_url: { url: source.url }, index };
  if (source.type !== "data") return undefined;
  return { type: "image_url", image_url: { url: `data:${source.mimeType};base64,${source.data}` }, index };
}
