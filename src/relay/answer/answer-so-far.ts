import type { CanonEvent } from "../../canon/event.ts";
import type { FieldNote } from "../../canon/receipt.ts";
import type { Usage } from "../../canon/usage.ts";
import type { StreamDecoder, StreamEncoder } from "../../dialects/codec.ts";
import { quirksOf } from "../../dialects/quirks.ts";
import { readFrames } from "../../wire/sse.ts";
import type { Call, LaneAttempt } from "../call.ts";
import type { Gateway } from "../gateway.ts";
import { CallAnswerContext } from "./answer-context.ts";

/** The longest response that is kept. A longer one cannot be continued by another offer. */
const MAX_CHARACTERS = 256 * 1024;
/** Kept text is counted against the memory of all calls in steps of this size, at two bytes per character. */
const COUNTED_CHARACTERS = 64 * 1024;

const HALF = /[\uD800-\uDBFF]/;

const bytesDecoder = new TextDecoder();

/** The cost of a response as reported to the client. */
export type CostUsd = (usage: Usage) => number;

/**
 * What a client has received of a stream, kept so that another offer can continue it. It is decoded from the bytes that were sent
 * and encoded a second time without being sent. The encoder is then in the same state as if it had written the whole stream, with
 * the same id and block numbers.
 */
export class AnswerSoFar {
  readonly #call: Call;
  readonly #decoder: StreamDecoder;
  readonly #encoder: StreamEncoder;
  /** The text of all blocks. */
  text = "";
  /** The text block that is open. */
  openText: number | undefined;
  #openIsEmpty = false;
  /** The text ends in half of a character. */
  #endsInHalf = false;
  #blocks = 0;
  #openThoughts = new Map<number, boolean>();
  #hasThoughts = false;
  /** It contains something that cannot be continued, or it is no longer followed. */
  #lost = false;
  #hasOther = false;
  #countedCharacters = 0;
  /** Callbacks of the continuation: its total cost, and a note on what the client could not be given. */
  costUsd: CostUsd;
  note: (note: FieldNote) => void = () => {};

  constructor(call: Call, gateway: Gateway, attempt: LaneAttempt) {
    this.#call = call;
    const { dialect } = call.incoming;
    const context = new CallAnswerContext(call, gateway, attempt);
    this.costUsd = (usage) => context.costUsd(usage);
    this.#decoder = dialect.codec.createStreamDecoder({
      origin: attempt.target.origin,
      quirks: quirksOf(dialect.name),
      reading: {},
      makeId: gateway.random.id,
    });
    this.#encoder = dialect.codec.createStreamEncoder({
      ...context,
      costUsd: (usage: Usage) => this.costUsd(usage),
      estimateInputTokens: () => dialect.requests.estimateTokens(call.body),
      note: (note: FieldNote) => this.note(note),
    });
  }

  /** The client has received something that it would show. */
  get hasBegun(): boolean {
    return this.text !== "" || this.#hasThoughts || this.#hasOther || this.#lost || this.#decoder.holdsBack === true;
  }

  /**
   * Whether another offer can continue from here: it ends in text, preceded only by text and complete thoughts. Tool arguments, a
   * thought or half a character cannot be completed by another offer.
   */
  get canGoOn(): boolean {
    return (
      !this.#lost &&
      !this.#hasOther &&
      this.#encoder.inStep !== false &&
      this.#decoder.holdsBack !== true &&
      this.text !== "" &&
      this.#openThoughts.size === 0 &&
      !(this.openText !== undefined && this.#openIsEmpty) &&
      !this.#endsInHalf
    );
  }

  /** The position of the encoder in the stream; undefined if it is no longer followed. */
  get position(): unknown {
    return this.#lost ? undefined : this.#encoder.position;
  }

  get nextBlock(): number {
    return this.#blocks;
  }

  /** Whether these bytes only close a text that another offer could still continue. */
  onlyCloses(sent: Uint8Array): boolean {
    const { closingEvents } = this.#encoder;
    if (closingEvents === undefined || !this.canGoOn) return false;
    return readFrames(bytesDecoder.decode(sent)).every(({ event }) => event !== undefined && closingEvents.has(event));
  }

  /** Reads what the client was just sent. An error here must not harm the response: the stream is then no longer followed. */
  read(sent: Uint8Array): void {
    if (this.#lost || sent.length === 0) return;
    try {
      for (const frame of readFrames(bytesDecoder.decode(sent))) {
        if (frame.data === "") continue;
        for (const event of this.#decoder.push(frame)) this.push(event);
        this.#encoder.follow?.(frame);
      }
    } catch {
      this.#lose();
    }
  }

  /** Encodes the next event for the client. */
  push(event: CanonEvent): string {
    this.#follow(event);
    return this.#encoder.push(event);
  }

  #follow(event: CanonEvent): void {
    switch (event.type) {
      case "text-start":
        this.#begin(event.block);
        this.openText = event.block;
        this.#openIsEmpty = true;
        break;
      case "text-delta":
        this.#openIsEmpty = false;
        this.#keep(event.text);
        break;
      case "text-end":
        // Encoders leave out empty blocks, so their block numbers would no longer match the client's.
        if (this.#openIsEmpty) this.#lose();
        this.openText = undefined;
        break;
      case "reasoning-start":
        this.#begin(event.block);
        this.#openThoughts.set(event.block, true);
        break;
      case "reasoning-delta":
        this.#hasThoughts = true;
        this.#openThoughts.set(event.block, false);
        break;
      case "reasoning-end":
        this.#hasThoughts = true;
        if (this.#openThoughts.get(event.block) === true && event.signature === undefined) this.#lose();
        this.#openThoughts.delete(event.block);
        break;
      case "refusal-start":
      case "tool-input-start":
      case "whole":
        this.#begin(event.block);
        this.#hasOther = true;
        break;
      case "error":
        this.#lose();
        break;
      case "metadata":
      case "citation":
      case "refusal-delta":
      case "refusal-end":
      case "tool-input-delta":
      case "tool-input-end":
      case "logprobs":
      case "usage":
      case "finish":
        break;
      default:
        event satisfies never;
    }
  }

  #begin(block: number): void {
    // Blocks are numbered in sequence. If they are not, it is unknown where they would continue.
    if (block !== this.#blocks || this.openText !== undefined || this.#openThoughts.size > 0) this.#lose();
    this.#blocks = Math.max(this.#blocks, block + 1);
  }

  #keep(text: string): void {
    if (this.#lost) return;
    this.text += text;
    if (text !== "") this.#endsInHalf = HALF.test(text.slice(-1));
    try {
      for (; this.text.length >= this.#countedCharacters + COUNTED_CHARACTERS; ) {
        this.#call.memory.add(2 * COUNTED_CHARACTERS);
        this.#countedCharacters += COUNTED_CHARACTERS;
      }
    } catch {
      this.#lose();
    }
    if (this.text.length > MAX_CHARACTERS) this.#lose();
  }

  /** The counted memory is released with the rest of the call's. */
  #lose(): void {
    this.#lost = true;
    this.text = "";
  }
}
