import type { JsonObject } from "../../../base/json.ts";
import type { Citation } from "../../../canon/citation.ts";
import type { CanonEvent } from "../../../canon/event.ts";
import { InSequence } from "../../../canon/in-sequence.ts";
import type { Opaque } from "../../../canon/opaque.ts";
import { carryNative } from "../../../canon/opaque-carriers.ts";
import type { Usage } from "../../../canon/usage.ts";
import { type DeltaEvent, DeltaForm } from "../../answer/delta-form.ts";
import { noteFinish } from "../../answer/note-finish.ts";
import { Paragraphs } from "../../answer/paragraphs.ts";
import { stopDetails } from "../../answer/stop-details.ts";
import type { EncodeAnswerContext, StreamEncoder } from "../../codec.ts";
import { omitMedia } from "../../request/omit-media.ts";
import { hidesReasoning, wantsCost, wantsUsage } from "../native.ts";
import { olderFunctions } from "../older-functions.ts";
import {
  EMPTY_TEXT_ID,
  encodeDetails,
  encodeSignature,
  NATIVE_ID,
  saysNothing,
  spellForClient,
  TEXT_ID,
} from "../reasoning-details.ts";
import { encodeToolCall } from "../tool-call.ts";
import { encodeAnnotations } from "./annotations.ts";
import { CollectedCompletion, completionOf } from "./collected-completion.ts";
import { encodeImage } from "./encode-response.ts";
import { encodeLogprobs } from "./logprobs.ts";
import { encodeStop, UNTOLD } from "./stop-reason.ts";
import { encodeUsage } from "./usage.ts";

interface OpenCall {
  index: number;
  id: string;
  custom: boolean;
  /** The legacy form, with a single call and no id. */
  older: boolean;
  spoken: boolean;
  signature?: Opaque;
}

/**
 * The order that every SDK expects (sdks 3.1): role, deltas, finish reason, usage if requested, sentinel. Tool calls may interleave, each
 * with its index. Text and reasoning have one channel each and stay in order.
 */
export class ChatStreamEncoder implements StreamEncoder {
  readonly #context: EncodeAnswerContext;
  readonly #sequence = new InSequence();
  /** Thoughts that have not ended, and calls that wait for them. */
  readonly #thinking = new Set<number>();
  readonly #waiting = new Set<number>();
  readonly #hideReasoning: boolean;
  readonly #readsOlder: boolean;
  /** Length and citations of each text block so far. */
  readonly #texts = new Map<number, { offset: number; length: number; citations: Citation[] }>();
  readonly #reasonings = new Map<number, { text: string; summary: boolean }>();
  readonly #calls = new Map<number, OpenCall>();
  #id: string | undefined;
  #created: number | undefined;
  #head: string | undefined;
  #textLength = 0;
  readonly #paragraphs = new Paragraphs();
  #details = 0;
  #callCount = 0;
  #images = 0;
  #usage: Usage | undefined;
  /** Set if the completion is stored. */
  readonly #collected: CollectedCompletion | undefined;

  constructor(context: EncodeAnswerContext) {
    this.#context = context;
    if (context.keep !== undefined) this.#collected = new CollectedCompletion();
    this.#hideReasoning = hidesReasoning(context.request);
    this.#readsOlder = olderFunctions.readBy(context.request);
  }

