import type { CanonCall, Turn } from "../../canon/call.ts";
import { GatewayError } from "../../canon/error.ts";
import type { CanonEvent } from "../../canon/event.ts";
import { sumUsage, type Usage } from "../../canon/usage.ts";
import type { StreamEncoder } from "../../dialects/codec.ts";
import { tokensOfCharacters } from "../../dialects/reading/estimate-tokens.ts";
import type { AnswerSoFar } from "./answer-so-far.ts";
import { judgeContinuation } from "./judge-continuation.ts";

/** A provider was asked to continue a response and did something else. */
export class ContinuationRefusedError extends GatewayError {}

const refusal = (reason: string): ContinuationRefusedError =>
  new ContinuationRefusedError("upstream_failed", `The provider was asked to continue a response and ${reason}.`);

/**
 * Continues a response that broke off: one message with one id, one end and one usage. Everything is held until it is clear that it
 * continues the text. Anything else is rejected before any of it is written.
 */
export class ContinuingEncoder implements StreamEncoder {
  readonly #soFar: AnswerSoFar;
  readonly #before: Usage;
  /** The text so far, and how much of it the provider receives. */
  readonly #said: string;
  readonly #given: number;
  #text = "";
  #held: CanonEvent[] = [];
  /** The block numbers of this response, mapped to those of the whole. */
  readonly #blocks = new Map<number, number>();
  undecided = true;
  /** The usage of this attempt, as far as it was reported. */
  used: Usage = {};

  /** `before`: what was used until here. */
  constructor(soFar: AnswerSoFar, before: Usage) {
    this.#soFar = soFar;
    this.#before = before;
    this.#said = soFar.text;
    this.#given = soFar.text.trimEnd().length;
  }

  get position(): unknown {
    return this.#soFar.position;
  }

  /** The call for the next provider: with the beginning of the response, and without reasoning. */
  extend(call: CanonCall): CanonCall {
    const spoken = this.#said.slice(0, this.#given);
    const { maxOutputTokens, reasoning } = call;
    return {
      ...call,
      turns: withBeginning(call.turns, spoken),
      ...(reasoning === undefined ? {} : { reasoning: { ...reasoning, amount: "off" as const } }),
      ...(maxOutputTokens === undefined
        ? {}
        : { maxOutputTokens: Math.max(1, maxOutputTokens - tokensOfCharacters(this.#said.length)) }),
    };
  }

  push(event: CanonEvent): string {
    switch (event.type) {
      // The message is already named, and the caller that gives up reports the error.
      case "metadata":
      case "error":
      // Thoughts precede the text, which the client has already received.
      case "reasoning-start":
      case "reasoning-delta":
      case "reasoning-end":
        return "";
      case "usage":
        this.used = event.usage;
        return this.#soFar.push({ type: "usage", usage: sumUsage(this.#before, event.usage) });
      case "text-delta":
        if (this.undecided) this.#text += event.text;
        return this.#take(event, false);
      case "text-start":
      case "citation":
      case "text-end":
      case "logprobs":
        return this.undecided ? this.#hold(event) : this.#write(event);
      case "finish":
        return this.#take(event, true);
      default:
        if (this.undecided && this.#text === "") throw refusal("returned something other than text");
        return this.#take(event, true);
    }
  }

  #hold(event: CanonEvent): string {
    this.#held.push(event);
    return "";
  }

  /** `ended`: no more text follows that belongs to the text so far. */
  #take(event: CanonEvent, ended: boolean): string {
    if (!this.undecided) return this.#write(event);
    const judgement = judgeContinuation(this.#text, { said: this.#said, given: this.#given }, ended);
    if (judgement.is === "refused") throw refusal(judgement.reason);
    if (judgement.is === "open") return this.#hold(event);
    this.undecided = false;
    let skip = judgement.skip;
    let text = "";
    for (const held of [...this.#held, event]) {
      if (held.type !== "text-delta" || skip === 0) {
        text += this.#write(held);
        continue;
      }
      const rest = held.text.slice(skip);
      skip -= held.text.length - rest.length;
      if (rest !== "") text += this.#write({ ...held, text: rest });
    }
    this.#held = [];
    this.#text = "";
    return text;
  }

  /** Translates block numbers to those of the whole response. The first text continues the open block. */
  #write(event: CanonEvent): string {
    if (event.type === "finish") return this.#endText() + this.#soFar.push(event);
    if (!("block" in event)) return this.#soFar.push(event);
    const known = this.#blocks.get(event.block);
    if (known !== undefined) return this.#soFar.push({ ...event, block: known });
    const { openText, nextBlock } = this.#soFar;
    if (event.type === "text-start" && openText !== undefined) {
      this.#blocks.set(event.block, openText);
      return "";
    }
    this.#blocks.set(event.block, nextBlock);
    return this.#endText() + this.#soFar.push({ ...event, block: nextBlock });
  }

  #endText(): string {
    const { openText } = this.#soFar;
    return openText === undefined ? "" : this.#soFar.push({ type: "text-end", block: openText });
  }
}

/** The client may have started the response itself; then that part is continued too. */
function withBeginning(turns: readonly Turn[], text: string): Turn[] {
  const last = turns.at(-1);
  if (last?.role !== "assistant")
    return [...turns, { role: "assistant", parts: [{ type: "text", text }], path: last?.path ?? "" }];
  const final = last.parts.at(-1);
  const parts =
    final?.type === "text"
      ? [...last.parts.slice(0, -1), { ...final, text: final.text + text }]
      : [...last.parts, { type: "text" as const, text }];
  return [...turns.slice(0, -1), { ...last, parts }];
}
