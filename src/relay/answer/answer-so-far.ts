import type { CanonEvent } from "../../canon/event.ts";
import type { FieldNote } from "../../canon/receipt.ts";
import type { Usage } from "../../canon/usage.ts";
import type { StreamDecoder, StreamEncoder } from "../../dialects/codec.ts";
import { quirksOf } from "../../dialects/quirks.ts";
import { readFrames } from "../../wire/sse.ts";
import type { Call, LaneAttempt } from "../call.ts";
import type { Gateway } from "../gateway.ts";
import { CallAnswerContext } from "./answer-context.ts";

/** No longer answer is kept: one that breaks off behind this is not gone on with. */
const MAX_CHARACTERS = 256 * 1024;
/** What is kept is counted against the memory of all calls in such steps, of two bytes a character. */
const COUNTED_CHARACTERS = 64 * 1024;

const HALF = /[\uD800-\uDBFF]/;

const bytesDecoder = new TextDecoder();

/** What an answer costs, as the client is told it. */
export type CostUsd = (usage: Usage) => number;

/**
 * What a client has read of a stream, kept so that another offer can go on with it. It is read back from the very bytes that
 * were sent, and written a second time, and not sent: so that the writer stands where a stream of its own would stand, with the
 * same id and the same numbers of blocks, whoever has written until then.
 */
export class AnswerSoFar {
  readonly #call: Call;
  readonly #decoder: StreamDecoder;
  readonly #encoder: StreamEncoder;
  /** All text, whatever block it stood in. */
  text = "";
  /** The text block that has begun and not ended. */
  openText: number | undefined;
  #openIsEmpty = false;
  /** The text ends in half of a character. */
  #endsInHalf = false;
  #blocks = 0;
  #openThoughts = new Map<number, boolean>();
  #hasThoughts = false;
  /** There is something in it that cannot be gone on from, or it is no longer followed. */
  #lost = false;
  #hasOther = false;
  #countedCharacters = 0;
  /** What its continuation costs in all, and what of it the client could not be given. */
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

  /** Something was said that a client would show. */
  get hasBegun(): boolean {
    return this.text !== "" || this.#hasThoughts || this.#hasOther || this.#lost || this.#decoder.holdsBack === true;
  }

  /**
   * Whether it ends where another may go on: behind text, and nothing but text and whole thoughts before it. A call's arguments, a
   * thought, and a character that is only half there, cannot be finished by another offer.
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

  /** Where the stream stands, as its writer says; undefined where it is no longer followed. */
  get position(): unknown {
    return this.#lost ? undefined : this.#encoder.position;
  }

  get nextBlock(): number {
    return this.#blocks;
  }

  /** Whether this only says that what was said is over, though another could go on with it until the client reads so. */
  onlyCloses(sent: Uint8Array): boolean {
    const { closingEvents } = this.#encoder;
    if (closingEvents === undefined || !this.canGoOn) return false;
    return readFrames(bytesDecoder.decode(sent)).every(({ event }) => event !== undefined && closingEvents.has(event));
  }

  /** What a client was just sent. Whatever goes wrong here must not harm the answer: it is then no longer followed. */
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

  /** The next step of the answer: what the client is to read for it. */
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
        // Writers leave out empty blocks: from there on their numbers would be others than the client's.
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
    // Blocks are numbered as they begin, and one after the other: of any others it is not known where they would go on.
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

  /** What was counted is given back with everything else that the call holds. */
  #lose(): void {
    this.#lost = true;
    this.text = "";
  }
}
