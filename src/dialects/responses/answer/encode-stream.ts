import { type JsonObject, numberAt, objectAt, parseObject, stringAt } from "../../../base/json.ts";
import type { CanonEvent } from "../../../canon/event.ts";
import { InSequence } from "../../../canon/in-sequence.ts";
import type { ServedOn } from "../../../canon/terms.ts";
import type { Usage } from "../../../canon/usage.ts";
import type { SseFrame } from "../../../wire/sse.ts";
import type { DeltaEvent, DeltaForm } from "../../answer/delta-form.ts";
import { noteFinish } from "../../answer/note-finish.ts";
import { stopDetails } from "../../answer/stop-details.ts";
import type { EncodeAnswerContext, StreamEncoder } from "../../codec.ts";
import { usageWithEstimates } from "../estimate.ts";
import { EventWriter } from "./event-writer.ts";
import { CLOSING_EVENTS } from "./followed-items.ts";
import { ItemWriter } from "./item-writer.ts";
import { isStored } from "./repeated-state.ts";
import { encodeShell } from "./response-shell.ts";
import { encodeStop } from "./stop-reason.ts";
import type { StreamPosition } from "./stream-position.ts";
import { encodeUsage } from "./usage.ts";

/** Writes named and numbered events from `response.created` to `response.completed` or `.incomplete`, item by item. */
export class ResponsesStreamEncoder implements StreamEncoder {
  readonly #context: EncodeAnswerContext;
  readonly #sequence = new InSequence();
  readonly #events: EventWriter;
  readonly #items: ItemWriter;
  #usage: Usage | undefined;
  #shell: JsonObject | undefined;
  /** The whole response, once it has ended. */
  response: JsonObject | undefined;

  constructor(context: EncodeAnswerContext, { silent = false } = {}) {
    this.#context = context;
    this.#events = new EventWriter(silent);
    this.#items = new ItemWriter(this.#events, context);
  }

  /** Undefined before anything was written. */
  get position(): StreamPosition | undefined {
    if (this.#shell === undefined) return undefined;
    return { sequence: this.#events.sequence, response: { ...this.#shell, output: this.#items.output } };
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

  readonly closingEvents = CLOSING_EVENTS;

  get inStep(): boolean {
    return this.#items.followed.inStep;
  }

  /** Takes over numbers, ids and ends that the client has seen, even if a provider wrote them. */
  follow({ data }: SseFrame): void {
    const event = data === undefined ? undefined : parseObject(data);
    if (event === undefined) return;
    const number = numberAt(event, "sequence_number");
    if (number !== undefined) this.#events.sequence = number + 1;
    const id = stringAt(objectAt(event, "response"), "id");
    if (id !== undefined) this.#shell = { ...this.#shell, id };
    this.#items.follow(event);
  }

  formOf(): DeltaForm | undefined {
    return this.#items.form;
  }

  /** The events of the run already have their numbers. */
  absorb(event: DeltaEvent): void {
    const { sequence } = this.#events;
    this.push(event);
    this.#events.sequence = sequence;
  }

  #start(event: CanonEvent): string {
    if (this.#shell !== undefined || event.type === "error") return "";
    const { request, publicModel, makeId, nowSeconds, answerId } = this.#context;
    const id = answerId ?? ownId(event) ?? `resp_${makeId()}`;
    this.#items.idBase = id.slice(PREFIX.length);
    this.#shell = encodeShell(request, {
      id,
      model: publicModel,
      createdAtSeconds: (event.type === "metadata" ? event.created : undefined) ?? nowSeconds(),
      status: "in_progress",
      store: isStored(this.#context),
    });
    const response = this.#shell;
    return (
      this.#events.write("response.created", { response }) + this.#events.write("response.in_progress", { response })
    );
  }

  #write(event: CanonEvent): string {
    switch (event.type) {
      case "usage":
        this.#usage = event.usage;
        return "";
      case "logprobs":
        this.#items.addLogprobs(event.tokens);
        return "";
      case "finish":
        return this.#finish(event);
      // The start is already written, and errors are written elsewhere.
      case "metadata":
      case "error":
        return "";
      default:
        return this.#items.push(event);
    }
  }

  /** A response always has a usage, if only an estimate (R2). */
  #finish(event: Extract<CanonEvent, { type: "finish" }>): string {
    const { estimateInputTokens, nowSeconds, keep, served, note } = this.#context;
    noteFinish(event, note, { without: ["pause", "abnormal", "other"], explained: true });
    const end = encodeStop(event.stop);
    const items = this.#items.finish(end.status);
    const counted = usageWithEstimates(this.#usage, estimateInputTokens, this.#items.characters);
    const response = {
      ...this.#shell,
      ...end,
      ...stopDetails(event),
      ...(end.status === "completed" ? { completed_at: nowSeconds() } : {}),
      service_tier: encodeTier(served),
      output: this.#items.output,
      usage: encodeUsage(counted),
    };
    this.response = response;
    keep?.(response);
    return items + this.#events.write(`response.${end.status}`, { response });
  }
}

const PREFIX = "resp_";
const OWN_ID = /^resp_[\w-]{8,56}$/;

/** Keeps an id of this protocol. Ids of other protocols mean nothing to its clients. */
function ownId(event: CanonEvent): string | undefined {
  return event.type === "metadata" && event.id !== undefined && OWN_ID.test(event.id) ? event.id : undefined;
}

/** This protocol's names for non-standard terms. Providers of other protocols have more. */
const TIERS: ReadonlySet<string> = new Set(["flex", "scale", "priority", "fast", "ultrafast"]);

/** A response names the tier that served it, whichever was requested. */
const encodeTier = (served: ServedOn | undefined): string => served?.terms.find((term) => TIERS.has(term)) ?? "default";
