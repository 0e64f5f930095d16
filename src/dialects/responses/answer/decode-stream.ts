import { arrayAt, isObject, type JsonObject, objectAt, parseObject, stringAt } from "../../../base/json.ts";
import { GatewayError } from "../../../canon/error.ts";
import type { CanonEvent } from "../../../canon/event.ts";
import { reportModel, reportTerms } from "../../../canon/terms.ts";
import type { Usage } from "../../../canon/usage.ts";
import type { VaryingPlaces } from "../../../wire/frame-template.ts";
import { parseInOrder } from "../../../wire/ordered-json.ts";
import type { SseFrame } from "../../../wire/sse.ts";
import { decodeErrorObject } from "../../answer/error-object.ts";
import { noteModeration } from "../../answer/note-moderation.ts";
import { decodeTokens } from "../../answer/token-logprobs.ts";
import type { DecodeAnswerContext, StreamDecoder } from "../../codec.ts";
import { decodeMetadata, failureIn } from "./decode-response.ts";
import { OpenItems } from "./open-items.ts";
import { decodeStop } from "./stop-reason.ts";
import { decodeUsage } from "./usage.ts";

const DELTA_PLACES: VaryingPlaces = {
  texts: [["delta"]],
  numbers: [["sequence_number"]],
  padding: [["obfuscation"]],
};

/**
 * Reads events from `response.created` to the one that ends the response. Items are built from their own events, because some providers
 * omit them from the last one (R3). Unknown kinds of events are ignored (R20).
 */
export class ResponsesStreamDecoder implements StreamDecoder {
  readonly deltaPlaces = DELTA_PLACES;
  readonly #context: DecodeAnswerContext;
  readonly #items: OpenItems;
  #named = false;
  #over = false;

  constructor(context: DecodeAnswerContext) {
    this.#context = context;
    this.#items = new OpenItems(context);
  }

  get complete(): boolean {
    return this.#over;
  }

  get holdsBack(): boolean {
    return this.#items.holdsBack;
  }

  /** Tokens are reported at the end. */
  get usage(): Usage | undefined {
    return this.#items.hosted.addTo(undefined);
  }

  push(frame: SseFrame): CanonEvent[] {
    if (this.#over || frame.data === "" || frame.data === "[DONE]") return [];
    if (frame.data === undefined) return this.#readBare(frame.raw);
    const event = parseObject(frame.data, parseInOrder);
    if (event === undefined) {
      return this.#fail(new GatewayError("upstream_failed", "The provider sent an event that is not valid JSON."));
    }
    return this.#event(stringAt(event, "type") ?? frame.event ?? "", event);
  }

  end(): CanonEvent[] {
    if (this.#over) return [];
    return this.#fail(
      new GatewayError("upstream_failed", "The provider closed the stream before the response was complete."),
    );
  }

  /** Some providers answer a streaming request with a plain JSON error. Comments are not JSON. */
  #readBare(raw: string): CanonEvent[] {
    const body = raw.startsWith("{") ? parseObject(raw) : undefined;
    return body !== undefined && "error" in body ? this.#fail(decodeErrorObject(body, 200)) : [];
  }

  #fail(error: GatewayError): CanonEvent[] {
    this.#over = true;
    return [{ type: "error", error }];
  }

  #event(type: string, event: JsonObject): CanonEvent[] {
    switch (type) {
      case "response.created":
      case "response.in_progress":
      case "response.queued":
        return this.#start(objectAt(event, "response"));
      case "response.output_item.added":
        return this.#items.added(event);
      case "response.output_text.delta":
        return [...this.#items.text("text", event), ...logprobsOf(event)];
      case "response.refusal.delta":
        return this.#items.text("refusal", event);
      case "response.reasoning_summary_text.delta":
        return this.#items.thought("summary", event);
      case "response.reasoning_text.delta":
        return this.#items.thought("content", event);
      case "response.function_call_arguments.delta":
      case "response.custom_tool_call_input.delta":
        return this.#items.input(event);
      case "response.function_call_arguments.done":
      case "response.custom_tool_call_input.done":
        return this.#items.inputDone(event);
      case "response.output_text.annotation.added":
        this.#items.cite(event);
        return [];
      case "response.output_item.done":
        return this.#items.done(event);
      case "response.completed":
      case "response.incomplete":
      case "response.failed":
      case "response.cancelled":
        return this.#end(type, objectAt(event, "response") ?? {});
      case "error":
        return this.#fail(decodeErrorObject(event, 200));
      default:
        this.#items.hosted.follow(type);
        return [];
    }
  }

  #start(response: JsonObject | undefined): CanonEvent[] {
    const metadata = decodeMetadata(response ?? {});
    if (this.#named || metadata.id === undefined) return [];
    this.#named = true;
    return [{ type: "metadata", ...metadata }];
  }

  #end(type: string, response: JsonObject): CanonEvent[] {
    const named = this.#start(response);
    // The event's name provides the status if its response has none.
    const status = stringAt(response, "status") ?? type.slice("response.".length);
    const failure = failureIn({ ...response, status });
    reportModel(this.#context.served, response["model"]);
    reportTerms(this.#context.served, response["service_tier"]);
    noteModeration(response, this.#context.note);
    // A failed response may have a usage, which is billed.
    if (failure !== undefined) return [...named, ...this.#usage(response), ...this.#fail(failure)];
    this.#over = true;
    const events = [...named, ...this.#items.endAll(arrayAt(response, "output").filter(isObject))];
    events.push(...this.#usage(response));
    return [...events, { type: "finish", stop: decodeStop({ ...response, status }, this.#items.hasCalls) }];
  }

  #usage(response: JsonObject): CanonEvent[] {
    this.#items.hosted.report(response);
    const usage = this.#items.hosted.addTo(decodeUsage(response["usage"]));
    return usage === undefined ? [] : [{ type: "usage", usage }];
  }
}

function logprobsOf(event: JsonObject): CanonEvent[] {
  const tokens = decodeTokens(arrayAt(event, "logprobs"));
  return tokens.length === 0 ? [] : [{ type: "logprobs", tokens }];
}
