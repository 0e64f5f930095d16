import type { JsonObject } from "../../../base/json.ts";
import { withoutAbsent } from "../../../base/without-absent.ts";
import type { CanonEvent } from "../../../canon/event.ts";
import { InSequence } from "../../../canon/in-sequence.ts";
import type { Opaque } from "../../../canon/opaque.ts";
import type { ToolCallPart } from "../../../canon/part.ts";
import type { TokenLogprob } from "../../../canon/reply.ts";
import type { Usage } from "../../../canon/usage.ts";
import { type DeltaEvent, DeltaForm } from "../../answer/delta-form.ts";
import { judgeBrokenCall } from "../../answer/judge-broken-call.ts";
import { Paragraphs } from "../../answer/paragraphs.ts";
import type { EncodeAnswerContext, StreamEncoder } from "../../codec.ts";
import { CarriedThoughts } from "../carried-thoughts.ts";
import { type AnswerOptions, encodeAnswerPart, isUnseen } from "../content.ts";
import type { GenaiOptions } from "../options.ts";
import { clientSignature } from "../signature.ts";
import { AnswerEnvelope, encodeClosing, hidesThoughts } from "./answer-envelope.ts";
import { GroundingWriter } from "./grounding.ts";

/**
 * Writes a response as chunks in the format of complete responses. Blocks follow one another, because text has no index by which
 * a reader could sort it; a call is written when it is complete. When read back, adjacent texts are one text, adjacent thoughts
 * one thought, and the signature of a text is on an empty text after it, as in the provider's own streams.
 */
export class GenaiStreamEncoder implements StreamEncoder {
  readonly #context: EncodeAnswerContext<GenaiOptions>;
  readonly #sequence = new InSequence();
  readonly #envelope: AnswerEnvelope;
  readonly #grounding = new GroundingWriter();
  readonly #paragraphs = new Paragraphs();
  readonly #answerOptions: AnswerOptions;
  /** Names of calls that were not written. The stop reason decides how they are treated. */
  readonly #broken: string[] = [];
  #refusal = "";
  readonly #thoughts = new CarriedThoughts();
  /** The open thought. */
  #thought = "";
  #call: ToolCallPart | undefined;
  #logprobs: TokenLogprob[] = [];
  #usage: Usage | undefined;
  #refused = false;
  #chunks = 0;

  constructor(context: EncodeAnswerContext<GenaiOptions>) {
    this.#context = context;
    this.#envelope = new AnswerEnvelope(context);
    const { note } = context;
    this.#answerOptions = { hideThoughts: hidesThoughts(context), breakCall: (name) => this.#broken.push(name), note };
  }

