import { type JsonObject, objectAt, parseObject, stringAt } from "../../../base/json.ts";
import { eventWeight, textWeight } from "../../../base/text-weight.ts";
import { GatewayError } from "../../../canon/error.ts";
import { reportModel, reportTerms } from "../../../canon/terms.ts";
import type { Usage } from "../../../canon/usage.ts";
import { changeValue, ObjectEdit } from "../../../wire/json-text.ts";
import type { SseFrame } from "../../../wire/sse.ts";
import { TapBase } from "../../answer/tap-base.ts";
import type { NativeAnswerContext } from "../../dialect.ts";
import { clientFields, UNSHOWN, without } from "../native.ts";
import { CollectedSteps } from "./collected-steps.ts";
import { decodeErrorObject, type StreamPosition } from "./errors.ts";
import { DONE, isNumbered } from "./event-writer.ts";
import { HostedToolUses } from "./hosted-tool-uses.ts";
import { decodeStop, failureIn } from "./stop-reason.ts";
import { decodeUsage } from "./usage.ts";

/** Reads a stream as it passes. Steps are unchanged; the events around them get the gateway's id and model. */
export class InteractionsTap extends TapBase {
  readonly #context: NativeAnswerContext;
  readonly #steps = new CollectedSteps();
  readonly #uses = new HostedToolUses();
  readonly #numbered: boolean;
  #sequence = 0;
  #hasCalls = false;
  #id: string | undefined;

  constructor(context: NativeAnswerContext) {
    super();
    this.#context = context;
    this.#numbered = isNumbered(context.request);
  }

  override get usage(): Usage | undefined {
    return this.#uses.addTo(this.usageSeen);
  }

  /** For an error that ends the stream. */
  get position(): StreamPosition | undefined {
    return this.#numbered ? { sequence: this.#sequence } : undefined;
  }

  protected frame({ raw, data, event: name }: SseFrame): string {
    if (data === undefined || data === "[DONE]") return "";
    const event = parseObject(data);
    const type = stringAt(event, "event_type") ?? name;
    if (event === undefined || type === undefined) {
      throw new GatewayError("upstream_failed", "The provider sent an unrecognised event.");
    }
    this.#count(objectAt(event, "usage") ?? objectAt(objectAt(event, "metadata"), "total_usage"));
    switch (type) {
      case "error":
        throw decodeErrorObject(event, 200);
      case "interaction.created":
        return this.#send(type, this.#withFields(data, objectAt(event, "interaction") ?? {}));
      case "interaction.status_update":
        return this.#send(type, new ObjectEdit(data).set("interaction_id", JSON.stringify(this.#id ?? "")).toString());
      case "interaction.completed":
        return this.#end(data, objectAt(event, "interaction") ?? {});
      default:
        this.#follow(type, event);
        return this.#numbered || name !== type ? this.#send(type, data) : raw;
    }
  }

  #send(type: string, data: string): string {
    const text = this.#numbered
      ? new ObjectEdit(data).set("event_id", JSON.stringify(String(this.#sequence++))).toString()
      : data;
    return `event: ${type}\ndata: ${text.replace(/[\r\n]+/g, " ")}\n\n`;
  }

  #count(usage: JsonObject | undefined): void {
    this.report(decodeUsage(usage));
    this.#uses.report(usage);
  }

  #follow(type: string, event: JsonObject): void {
    const typed = { ...event, event_type: type };
    const ended = this.#steps.take(typed);
    if (ended !== undefined) this.#uses.count(ended);
    if (type === "step.start") this.#begin(objectAt(event, "step"));
    if (type === "step.delta") this.#weigh(objectAt(event, "delta"));
  }

  /** A thought or an output that is only announced has no content. Until it does, another offer can still answer. */
  #begin(step: JsonObject | undefined): void {
    const type = stringAt(step, "type");
    if (type === "function_call") this.#hasCalls = true;
    if (type === "thought") this.reasoningSeen = true;
    if (type !== "thought" && type !== "model_output") this.contentSeen = true;
  }

  #weigh(delta: JsonObject | undefined): void {
    const content = objectAt(delta, "content");
    const text = stringAt(delta, "text") ?? stringAt(delta, "arguments") ?? stringAt(content, "text");
    const data = stringAt(delta, "data") ?? stringAt(content, "data");
    if (text === "" || delta === undefined) return;
    this.contentSeen = true;
    if (text !== undefined) this.generatedCharacters += eventWeight(text);
    const kind = stringAt(delta, "type");
    if (data !== undefined && (kind === "image" || kind === "audio")) this.bring(kind, data.length);
  }

  #end(data: string, interaction: JsonObject): string {
    this.#count(objectAt(interaction, "usage"));
    this.failure = objectAt(interaction, "error") ? decodeErrorObject(interaction, 200) : failureIn(interaction);
    if (this.failure) return "";
    reportModel(this.#context.served, interaction["model"]);
    reportTerms(this.#context.served, interaction["service_tier"]);
    this.stop = decodeStop(interaction, this.#hasCalls);
    this.state = "ended";
    const { steps, overflowed } = this.#steps;
    const weight = steps.length === 0 ? textWeight(JSON.stringify(interaction["steps"] ?? "")) : 0;
    this.generatedCharacters = Math.max(this.generatedCharacters, weight);
    const sent = this.#withFields(data, interaction);
    if (!overflowed) {
      const fields = clientFields({ ...interaction, id: this.#id }, this.#context);
      const kept = without(interaction, UNSHOWN);
      this.#context.keep?.({ ...kept, ...fields, steps: steps.length === 0 ? (interaction["steps"] ?? []) : steps });
    }
    return this.#send("interaction.completed", sent) + DONE;
  }

  #withFields(data: string, interaction: JsonObject): string {
    const fields = clientFields({ ...interaction, id: this.#id ?? interaction["id"] }, this.#context);
    this.#id = stringAt(fields, "id");
    return changeValue(data, ["interaction"], (value) => {
      const edit = new ObjectEdit(value);
      for (const [key, field] of Object.entries(fields)) edit.set(key, JSON.stringify(field));
      for (const key of UNSHOWN) edit.remove(key);
      return edit.toString();
    });
  }
}
