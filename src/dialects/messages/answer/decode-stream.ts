import { isObject, type JsonObject, objectAt, stringAt } from "../../../base/json.ts";
import { asGatewayError, GatewayError } from "../../../canon/error.ts";
import type { CanonEvent } from "../../../canon/event.ts";
import { reportModel } from "../../../canon/terms.ts";
import type { VaryingPlaces } from "../../../wire/frame-template.ts";
import { parseInOrder } from "../../../wire/ordered-json.ts";
import type { SseFrame } from "../../../wire/sse.ts";
import { decodeException } from "../../answer/framed-exception.ts";
import type { DecodeAnswerContext, StreamDecoder } from "../../codec.ts";
import { decodeErrorObject } from "./errors.ts";
import { decodeFinish } from "./finish.ts";
import { type BlockDecoder, createBlockDecoder, HALF_CALL } from "./open-blocks.ts";
import { ServerTools } from "./server-tools.ts";
import { StreamedUsage } from "./streamed-usage.ts";
import { isHostedResult, isSearchResult, reportUsageTerms, withResults, withSearches } from "./usage.ts";

const DELTA_PLACES: VaryingPlaces = {
  texts: ["text", "thinking", "partial_json"].map((name) => ["delta", name]),
};

/**
 * Reads named events from `message_start` to `message_stop`. Pings may occur anywhere, unknown events and deltas are ignored, and
 * only `message_stop` is a proper end (H16).
 */
export class MessagesStreamDecoder implements StreamDecoder {
  readonly deltaPlaces = DELTA_PLACES;
  readonly #context: DecodeAnswerContext;
  /** The open blocks by their index in the upstream's content. */
  readonly #blocks = new Map<unknown, BlockDecoder>();
  readonly #usage = new StreamedUsage();
  #searches = 0;
  #results = 0;
  readonly #tools = new ServerTools();
  #finish: Record<string, unknown> | undefined;
  #begun = 0;
  #named = false;
  #over = false;

  constructor(context: DecodeAnswerContext) {
    this.#context = context;
  }

  get complete(): boolean {
    return this.#over;
  }

  get holdsBack(): boolean {
    for (const block of this.#blocks.values()) if (block.silent) return true;
    return false;
  }

  push(frame: SseFrame): CanonEvent[] {
    if (this.#over || frame.data === undefined || frame.data === "[DONE]") return [];
    const event = readEvent(frame.data);
    if (event === undefined) return this.#fail("The provider sent an unrecognised event.");
    if (frame.event === "exception") {
      this.#over = true;
      return [{ type: "error", error: decodeException(event) }];
    }
    try {
      return this.#event(stringAt(event, "type") ?? frame.event, event);
    } catch (thrown) {
      // A block exceeded its limit. The stream ends as for any other fault of the provider.
      this.#over = true;
      return [{ type: "error", error: asGatewayError(thrown) }];
    }
  }

  end(): CanonEvent[] {
    return this.#over ? [] : this.#fail("The provider closed the stream before the response was complete.");
  }

  #event(type: string | undefined, event: JsonObject): CanonEvent[] {
    switch (type) {
      case "message_start":
        return this.#start(objectAt(event, "message"));
      case "content_block_start":
        return this.#startBlock(event["index"], objectAt(event, "content_block") ?? {});
      case "content_block_delta": {
        const block = this.#blocks.get(event["index"]);
        return (
          block?.delta(objectAt(event, "delta")) ??
          this.#fail("The provider sent a delta for a content block that is not open.")
        );
      }
      case "content_block_stop":
        return this.#endBlock(event["index"]);
      case "message_delta":
        return this.#delta(event);
      case "message_stop":
        return this.#stop();
      case "error":
        this.#over = true;
        return [{ type: "error", error: decodeErrorObject(event) }];
      default:
        return [];
    }
  }

  /** Some hosts start again: earlier content stays, and the response has one start. A partial call is an error (H47). */
  #start(message: JsonObject | undefined): CanonEvent[] {
    if (this.#hasHalfCall()) return this.#fail(HALF_CALL);
    const id = stringAt(message, "id");
    reportModel(this.#context.served, message?.["model"]);
    const unended = [...this.#blocks.values()].flatMap((block) => block.end());
    this.#blocks.clear();
    const named: CanonEvent[] = this.#named ? [] : [{ type: "metadata", ...(id ? { id } : {}) }];
    this.#named = true;
    return [...unended, ...named, ...this.#begin(objectAt(message, "usage"))];
  }

  #hasHalfCall(): boolean {
    return [...this.#blocks.values()].some((block) => block.isHalfCall === true);
  }

  #startBlock(index: unknown, content: JsonObject): CanonEvent[] {
    if (this.#blocks.get(index)?.isHalfCall === true) return this.#fail(HALF_CALL);
    const unended = this.#endBlock(index);
    const block = createBlockDecoder(content, () => this.#begun++, this.#context);
    this.#blocks.set(index, block);
    const begun = [...unended, ...block.start()];
    if (isHostedResult(content)) this.#results++;
    const { openSearches } = this.#tools;
    this.#tools.count(content);
    if (isSearchResult(content)) this.#searches++;
    return openSearches === this.#tools.openSearches && !isSearchResult(content)
      ? begun
      : [...begun, ...this.#reported()];
  }

  #endBlock(index: unknown): CanonEvent[] {
    const block = this.#blocks.get(index);
    this.#blocks.delete(index);
    return block?.end() ?? [];
  }

  #delta(event: JsonObject): CanonEvent[] {
    const delta = objectAt(event, "delta");
    this.#finish = Object.assign(this.#finish ?? {}, delta);
    return this.#take(objectAt(event, "usage") ?? objectAt(delta, "usage"));
  }

  #stop(): CanonEvent[] {
    const finish = decodeFinish(this.#finish);
    if (finish.stop.unified !== "length" && this.#hasHalfCall()) return this.#fail(HALF_CALL);
    this.#over = true;
    const unended = [...this.#blocks.values()].flatMap((block) => block.end());
    return [...unended, { type: "finish", ...finish }];
  }

  #begin(usage: JsonObject | undefined): CanonEvent[] {
    if (usage === undefined) return [];
    this.#usage.begin(usage);
    return this.#reported();
  }

  #take(usage: JsonObject | undefined): CanonEvent[] {
    if (usage === undefined) return [];
    this.#usage.add(usage);
    return this.#reported();
  }

  #reported(): CanonEvent[] {
    const { raw, decoded } = this.#usage;
    reportUsageTerms(this.#context.served, raw);
    const open = this.#finish === undefined ? this.#tools.openSearches : 0;
    const counted = withResults(withSearches(decoded, this.#searches + open), this.#results);
    const usage = this.#tools.addTo(counted, raw);
    return usage === undefined ? [] : [{ type: "usage", usage }];
  }

  #fail(message: string): CanonEvent[] {
    this.#over = true;
    return [{ type: "error", error: new GatewayError("upstream_failed", message) }];
  }
}

/** A block's start may hold complete arguments, whose key order must be kept (H05). Deltas, which are many, hold only strings. */
function readEvent(data: string): JsonObject | undefined {
  try {
    const value: unknown = data.includes('"content_block_start"') ? parseInOrder(data) : JSON.parse(data);
    return isObject(value) ? value : undefined;
  } catch {
    // Incomplete, or not an event of this protocol; the caller reports it.
    return undefined;
  }
}