  push(event: CanonEvent): string {
    return this.#sequence
      .push(event)
      .map((one) => this.#encode(one))
      .join("");
  }

  formOf({ type }: DeltaEvent): DeltaForm | undefined {
    // A call is written as a whole.
    if (type === "tool-input-delta" || (type === "reasoning-delta" && this.#answerOptions.hideThoughts))
      return DeltaForm.NOTHING;
    const more = type === "reasoning-delta" ? { thought: true } : {};
    return DeltaForm.of((text) => this.#framed(this.#wrapped([{ text, ...more }]), false));
  }

  #endThought(signature: Opaque | undefined): string {
    const thought = this.#thought;
    this.#thought = "";
    this.#thoughts.think(thought, signature);
    // The text was already written, so only a signature is left.
    const text = this.#answerOptions.hideThoughts ? thought : "";
    const part = { type: "reasoning", text, ...(signature === undefined ? {} : { signature }) } as const;
    return this.#parts(encodeAnswerPart(part, this.#answerOptions));
  }

  #encode(event: CanonEvent): string {
    switch (event.type) {
      case "metadata":
        this.#envelope.name(event.id);
        return "";
      case "refusal-start":
        this.#refused = true;
        return "";
      // A refusal is reported as a whole: half of one, followed by an error, would read as an answer.
      case "refusal-delta":
        this.#refusal += event.text;
        return "";
      case "refusal-end":
        return this.#parts(encodeAnswerPart({ type: "refusal", text: this.#refusal }, this.#answerOptions));
      case "text-start":
        if (event.apart) this.#paragraphs.break();
        return "";
      case "text-delta": {
        const between = this.#paragraphs.before(event.text);
        this.#grounding.between(between);
        this.#grounding.text(event.block, event.text);
        return event.text === "" ? "" : this.#parts([{ text: between + event.text }]);
      }
      case "text-end":
        return this.#signature({ text: "" }, event.signature);
      case "citation":
        this.#grounding.cite(event.block, event.citation);
        return "";
      case "reasoning-delta":
        this.#thought += event.text;
        return this.#answerOptions.hideThoughts || event.text === ""
          ? ""
          : this.#parts([{ text: event.text, thought: true }]);
      case "reasoning-end":
        return this.#endThought(event.signature);
      case "tool-input-start": {
        const { type: _type, block: _block, ...call } = event;
        this.#call = { type: "tool-call", input: "", ...call };
        return "";
      }
      case "tool-input-delta":
        if (this.#call !== undefined) this.#call.input += event.text;
        return "";
      case "tool-input-end": {
        const call = this.#call;
        this.#call = undefined;
        if (call === undefined) return "";
        const signed = event.signature === undefined ? call : { ...call, signature: event.signature };
        return this.#parts(encodeAnswerPart(this.#thoughts.sign(signed), this.#answerOptions));
      }
      case "whole":
        if (event.part.type === "server-tool-call" || event.part.type === "server-tool-result") {
          this.#grounding.search(event.part);
        }
        if (isUnseen(event.part)) this.#paragraphs.break();
        return this.#parts(encodeAnswerPart(event.part, this.#answerOptions));
      case "logprobs":
        this.#logprobs.push(...event.tokens);
        return "";
      case "usage":
        this.#usage = event.usage;
        return "";
      case "finish":
        return this.#finish(event);
      // Written by encodeStreamError.
      case "error":
      case "reasoning-start":
        return "";
    }
  }

  #signature(part: JsonObject, signature: Opaque | undefined): string {
    return signature === undefined ? "" : this.#parts([{ ...part, ...clientSignature(signature) }]);
  }

  #parts(parts: readonly JsonObject[]): string {
    if (parts.length === 0) return "";
    return this.#frame(this.#wrapped(parts));
  }

  #wrapped(parts: readonly JsonObject[]): string {
    return this.#envelope.wrap({ content: { role: "model", parts } });
  }

  #finish({ stop, stopDetail, stopCategory }: Extract<CanonEvent, { type: "finish" }>): string {
    const { note } = this.#context;
    for (const name of this.#broken) judgeBrokenCall(name, stop, { note, action: "dropped" });
    const closing = encodeClosing(
      {
        stop,
        ...withoutAbsent({ stopDetail, stopCategory }),
        refused: this.#refused,
        grounding: this.#grounding,
        logprobs: this.#logprobs,
      },
      this.#context,
    );
    // Chats of the vendor's packages discard a response whose last chunk has no part in its content.
    const filtered = stop.unified === "filter" && this.#chunks === 0;
    const content = filtered ? {} : { content: { role: "model", parts: [{ text: "" }] } };
    const text = this.#frame(this.#envelope.wrap({ ...content, ...closing }, this.#usage));
    return this.#context.options.arrayFraming ? `${text}]` : text;
  }

  #frame(json: string): string {
    return this.#framed(json, this.#chunks++ === 0);
  }

  #framed(json: string, isFirst: boolean): string {
    if (!this.#context.options.arrayFraming) return `data: ${json}\n\n`;
    return `${isFirst ? "[" : ",\r\n"}${json}`;
  }
}
