import { isObject, type JsonObject } from "../../../base/json.ts";
import { GatewayError } from "../../../canon/error.ts";
import type { CanonEvent } from "../../../canon/event.ts";
import type { Usage } from "../../../canon/usage.ts";
import type { VaryingPlaces } from "../../../wire/frame-template.ts";
import { parseInOrder } from "../../../wire/ordered-json.ts";
import type { SseFrame } from "../../../wire/sse.ts";
import type { DecodeAnswerContext, StreamDecoder } from "../../codec.ts";
import { OpenBlocks } from "./open-blocks.ts";

/** The last usage counts. */
const DELTA_PLACES: VaryingPlaces = {
  texts: [["candidates", 0, "content", "parts", 0, "text"]],
  numbers: ["promptTokenCount", "candidatesTokenCount", "thoughtsTokenCount", "totalTokenCount"].map((name) => [
    "usageMetadata",
    name,
  ]),
};

/** Each event is a chunk in the format of a complete response. No sentinel marks the end. */
export class GenaiStreamDecoder implements StreamDecoder {
  readonly usageRuns = true;
  readonly deltaPlaces = DELTA_PLACES;
  readonly #blocks: OpenBlocks;

  constructor(context: DecodeAnswerContext) {
    this.#blocks = new OpenBlocks(context);
  }

  get usage(): Usage | undefined {
    return this.#blocks.usage;
  }

  get complete(): boolean {
    return this.#blocks.complete;
  }

  push({ data }: SseFrame): CanonEvent[] {
    if (data === undefined || data === "[DONE]") return [];
    const chunk = parseChunk(data);
    if (chunk !== undefined) return this.#blocks.read(chunk);
    return this.#blocks.fail(new GatewayError("upstream_failed", "The provider sent a chunk that is not valid JSON."));
  }

  end(): CanonEvent[] {
    return this.#blocks.end();
  }
}

function parseChunk(data: string): JsonObject | undefined {
  try {
    const value = parseInOrder(data);
    return isObject(value) ? value : undefined;
  } catch {
    // A truncated chunk, or an HTML page.
    return undefined;
  }
}
