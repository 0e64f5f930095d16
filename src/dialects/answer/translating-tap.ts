import { eventWeight } from "../../base/text-weight.ts";
import { GatewayError } from "../../canon/error.ts";
import type { CanonEvent, WholePart } from "../../canon/event.ts";
import type { Usage } from "../../canon/usage.ts";
import type { SseFrame } from "../../wire/sse.ts";
import type { AnswerReading, StreamDecoder, StreamEncoder } from "../codec.ts";
import { requireFewBlocks, requireFewCalls, requireFewLogprobs } from "./answer-bounds.ts";
import { TapBase } from "./tap-base.ts";
import { AnswerUnwrapper } from "./unwrap-answer.ts";

/**
 * The limit of a streamed response in characters. Encoders keep thoughts and arguments until they are complete, so this limits
 * their buffers (H20) and the turn in which they write them (S18). No model comes close.
 */
export const MAX_CHARACTERS = 8 * 1024 * 1024;

/**
 * The tap of the translated lane: frames of the upstream's dialect in, text of the client's dialect out, with the canon in
 * between.
 */
export class TranslatingTap extends TapBase {
  override readonly usageRuns: boolean;
  protected readonly decoder: StreamDecoder;
  protected readonly encoder: StreamEncoder;
  /** Undefined where the request had nothing done to it that an answer undoes. */
  readonly #unwrapper: AnswerUnwrapper | undefined;
  #contentCame = false;
  #calls = 0;
  #blocks = 0;
  #logprobs = 0;

  constructor(decoder: StreamDecoder, encoder: StreamEncoder, reading: AnswerReading) {
    super();
    this.usageRuns = decoder.usageRuns === true;
    this.decoder = decoder;
    this.encoder = encoder;
    if (Object.keys(reading).length > 0) this.#unwrapper = new AnswerUnwrapper(reading);
  }

  get position(): unknown {
    return this.encoder.position;
  }

  /** The upstream closed. The decoder knows whether that is an end or a break. */
  protected override pushRest(rest: string): string {
    const text = super.pushRest(rest);
    return this.failure || this.state === "ended" ? text : text + this.#encodeEnd();
  }

  /** Content held until the end may exceed what the client may be sent, which is a failure. */
  protected override closing(): string {
    return this.state === "complete" ? this.#encodeEnd() : "";
  }

  /** Content held until the end may also exceed what may be read. */
  #encodeEnd(): string {
    try {
      return this.#encode(this.decoder.end());
    } catch (thrown) {
      if (!(thrown instanceof GatewayError)) throw thrown;
      this.failure = thrown;
      return "";
    }
  }

  protected frame(frame: SseFrame): string {
    const events = this.decoder.push(frame);
    const text = this.#encode(events);
    this.translated(frame, events, text);
    if (this.state === "open" && this.decoder.complete) this.state = "complete";
    return text;
  }

  /** Called after an upstream event was translated, for subclasses that learn from it. */
  protected translated(_frame: SseFrame, _events: readonly CanonEvent[], _text: string): void {}

  #encode(events: readonly CanonEvent[]): string {
    let text = "";
    for (const event of events) {
      if ("text" in event) this.#count(event.text);
      if (this.failure) return text;
      for (const one of this.#unwrapper?.push(event) ?? [event]) {
        this.#takeFew(one);
        if (!this.failure) text += this.#written(one);
        this.contentSeen = this.#contentCame && this.encoder.undecided !== true;
        if (this.failure) return text;
      }
    }
    return text;
  }

  /** The running usage, if the stream broke off and the decoder reports it only at the end. */
  override get usage(): Usage | undefined {
    return this.usageSeen ?? this.decoder.usage;
  }

  /** Content that the client's protocol cannot express fails the response. What was sent before is kept. */
  #written(event: CanonEvent): string {
    try {
      return this.encoder.push(event);
    } catch (thrown) {
      if (!(thrown instanceof GatewayError)) throw thrown;
      this.failure = thrown;
      return "";
    }
  }

  /** Counted before it is held: buffers are limited too, and the content was generated even if no client gets it (H14). */
  #count(text: string): void {
    this.generatedCharacters += eventWeight(text);
    if (this.generatedCharacters > MAX_CHARACTERS) {
      this.failure = new GatewayError(
        "upstream_failed",
        "The provider's response exceeds the size limit for translation.",
      );
    }
  }

  /** Exceeding a read limit fails the response, like content that cannot be written. */
  #takeFew(event: CanonEvent): void {
    try {
      this.#take(event);
    } catch (thrown) {
      if (!(thrown instanceof GatewayError)) throw thrown;
      this.failure = thrown;
    }
  }

  #countMedia(part: WholePart): void {
    if (part.type !== "media" || (part.kind !== "image" && part.kind !== "audio")) return;
    this.bring(part.kind, part.source.type === "data" ? part.source.data.length : 0);
  }

  #take(event: CanonEvent): void {
    switch (event.type) {
      case "metadata":
        break;
      case "logprobs":
        for (const { top = [] } of event.tokens) this.#logprobs += 1 + top.length;
        requireFewLogprobs(this.#logprobs);
        break;
      case "usage":
        this.usageSeen = event.usage;
        break;
      case "finish":
        this.stop = event.stop;
        this.state = "ended";
        break;
      case "error":
        this.failure = event.error;
        break;
      case "reasoning-start":
        requireFewBlocks(++this.#blocks);
        this.reasoningSeen = true;
        break;
      // Only announced, without content: another offer may still answer.
      case "text-start":
      case "refusal-start":
        requireFewBlocks(++this.#blocks);
        break;
      case "tool-input-start":
        requireFewCalls(++this.#calls);
        this.#contentCame = true;
        break;
      case "whole":
        this.#countMedia(event.part);
        requireFewBlocks(++this.#blocks);
        this.#contentCame = true;
        break;
      case "citation":
        requireFewBlocks(++this.#blocks);
        this.#contentCame = true;
        break;
      default:
        this.#contentCame = true;
    }
  }
}