  push(event: CanonEvent): string {
    if (event.type === "reasoning-start") this.#thinking.add(event.block);
    if (event.type === "reasoning-end") this.#thinking.delete(event.block);
    if (isCallEvent(event) && !this.#waits(event.block)) return this.#encode(event);
    return this.#sequence
      .push(event)
      .map((one) => this.#encode(one))
      .join("");
  }

  formOf(event: DeltaEvent): DeltaForm | undefined {
    // Each delta is collected.
    if (this.#collected !== undefined) return undefined;
    switch (event.type) {
      case "text-delta":
        return DeltaForm.of((text) => this.#delta({ content: text }));
      case "reasoning-delta":
        return this.#hideReasoning
          ? DeltaForm.NOTHING
          : DeltaForm.of((text) => this.#delta({ reasoning: text, reasoning_content: text }));
      case "tool-input-delta": {
        const call = this.#calls.get(event.block);
        return call && DeltaForm.of((text) => this.#delta(inputDelta(call, text)));
      }
    }
  }

  /** Clients read a thought and its details as one only if nothing comes between them. */
  #waits(call: number): boolean {
    if (this.#thinking.size > 0) this.#waiting.add(call);
    return this.#waiting.has(call);
  }

  #encode(event: CanonEvent): string {
    switch (event.type) {
      case "metadata":
        this.#id ??= event.id;
        this.#created ??= event.created;
        return this.#begin();
      case "text-start":
        if (event.apart) this.#paragraphs.break();
        this.#texts.set(event.block, { offset: this.#textLength, length: 0, citations: [] });
        return "";
      case "text-delta":
        return this.#text(event.block, event.text);
      case "citation":
        this.#texts.get(event.block)?.citations.push(event.citation);
        return "";
      case "text-end":
        return this.#endText(event.block, event.signature);
      case "reasoning-start":
        this.#reasonings.set(event.block, { text: "", summary: event.summary === true });
        return "";
      case "reasoning-delta":
        return this.#reason(event.block, event.text);
      case "reasoning-end":
        return this.#endReasoning(event.block, event.signature);
      case "refusal-delta":
        return this.#delta({ refusal: event.text });
      case "refusal-start":
      case "refusal-end":
        return "";
      case "tool-input-start":
        return this.#beginCall(event);
      case "tool-input-delta":
        return this.#input(event.block, event.text);
      case "tool-input-end":
        return this.#endCall(event.block, event.signature);
      case "whole":
        return this.#whole(event.part);
      case "logprobs":
        return this.#chunk([{ index: 0, delta: {}, logprobs: encodeLogprobs(event.tokens), finish_reason: null }]);
      case "usage":
        this.#usage = event.usage;
        return "";
      case "finish": {
        noteFinish(event, this.#context.note, UNTOLD);
        const finish_reason = encodeStop(event.stop, this.#readsOlder);
        const last = { index: 0, delta: {}, finish_reason, ...stopDetails(event) };
        const end = `${this.#chunk([last])}${this.#usageChunk()}data: [DONE]\n\n`;
        this.#keep();
        return end;
      }
      case "error":
        return "";
      default:
        return event satisfies never;
    }
  }

  /** The role comes first, once. */
  #begin(): string {
    if (this.#head !== undefined) return "";
    const { publicModel, nowSeconds, makeId, answerId } = this.#context;
    this.#id = answerId ?? this.#id ?? `chatcmpl-${makeId()}`;
    this.#created ??= nowSeconds();
    const head = JSON.stringify({
      id: this.#id,
      object: "chat.completion.chunk",
      created: this.#created,
      model: publicModel,
    });
    this.#head = `data: ${head.slice(0, -1)},"choices":`;
    return `${this.#head}[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}]}\n\n`;
  }

  #chunk(choices: readonly JsonObject[], more = ""): string {
    const role = this.#begin();
    const text = JSON.stringify(choices);
    this.#collected?.take(choices, text.length);
    return `${role}${this.#head}${text}${more}}\n\n`;
  }

  /** Hands over the completion that a client assembles from the chunks. */
  #keep(): void {
    const { keep, publicModel, request } = this.#context;
    const choices = this.#collected?.choices;
    if (choices === undefined) return;
    const cost = this.#usage !== undefined && wantsCost(request) ? this.#context.costUsd(this.#usage) : undefined;
    const usage = this.#usage && encodeUsage(this.#usage, cost);
    keep?.(completionOf({ id: this.#id, created: this.#created, model: publicModel }, choices, usage));
  }

  #delta(delta: JsonObject): string {
    return this.#chunk([{ index: 0, delta, finish_reason: null }]);
  }

  #usageChunk(): string {
    const { request } = this.#context;
    if (this.#usage === undefined || !wantsUsage(request)) return "";
    const cost = wantsCost(request) ? this.#context.costUsd(this.#usage) : undefined;
    return this.#chunk([], `,"usage":${JSON.stringify(encodeUsage(this.#usage, cost))}`);
  }

  #text(block: number, text: string): string {
    const open = this.#texts.get(block);
    const between = this.#paragraphs.before(text);
    if (open !== undefined) {
      if (open.length === 0) open.offset += between.length;
      open.length += text.length;
    }
    return this.#say(between + text);
  }

  #say(text: string): string {
    this.#textLength += text.length;
    return this.#delta({ content: text });
  }

  #endText(block: number, signature: Opaque | undefined): string {
    const open = this.#texts.get(block) ?? { offset: this.#textLength, length: 0, citations: [] };
    this.#texts.delete(block);
    const annotations = encodeAnnotations(open.citations, open, this.#context.note);
    const cited = annotations.length === 0 ? "" : this.#delta({ annotations });
    if (signature === undefined) return cited;
    return cited + this.#signature(signature, open.length === 0 ? EMPTY_TEXT_ID : TEXT_ID);
  }

  #reason(block: number, text: string): string {
    const open = this.#reasonings.get(block);
    if (open !== undefined) open.text += text;
    return this.#hideReasoning ? "" : this.#delta({ reasoning: text, reasoning_content: text });
  }

  #endReasoning(block: number, signature: Opaque | undefined): string {
    const open = this.#reasonings.get(block) ?? { text: "", summary: false };
    this.#reasonings.delete(block);
    const part = { ...open, ...(signature === undefined ? {} : { signature }) };
    const details = encodeDetails(part, this.#details, spellForClient);
    this.#details += details.length;
    if (this.#hideReasoning) {
      const kept = details.filter(saysNothing);
      return kept.length === 0 ? "" : this.#delta({ reasoning_details: kept });
    }
    // Readers that fall back to a detail's text if the plain fields are missing must not see the same text twice.
    const said = open.text === "" ? {} : { reasoning: "", reasoning_content: "" };
    return this.#delta({ ...said, reasoning_details: details });
  }

  #signature(signature: Opaque, id: string): string {
    const detail = encodeSignature(signature, id, this.#details++, spellForClient);
    return this.#delta({ reasoning_details: [detail] });
  }

  #beginCall(event: Extract<CanonEvent, { type: "tool-input-start" }>): string {
    const { id, name, custom = false, signature } = event;
    const index = this.#callCount++;
    const older = this.#readsOlder;
    if (older && index > 0) {
      this.#context.note(olderFunctions.secondCall(name));
      return "";
    }
    const call = { index, id, custom, older, spoken: false };
    this.#calls.set(event.block, signature === undefined ? call : { ...call, signature });
    if (older) return this.#delta({ function_call: { name, arguments: "" } });
    const { function: called, ...rest } = encodeToolCall({ id, name, custom, input: "" });
    return this.#delta({
      tool_calls: [{ index, ...rest, ...(called === undefined ? {} : { function: { name, arguments: "" } }) }],
    });
  }

  #input(block: number, text: string): string {
    const call = this.#calls.get(block);
    if (call === undefined) return "";
    call.spoken = true;
    return this.#delta(inputDelta(call, text));
  }

