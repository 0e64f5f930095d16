import { GatewayError } from "../canon/error.ts";
import type { CanonEvent } from "../canon/event.ts";
import type { SseFrame } from "../wire/sse.ts";
import type { AnswerReading, StreamDecoder, StreamEncoder } from "./codec.ts";
import { TapBase } from "./tap-base.ts";
import { AnswerUnwrapper } from "./unwrap-answer.ts";

/**
 * What one streamed answer may say, in characters: encoders keep thoughts and arguments until they are whole, so that this
 * bounds what they keep (H20). No model comes near.
 */
const MAX_CHARACTERS = 64 * 1024 * 1024;

/** The tap of the translated lane: frames of the upstream's dialect in, text of the client's out, the canon between. */
export class TranslatingTap extends TapBase {
  readonly #decoder: StreamDecoder;
  readonly #encoder: StreamEncoder;
  readonly #unwrapper: AnswerUnwrapper;

  constructor(decoder: StreamDecoder, encoder: StreamEncoder, reading: AnswerReading) {
    super();
    this.#decoder = decoder;
    this.#encoder = encoder;
    this.#unwrapper = new AnswerUnwrapper(reading);
  }

  push(events: string): string {
    return this.pushCarefully(events);
  }

  /** The upstream closed: whether that is an end or a break, its decoder knows. */
  override pushLast(rest: string): string {
    const text = super.pushLast(rest) ?? "";
    return this.failure || this.state === "ended" ? text : text + this.#encode(this.#decoder.end());
  }

  protected frame(frame: SseFrame): string {
    return this.#encode(this.#decoder.push(frame));
  }

  #encode(events: readonly CanonEvent[]): string {
    let text = "";
    for (const event of events) {
      for (const one of this.#unwrapper.push(event)) {
        this.#take(one);
        if (this.failure) return text;
        text += this.#encoder.push(one);
      }
    }
    return text;
  }

  #take(event: CanonEvent): void {
    switch (event.type) {
      case "metadata":
      case "logprobs":
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
      case "text-delta":
      case "reasoning-delta":
      case "refusal-delta":
      case "tool-input-delta":
        this.contentSeen = true;
        this.generatedCharacters += event.text.length;
        if (this.generatedCharacters > MAX_CHARACTERS) {
          this.failure = new GatewayError("upstream_failed", "The provider's answer is longer than can be translated.");
        }
        break;
      default:
        this.contentSeen = true;
    }
  }
}
