import type { JsonObject } from "../../../base/json.ts";
import type { CanonEvent } from "../../../canon/event.ts";
import { InSequence } from "../../../canon/in-sequence.ts";
import type { Usage } from "../../../canon/usage.ts";
import { stringifyInOrder } from "../../../wire/ordered-json.ts";
import { type DeltaEvent, DeltaForm } from "../../answer/delta-form.ts";
import { judgeBrokenCall } from "../../answer/judge-broken-call.ts";
import type { EncodeAnswerContext, StreamEncoder } from "../../codec.ts";
import { tokensOfCharacters } from "../../reading/estimate-tokens.ts";
import { BlockWriter } from "./block-writer.ts";
import { answerOptionsOf, UNCARRIED } from "./encode-response.ts";
import { encodeFinish, noteMessagesFinish } from "./finish.ts";
import { encodePrompt, encodeUsage, overEstimate } from "./usage.ts";

/** Writes named events from `message_start` to `message_stop`, one block after the other. */
export class MessagesStreamEncoder implements StreamEncoder {
  readonly #context: EncodeAnswerContext;
  readonly #sequence = new InSequence();
  readonly #blocks: BlockWriter;
  /** Names of calls whose arguments are not an object. The stop reason decides how they are treated. */
  readonly #broken: string[] = [];
  #usage: Usage | undefined;
  #started = false;
  /** The prompt count at the start was an estimate. */
  #estimated = false;

  constructor(context: EncodeAnswerContext) {
    this.#context = context;
    this.#blocks = new BlockWriter(answerOptionsOf(context, (name) => this.#broken.push(name)));
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

  formOf(event: DeltaEvent): DeltaForm | undefined {
    if (event.type === "tool-input-delta" && this.#blocks.holdsInput) return undefined;
    const deltaOf = this.#blocks.deltasLike(event);
    return deltaOf === undefined ? DeltaForm.NOTHING : DeltaForm.of((text) => writeEvent(deltaOf(text)));
  }

  /** An estimate of the prompt is used until the upstream reports its count (H11). */
  #start(event: CanonEvent): string {
    if (this.#started || event.type === "error") return "";
    this.#started = true;
    const id = event.type === "metadata" ? event.id : undefined;
    const reported = event.type === "usage" && event.usage.input !== undefined ? event.usage : undefined;
    this.#estimated = reported === undefined;
    const prompt =
      reported === undefined ? { input_tokens: this.#context.estimateInputTokens() } : encodePrompt(reported);
    return writeEvent({
      type: "message_start",
      message: {
        id: id ?? `msg_${this.#context.makeId()}`,
        type: "message",
        role: "assistant",
        model: this.#context.publicModel,
        content: [],
        stop_reason: null,
        stop_sequence: null,
        usage: { ...prompt, output_tokens: 0 },
      },
    });
  }

  #write(event: CanonEvent): string {
    switch (event.type) {
      case "usage":
        this.#usage = event.usage;
        return "";
      case "finish":
        return this.#finish(event);
      // This dialect has no log probabilities, errors are written elsewhere, and the start is already written.
      case "metadata":
      case "logprobs":
      case "error":
        return "";
      default:
        return this.#blocks.push(event).map(writeEvent).join("");
    }
  }

  /** Writes usage in both places: the contract reads `delta.usage`, the vendors' SDKs the event's `usage` (choices 3). */
  #finish(event: Extract<CanonEvent, { type: "finish" }>): string {
    const { note } = this.#context;
    const { blocks, leftSignature } = this.#blocks.finish();
    if (leftSignature) note(UNCARRIED);
    for (const name of this.#broken) judgeBrokenCall(name, event.stop, { note, action: "approximated" });
    const counted = encodeUsage(this.#usage, {
      input: this.#context.estimateInputTokens,
      output: () => tokensOfCharacters(this.#blocks.characters),
    });
    const usage = this.#estimated ? overEstimate(counted) : counted;
    noteMessagesFinish(event, this.#blocks.refused, note);
    const delta = { ...encodeFinish(event, this.#blocks.refused), usage };
    const end = [...blocks, { type: "message_delta", delta, usage }, { type: "message_stop" }];
    return end.map(writeEvent).join("");
  }
}

const writeEvent = (event: JsonObject): string => `event: ${event["type"]}\ndata: ${stringifyInOrder(event)}\n\n`;