  #endCall(block: number, reported: Opaque | undefined): string {
    const call = this.#calls.get(block);
    if (call === undefined) return "";
    // Missing arguments become an empty object, because clients parse what they have assembled.
    const rest = call.spoken || call.custom ? "" : this.#input(block, "{}");
    this.#calls.delete(block);
    const signature = reported ?? call.signature;
    return signature === undefined || call.older ? rest : rest + this.#signature(signature, call.id);
  }

  #whole(part: Extract<CanonEvent, { type: "whole" }>["part"]): string {
    if (part.type === "native") {
      if (part.dialect === "chat") return this.#delta(part.raw);
      this.#paragraphs.break();
      return this.#signature(carryNative(part), NATIVE_ID);
    }
    if (part.type !== "media") {
      this.#paragraphs.break();
      return "";
    }
    const image = encodeImage(part, this.#images);
    if (image === undefined) {
      const words = omitMedia(part, this.#context.note);
      return this.#say(this.#paragraphs.before(words) + words);
    }
    this.#images++;
    return this.#delta({ images: [image] });
  }
}

function inputDelta({ index, custom, older }: OpenCall, text: string): JsonObject {
  if (older) return { function_call: { arguments: text } };
  const fragment = custom ? { custom: { input: text } } : { function: { arguments: text } };
  return { tool_calls: [{ index, ...fragment }] };
}

type CallEvent = Extract<CanonEvent, { type: "tool-input-start" | "tool-input-delta" | "tool-input-end" }>;

const isCallEvent = (event: CanonEvent): event is CallEvent => event.type.startsWith("tool-input");
