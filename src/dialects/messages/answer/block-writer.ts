import type { JsonObject } from "../../../base/json.ts";
import { textWeight } from "../../../base/text-weight.ts";
import type { CanonEvent } from "../../../canon/event.ts";
import type { Opaque } from "../../../canon/opaque.ts";
import { stringifyInOrder } from "../../../wire/ordered-json.ts";
import { requireSmallArguments } from "../../answer/answer-bounds.ts";
import type { DeltaEvent } from "../../answer/delta-form.ts";
import { noteNullArguments } from "../../answer/note-null-arguments.ts";
import { FREE_TEXT_ARGUMENT } from "../../request/free-text-tool.ts";
import { encodeCarrier } from "../carriers.ts";
import { encodeCitation } from "../citations.ts";
import { encodeOpaque } from "../opaque-values.ts";
import { encodeThinking, hiddenText } from "../thinking.ts";
import { fitCallId, parseInput } from "../tool-input.ts";
import { type AnswerOptions, encodeAnswerPart } from "./answer-content.ts";

/** Arguments that begin like an object. */
const OBJECT = /^\s*\{/;

type BlockEvent = Extract<CanonEvent, { block: number }>;

/**
 * Writes the blocks of a response as events, one after the other. A text or thinking block starts on the wire once it has
 * content: clients would send an empty block back, and upstreams reject it. Signed but empty thinking counts as content (H02).
 */
export class BlockWriter {
  readonly #answerOptions: AnswerOptions;
  /** The index of the next block in the client's content. */
  #next = 0;
  #open = false;
  #refusal = "";
  /** Blocks with signatures of texts, held until another block follows. */
  #carried: JsonObject[] = [];
  /** Hidden reasoning of the open block. */
  #unseen = "";
  /** The open call. The text of a free-text tool becomes the only argument of a function. */
  #call = { name: "", input: "", custom: false, shown: false };
  /** The weight of the generated text, for an estimate if the upstream never reports its usage. */
  characters = 0;
  refused = false;

  constructor(answerOptions: AnswerOptions) {
    this.#answerOptions = answerOptions;
  }

  push(event: BlockEvent): JsonObject[] {
    if ("text" in event) this.characters += textWeight(event.text);
    switch (event.type) {
      case "text-start":
      case "reasoning-start":
        this.#unseen = "";
        return this.close();
      case "refusal-start":
        this.refused = true;
        return this.close();
      // A refusal is reported as a whole: half of one, followed by an error, would read as an answer.
      case "refusal-delta":
        this.#refusal += event.text;
        return [];
      case "text-delta":
        return event.text === "" ? [] : this.#text({ type: "text_delta", text: event.text });
      case "citation":
        return this.#text({ type: "citations_delta", citation: encodeCitation(event.citation, encodeOpaque) });
      case "text-end":
        return this.#endText(event.signature);
      case "refusal-end":
        return this.#endRefusal();
      case "reasoning-delta":
        if (event.text === "") return [];
        if (!this.#answerOptions.hidden) return this.#thinking({ type: "thinking_delta", thinking: event.text });
        this.#unseen += event.text;
        return [];
      case "reasoning-end":
        return this.#endThinking(event.signature ?? this.#takeUnseen());
      case "tool-input-start":
        return this.#startCall(event);
      case "tool-input-delta":
        return this.#input(event.text);
      case "tool-input-end":
        return this.#endCall(event.signature);
      case "whole":
        return encodeAnswerPart(event.part, this.#answerOptions).flatMap((block) => this.#whole(block));
      default:
        return event satisfies never;
    }
  }

  /** How further deltas of the open block are written; undefined if nothing is written until it ends. */
  deltasLike({ type }: DeltaEvent): ((text: string) => JsonObject) | undefined {
    if (type === "text-delta") return (text) => this.#delta({ type: "text_delta", text });
    if (type === "tool-input-delta") return this.#call.custom ? undefined : this.#json;
    if (this.#answerOptions.hidden) return undefined;
    return (thinking) => this.#delta({ type: "thinking_delta", thinking });
  }

  /** Ends a block that the upstream left open. */
  close(): JsonObject[] {
    if (!this.#open) return [];
    this.#open = false;
    return [{ type: "content_block_stop", index: this.#next++ }];
  }

  /** Ends the response: returns the remaining blocks, and whether the signature of the last text was dropped. */
  finish(): { blocks: JsonObject[]; leftSignature: boolean } {
    const blocks = this.close();
    if (this.#carried.length === 0) return { blocks, leftSignature: false };
    if (this.#answerOptions.lastIsAnswer) return { blocks, leftSignature: true };
    return { blocks: [...blocks, ...this.#takeCarried()], leftSignature: false };
  }

  #begin(block: JsonObject): JsonObject[] {
    const before = [...this.close(), ...this.#takeCarried()];
    this.#open = true;
    return [...before, { type: "content_block_start", index: this.#next, content_block: block }];
  }

  #takeCarried(): JsonObject[] {
    const blocks = this.#carried;
    if (blocks.length === 0) return [];
    this.#carried = [];
    return blocks.flatMap((block) => this.#whole(block));
  }

  #delta = (delta: JsonObject): JsonObject => ({ type: "content_block_delta", index: this.#next, delta });

  #text(delta: JsonObject): JsonObject[] {
    const start = this.#open ? [] : this.#begin({ type: "text", text: "" });
    return [...start, this.#delta(delta)];
  }

  #endText(signature: Opaque | undefined): JsonObject[] {
    const position = this.#open ? "text" : "empty-text";
    if (signature !== undefined) this.#carried.push(encodeCarrier({ position, signature }));
    return this.close();
  }

  #endRefusal(): JsonObject[] {
    const text = this.#refusal;
    this.#refusal = "";
    return text === "" ? [] : [...this.#text({ type: "text_delta", text }), ...this.close()];
  }

  #thinking(delta: JsonObject): JsonObject[] {
    const start = this.#open ? [] : this.#begin({ type: "thinking", thinking: "", signature: "" });
    return [...start, this.#delta(delta)];
  }

  #endThinking(signature: Opaque | undefined): JsonObject[] {
    // Some clients keep only thinking that has a signature, even an empty one.
    if (signature === undefined) {
      return this.#open ? [this.#delta({ type: "signature_delta", signature: "" }), ...this.close()] : [];
    }
    if (!this.#open && signature.kind !== "signature" && signature.kind !== "text") {
      const block = encodeThinking({ type: "reasoning", text: "", signature });
      return block === undefined ? [] : this.#whole(block);
    }
    const signed = this.#thinking({ type: "signature_delta", signature: encodeOpaque(signature, "signature") });
    return [...signed, ...this.close()];
  }

  /** Unsigned reasoning that the client does not want to see travels hidden. */
  #takeUnseen(): Opaque | undefined {
    const text = this.#unseen;
    this.#unseen = "";
    return text === "" ? undefined : hiddenText(text);
  }

  #startCall(event: Extract<BlockEvent, { type: "tool-input-start" }>): JsonObject[] {
    const { id, name, custom, signature } = event;
    const carried = signature === undefined ? [] : this.#whole(encodeCarrier({ position: "next-call", signature }));
    const started = this.#begin({ type: "tool_use", id: fitCallId(id), name, input: {} });
    this.#call = { name, input: "", custom: custom === true, shown: false };
    return [...carried, ...started, ...(custom ? [this.#json(`{"${FREE_TEXT_ARGUMENT}":"`)] : [])];
  }

  /** Arguments are held until they turn out to be an object: clients would take null or a string as the call's input. */
  #input(text: string): JsonObject[] {
    if (text === "") return [];
    const call = this.#call;
    call.input += text;
    if (call.custom) return [this.#json(JSON.stringify(text).slice(1, -1))];
    if (call.shown) return [this.#json(text)];
    call.shown = OBJECT.test(call.input);
    return call.shown ? [this.#json(call.input)] : [];
  }

  /** No arguments of the open call were written yet. */
  get holdsInput(): boolean {
    return !this.#call.custom && !this.#call.shown;
  }

  #endCall(signature: Opaque | undefined): JsonObject[] {
    const carried = signature === undefined ? [] : [encodeCarrier({ position: "call", signature })];
    const { name, input, custom, shown } = this.#call;
    if (!custom) requireSmallArguments(input);
    const broken = !custom && parseInput(input) === undefined;
    if (broken) this.#answerOptions.breakCall(name);
    noteNullArguments(this.#call, this.#answerOptions.note);
    const last = custom ? [this.#json('"}')] : broken && !shown ? [this.#json(input)] : [];
    return [...last, ...this.close(), ...carried.flatMap((block) => this.#whole(block))];
  }

  #json = (partial_json: string): JsonObject => this.#delta({ type: "input_json_delta", partial_json });

  /** Some clients assemble input and text only from deltas and ignore what the block starts with. */
  #whole(block: JsonObject): JsonObject[] {
    const { input, text } = block;
    if (block["type"] === "server_tool_use") {
      return [...this.#begin({ ...block, input: {} }), this.#json(stringifyInOrder(input)), ...this.close()];
    }
    if (block["type"] === "text") {
      return [...this.#begin({ ...block, text: "" }), this.#delta({ type: "text_delta", text }), ...this.close()];
    }
    return [...this.#begin(block), ...this.close()];
  }
}
