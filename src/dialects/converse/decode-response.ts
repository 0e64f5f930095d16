import { type JsonObject, objectAt, stringAt } from "../../base/json.ts";
import { withoutAbsent } from "../../base/without-absent.ts";
import { GatewayError } from "../../canon/error.ts";
import type { CanonReply } from "../../canon/reply.ts";
import { countsNothing } from "../../canon/usage.ts";
import type { DecodeAnswerContext } from "../codec.ts";
import { decodeBlock } from "./content.ts";
import { decodeStop, isFailureWord } from "./stop-reason.ts";
import { decodeUsage } from "./usage.ts";

/** The matching stop sequence, if requested. Each of the provider's APIs has its own place for it. */
export function stopSequenceOf(holder: unknown): string | undefined {
  const fields = objectAt(holder, "additionalModelResponseFields");
  return stringAt(fields, "stop_sequence") ?? stringAt(objectAt(fields, "delta"), "stop_sequence");
}

export const brokeOff = (stopReason: string): string => `The provider ended the response early (${stopReason}).`;

export function decodeResponse(body: JsonObject, context: DecodeAnswerContext): CanonReply {
  const content = objectAt(objectAt(body, "output"), "message")?.["content"];
  const raw = stringAt(body, "stopReason");
  if (!Array.isArray(content) || raw === undefined) {
    throw new GatewayError("upstream_failed", "The provider's response does not follow its protocol.");
  }
  const parts = content.map((block) => decodeBlock(block, context));
  const answered = parts.some((part) => part.type !== "reasoning" && !(part.type === "text" && part.text === ""));
  const usage = decodeUsage(body);
  const counted = usage !== undefined && !countsNothing(usage);
  if (!answered && !counted && isFailureWord(raw)) throw new GatewayError("upstream_failed", brokeOff(raw));
  const stopSequence = stopSequenceOf(body);
  return {
    parts,
    stop: decodeStop(raw),
    ...withoutAbsent({ stopSequence, usage }),
  };
}
