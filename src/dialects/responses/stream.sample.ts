import { type JsonObject, parseObject, stringAt } from "../../base/json.ts";
import type { CanonEvent } from "../../canon/event.ts";
import { unfold } from "../../canon/fold.ts";
import type { ReplyPart } from "../../canon/reply.ts";
import type { Stop } from "../../canon/stop.ts";
import { readFrames } from "../../wire/sse.ts";
import { encodeContext } from "../request/encode-context.sample.ts";
import { ResponsesStreamEncoder } from "./answer/encode-stream.ts";

export const STOPPED: Stop = { unified: "stop", raw: "stop" };

/** What a client reads from a stream. */
export function readEvents(text: string): JsonObject[] {
  return readFrames(text).map(({ event, data }) => {
    const parsed = parseObject(data ?? "") ?? {};
    if (stringAt(parsed, "type") !== event) throw new Error(`${event} carries ${stringAt(parsed, "type")}`);
    return parsed;
  });
}

export function streamOf(events: Iterable<CanonEvent>, context = encodeContext()): JsonObject[] {
  const encoder = new ResponsesStreamEncoder(context);
  return readEvents([...events].map((event) => encoder.push(event)).join(""));
}

/** The stream of a response with these parts. */
export const streamOfParts = (parts: readonly ReplyPart[], context = encodeContext(), stop = STOPPED): JsonObject[] =>
  streamOf(unfold({ parts, stop, usage: { input: 3, output: 5 } }), context);

export const typesOf = (events: readonly JsonObject[]): string[] =>
  events.map((event) => (stringAt(event, "type") ?? "").replace(/^response\./, ""));
