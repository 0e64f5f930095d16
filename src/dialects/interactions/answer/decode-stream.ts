import { arrayAt, type JsonObject, numberAt, objectAt, parseObject, stringAt } from "../../../base/json.ts";
import { withoutAbsent } from "../../../base/without-absent.ts";
import { GatewayError } from "../../../canon/error.ts";
import type { CanonEvent } from "../../../canon/event.ts";
import { reportModel, reportTerms } from "../../../canon/terms.ts";
import { laterUsage, type Usage } from "../../../canon/usage.ts";
import type { VaryingPlaces } from "../../../wire/frame-template.ts";
import { parseInOrder } from "../../../wire/ordered-json.ts";
import type { SseFrame } from "../../../wire/sse.ts";
import type { DecodeAnswerContext, StreamDecoder } from "../../codec.ts";
import { decodeMetadata, stopDetailOf } from "./decode-response.ts";
import { decodeErrorObject } from "./errors.ts";
import { OpenSteps } from "./open-steps.ts";
import { decodeStop, failureIn } from "./stop-reason.ts";
import { decodeUsage } from "./usage.ts";

const DELTA_PLACES: VaryingPlaces = { texts: [["delta", "text"]], numbers: [] };

/** Reads events from `interaction.created` to `interaction.completed`. Unknown kinds of events are ignored. */
export class InteractionsStreamDecoder implements StreamDecoder {
  readonly deltaPlaces = DELTA_PLACES;
  readonly #context: DecodeAnswerContext;
  readonly #steps: OpenSteps;
  #usage: Usage | undefined;
  #named = false;
  #over = false;

  constructor(context: DecodeAnswerContext) {
    this.#context = context;
    this.#steps = new OpenSteps(context);
  }

  get complete(): boolean {
    return this.#over;
  }

  get holdsBack(): boolean {
    return this.#steps.holdsBack;
  }

  get usage(): Usage | undefined {
    return this.#steps.uses.addTo(this.#usage);
  }

  push(frame: SseFrame): CanonEvent[] {
    if (this.#over || frame.data === "" || frame.data === "[DONE]") return [];
    if (frame.data === undefined) return this.#readBare(frame.raw);
    const event = parseObject(frame.data, parseInOrder);
    if (event === undefined) {
      return this.#fail(new GatewayError("upstream_failed", "The provider sent an event that is not valid JSON."));
    }
    try {
      return this.#event(stringAt(event, "event_type") ?? frame.event ?? "", event);
    } catch (thrown) {
      if (!(thrown instanceof GatewayError)) throw thrown;
      return this.#fail(thrown);
    }
  }

  end(): CanonEvent[] {
    if (this.#over) return [];
    return this.#fail(
      new GatewayError("upstream_failed", "The provider closed the stream before the response was complete."),
    );
  }

  /** A host may answer a streaming request with a plain JSON error. Comments are not JSON. */
  #readBare(raw: string): CanonEvent[] {
    const body = raw.startsWith("{") || raw.startsWith("[") ? parseObject(raw) : undefined;
    return body !== undefined && "error" in body ? this.#fail(decodeErrorObject(body, 200)) : [];
  }

  #fail(error: GatewayError): CanonEvent[] {
    this.#over = true;
    return [...this.#reported(), { type: "error", error }];
  }

  #event(type: string, event: JsonObject): CanonEvent[] {
    this.#count(objectAt(event, "usage") ?? objectAt(objectAt(event, "metadata"), "total_usage"));
    switch (type) {
      case "interaction.created":
        return this.#start(objectAt(event, "interaction") ?? {});
      case "step.start":
        return this.#steps.start(numberAt(event, "index") ?? -1, objectAt(event, "step") ?? {});
      case "step.delta":
        return this.#steps.delta(numberAt(event, "index") ?? -1, objectAt(event, "delta") ?? {});
      case "step.stop":
        return this.#steps.stop(numberAt(event, "index") ?? -1);
      case "interaction.completed":
        return this.#end(objectAt(event, "interaction") ?? {});
      case "error":
        return this.#fail(decodeErrorObject(event, 200));
      default:
        return [];
    }
  }

  #count(usage: JsonObject | undefined): void {
    const counted = decodeUsage(usage);
    if (counted !== undefined) this.#usage = laterUsage(this.#usage, counted);
    this.#steps.uses.report(usage);
  }

  #start(interaction: JsonObject): CanonEvent[] {
    if (this.#named) return [];
    this.#named = true;
    return [{ type: "metadata", ...decodeMetadata(interaction) }];
  }

  #end(interaction: JsonObject): CanonEvent[] {
    const named = this.#start(interaction);
    this.#count(objectAt(interaction, "usage"));
    reportModel(this.#context.served, interaction["model"]);
    reportTerms(this.#context.served, interaction["service_tier"]);
    const failure = objectAt(interaction, "error") ? decodeErrorObject(interaction, 200) : failureIn(interaction);
    // A failed response may have a usage, which is billed.
    if (failure !== undefined) return [...named, ...this.#fail(failure)];
    this.#over = true;
    const events = [...named, ...this.#steps.endAll(arrayAt(interaction, "steps")), ...this.#reported()];
    const stop = decodeStop(interaction, this.#steps.hasCalls);
    return [...events, { type: "finish", stop, ...withoutAbsent({ stopDetail: stopDetailOf(interaction) }) }];
  }

  #reported(): CanonEvent[] {
    const { usage } = this;
    return usage === undefined ? [] : [{ type: "usage", usage }];
  }
}
