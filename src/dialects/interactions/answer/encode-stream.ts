import { type JsonObject, objectAt, parseObject, stringAt } from "../../../base/json.ts";
import type { CanonEvent } from "../../../canon/event.ts";
import { InSequence } from "../../../canon/in-sequence.ts";
import type { Usage } from "../../../canon/usage.ts";
import type { SseFrame } from "../../../wire/sse.ts";
import type { DeltaEvent, DeltaForm } from "../../answer/delta-form.ts";
import { noteFinish } from "../../answer/note-finish.ts";
import { needsOriginal } from "../../answer/stop-details.ts";
import type { EncodeAnswerContext, StreamEncoder } from "../../codec.ts";
import type { StreamPosition } from "./errors.ts";
import { DONE, EventWriter, isNumbered } from "./event-writer.ts";
import { continued, encodeShell, timeOf } from "./interaction-shell.ts";
import { StepWriter } from "./step-writer.ts";
import { encodeStop } from "./stop-reason.ts";
import { encodeUsage } from "./usage.ts";

/** Writes named events from `interaction.created` to `interaction.completed`, step by step, and a sentinel. */
export class InteractionsStreamEncoder implements StreamEncoder {
  readonly #context: EncodeAnswerContext;
  readonly #sequence = new InSequence();
  readonly #events: EventWriter;
  readonly #steps: StepWriter;
  #usage: Usage | undefined;
  #id: string | undefined;
  /** The whole interaction, once it has ended. */
  interaction: JsonObject | undefined;

  constructor(context: EncodeAnswerContext, { silent = false } = {}) {
    this.#context = context;
    const { request } = context;
    this.#events = new EventWriter({ numbered: isNumbered(request), silent });
    const hidesThoughts = objectAt(request, "generation_config")?.["thinking_summaries"] === "none";
    this.#steps = new StepWriter(this.#events, context, hidesThoughts);
  }

  /** Undefined if events are not numbered. */
  get position(): StreamPosition | undefined {
    return this.#events.numbered ? { sequence: this.#events.sequence } : undefined;
  }

  push(event: CanonEvent): string {
    const start = this.#start(event);
    return (
      start +
      this.#sequence
        .push(event)
        .map((one) => this.#write(one))
        .join("")
    );
  }

  /** Takes over the id, the numbers and the steps that the client has seen, even if a provider wrote them. */
  follow({ data }: SseFrame): void {
    const event = data === undefined ? undefined : parseObject(data);
    if (event === undefined) return;
    const number = Number(stringAt(event, "event_id"));
    if (this.#events.numbered && Number.isInteger(number)) this.#events.sequence = number + 1;
    this.#id = stringAt(objectAt(event, "interaction"), "id") ?? this.#id;
    this.#steps.follow(event);
  }

  formOf(event: DeltaEvent): DeltaForm | undefined {
    return this.#steps.formOf(event);
  }

  absorb(event: DeltaEvent): void {
    this.push(event);
  }

  #start(event: CanonEvent): string {
    if (this.#id !== undefined || event.type === "error") return "";
    const { publicModel: model, makeId, answerId } = this.#context;
    const id = answerId ?? `${ID_PREFIX}${makeId()}`;
    this.#id = id;
    const status = "in_progress";
    return (
      this.#events.write("interaction.created", { interaction: encodeShell({ id, model, status }) }) +
      this.#events.write("interaction.status_update", { interaction_id: id, status })
    );
  }

  #write(event: CanonEvent): string {
    switch (event.type) {
      case "usage":
        this.#usage = event.usage;
        return "";
      case "finish":
        return this.#finish(event);
      // This protocol has no log probabilities. The start is already written, and errors are written elsewhere.
      case "logprobs":
      case "metadata":
      case "error":
        return "";
      default:
        return this.#steps.push(event);
    }
  }

  #finish(event: Extract<CanonEvent, { type: "finish" }>): string {
    const { publicModel: model, receivedAtMs, nowSeconds, request, served, note, keep } = this.#context;
    const closing = this.#steps.finish(event.stop);
    const isFiltered = event.stop.unified === "filter";
    noteFinish(event, note, {
      without: ["pause", "abnormal", "other"],
      explained: isFiltered || needsOriginal(event.stop),
    });
    const stop = this.#steps.refused && !isFiltered ? ({ unified: "filter", raw: "" } as const) : event.stop;
    const { status, ...more } = encodeStop({ ...event, stop });
    const ended = {
      ...encodeShell({ id: this.#id ?? "", model, status: String(status) }),
      ...more,
      ...(this.#usage === undefined ? {} : { usage: encodeUsage(this.#usage) }),
      created: timeOf(receivedAtMs),
      updated: timeOf(nowSeconds() * 1000),
      service_tier: served?.terms.find((term) => TIERS.has(term)) ?? "standard",
    };
    const { collected } = this.#steps;
    this.interaction = { ...ended, ...continued(request), steps: collected.steps };
    if (!collected.overflowed) keep?.(this.interaction);
    return closing + this.#events.write("interaction.completed", { interaction: ended }) + DONE;
  }
}

export const ID_PREFIX = "v1_";

/** This protocol's names for non-standard terms. Providers of other protocols have more. */
const TIERS: ReadonlySet<string> = new Set(["flex", "priority", "deferred"]);
