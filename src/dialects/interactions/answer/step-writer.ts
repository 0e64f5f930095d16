import { type JsonObject, numberAt, parseObject } from "../../../base/json.ts";
import { WEB_SEARCH } from "../../../canon/billable.ts";
import type { Citation } from "../../../canon/citation.ts";
import type { CanonEvent } from "../../../canon/event.ts";
import { type Opaque, wrapOpaqueBase64 } from "../../../canon/opaque.ts";
import { carryNative, thoughtsAsSignature } from "../../../canon/opaque-carriers.ts";
import type { MediaPart, ServerToolCallPart, ServerToolResultPart, ToolCallPart } from "../../../canon/part.ts";
import type { Stop } from "../../../canon/stop.ts";
import { stringifyInOrder } from "../../../wire/ordered-json.ts";
import { requireSmallArguments } from "../../answer/answer-bounds.ts";
import { type DeltaEvent, DeltaForm } from "../../answer/delta-form.ts";
import { judgeBrokenCall } from "../../answer/judge-broken-call.ts";
import { noteNullArguments } from "../../answer/note-null-arguments.ts";
import { readQueries } from "../../answer/search-queries.ts";
import type { EncodeAnswerContext } from "../../codec.ts";
import { encodeArguments } from "../../genai/arguments.ts";
import type { CarrierPosition } from "../../request/carriers.ts";
import { omitMedia } from "../../request/omit-media.ts";
import { sayNative } from "../../request/say-native.ts";
import { SEARCH } from "../request/tools.ts";
import { OWN_ORIGIN, writeCarrier, writeSignature } from "../signature.ts";
import { encodeAnnotations } from "./annotations.ts";
import { CollectedSteps } from "./collected-steps.ts";
import type { EventWriter } from "./event-writer.ts";

export type BlockEvent = Extract<CanonEvent, { block: number }>;

/** How many characters of a step are kept, because citations count its bytes. */
const MAX_TEXT = 8 * 1024 * 1024;

interface OpenStep {
  type: "model_output" | "thought";
  index: number;
}

/** Writes the blocks of a response as steps, one after the other. Adjacent texts and images share a step. */
export class StepWriter {
  readonly collected = new CollectedSteps();
  readonly #events: EventWriter;
  readonly #context: EncodeAnswerContext;
  readonly #hidesThoughts: boolean;
  #open: OpenStep | undefined;
  /** The last step of another writer. */
  #followed = -1;
  /** The text of the open step. */
  #text = "";
  #textStart = 0;
  #citations: Citation[] = [];
  #thought = "";
  #refusal = "";
  #call: ToolCallPart | undefined;
  readonly #broken: string[] = [];
  refused = false;

  constructor(events: EventWriter, context: EncodeAnswerContext, hidesThoughts: boolean) {
    this.#events = events;
    this.#context = context;
    this.#hidesThoughts = hidesThoughts;
  }

  push(event: BlockEvent): string {
    switch (event.type) {
      case "text-start": {
        const closed = event.apart ? this.#close() : "";
        this.#textStart = this.#text.length;
        return closed;
      }
      case "text-delta":
        return event.text === "" ? "" : this.#say(event.text);
      case "citation":
        this.#citations.push(event.citation);
        return "";
      case "text-end":
        return this.#endText(event.signature);
      // A refusal is reported as a whole: half of one, followed by an error, would read as an answer.
      case "refusal-start":
        this.refused = true;
        return "";
      case "refusal-delta":
        this.#refusal += event.text;
        return "";
      case "refusal-end":
        return this.#refusal === "" ? "" : this.#say(this.#refusal);
      case "reasoning-start":
        this.#thought = "";
        return this.#close();
      case "reasoning-delta":
        this.#thought += event.text;
        return this.#hidesThoughts || event.text === "" ? "" : this.#think(event.text);
      case "reasoning-end":
        return this.#endThought(event.signature);
      case "tool-input-start": {
        const { type: _type, block: _block, ...call } = event;
        this.#call = { type: "tool-call", input: "", ...call };
        return this.#close();
      }
      case "tool-input-delta":
        if (this.#call !== undefined) this.#call.input += event.text;
        return "";
      case "tool-input-end":
        return this.#endCall(event.signature);
      case "whole":
        return this.#whole(event.part);
      default:
        return event satisfies never;
    }
  }

  /** An event that another writer sent to the client. A host may number steps differently, and may have ended the open one. */
  follow(event: JsonObject): void {
    const index = numberAt(event, "index");
    if (index === undefined) return;
    if (this.#open !== undefined && this.#open.index !== index) {
      this.collected.move(this.#open.index, index);
      this.#open.index = index;
    }
    this.#followed = Math.max(this.#followed, index);
    this.collected.next = this.#followed + 1;
    if (event["event_type"] === "step.stop") this.#forget();
  }

  /** How a delta such as this one is written. A call is written as a whole. */
  formOf({ type }: DeltaEvent): DeltaForm | undefined {
    if (type === "tool-input-delta" || (type === "reasoning-delta" && this.#hidesThoughts)) return DeltaForm.NOTHING;
    const open = this.#open;
    if (open === undefined || this.#events.numbered) return undefined;
    const delta = type === "reasoning-delta" ? summaryDelta : textDelta;
    return DeltaForm.of((text) => this.#events.write("step.delta", { index: open.index, delta: delta(text) }));
  }

  finish(stop: Stop): string {
    const { note } = this.#context;
    for (const name of this.#broken) judgeBrokenCall(name, stop, { note, action: "dropped" });
    return this.#close();
  }

  #say(text: string): string {
    const written = this.#in("model_output", textDelta(text));
    if (this.#text.length + text.length <= MAX_TEXT) this.#text += text;
    return written;
  }

  #think(text: string): string {
    return this.#in("thought", summaryDelta(text));
  }

  #endText(signature: Opaque | undefined): string {
    const place = { text: this.#text, from: this.#textStart };
    const annotations = encodeAnnotations(this.#citations.splice(0), place, this.#context.note);
    const isOpen = this.#open?.type === "model_output";
    const cited =
      annotations.length === 0 || !isOpen
        ? ""
        : this.#in("model_output", { annotations, type: "text_annotation_delta" }) + this.#close();
    if (signature === undefined) return cited;
    return cited + this.#carry(isOpen && this.#textStart < place.text.length ? "text" : "empty-text", signature);
  }

  /** Reasoning that the client does not want to see may have to come back, so its signature carries it. */
  #endThought(signature: Opaque | undefined): string {
    const text = this.#hidesThoughts ? this.#thought : "";
    this.#thought = "";
    const carried = text === "" || signature?.origin === OWN_ORIGIN ? signature : hiddenThought(text, signature);
    if (carried === undefined) return this.#close();
    return this.#in("thought", { signature: writeSignature(carried), type: "thought_signature" }) + this.#close();
  }

  #endCall(signature: Opaque | undefined): string {
    const call = this.#call;
    this.#call = undefined;
    if (call === undefined) return "";
    if (!call.custom) requireSmallArguments(call.input);
    const { args, broken } = encodeArguments(call);
    if (broken) {
      this.#broken.push(call.name);
      return "";
    }
    noteNullArguments(call, this.#context.note);
    const signed = call.signature ?? signature;
    const step = {
      id: call.id,
      ...(signed === undefined ? {} : { signature: writeSignature(signed) }),
      type: "function_call",
      name: call.name,
      arguments: {},
    };
    return this.#step(step, { arguments: stringifyInOrder(args), type: "arguments_delta" });
  }

  #whole(part: Extract<BlockEvent, { type: "whole" }>["part"]): string {
    switch (part.type) {
      case "native": {
        if (part.dialect === OWN_ORIGIN) return this.#step(part.raw);
        const carried = this.#step({ type: "thought", signature: wrapOpaqueBase64(carryNative(part)) });
        const text = sayNative(part, this.#context.note);
        return text === "" ? carried : carried + this.#say(text);
      }
      case "server-tool-call":
        return part.name === WEB_SEARCH ? this.#step(searchStep(part)) : this.#close();
      case "server-tool-result":
        return part.name === WEB_SEARCH ? this.#step(resultStep(part)) : this.#close();
      case "media": {
        const content = mediaContent(part);
        return content === undefined
          ? this.#say(omitMedia(part, this.#context.note))
          : this.#in("model_output", content) +
              (part.signature === undefined ? "" : this.#carry("text", part.signature));
      }
      default:
        return part satisfies never;
    }
  }

  #carry(position: CarrierPosition, signature: Opaque): string {
    return this.#step({ type: "thought", signature: writeCarrier({ position, signature }) });
  }

  /** A step in one piece. */
  #step(step: JsonObject, delta?: JsonObject): string {
    const closed = this.#close();
    const index = this.collected.next;
    const begun = this.#emit("step.start", { index, step });
    const written = delta === undefined ? "" : this.#emit("step.delta", { index, delta });
    return closed + begun + written + this.#emit("step.stop", { index });
  }

  /** Adds to the open step if it is of this type, or begins one. */
  #in(type: OpenStep["type"], delta: JsonObject): string {
    let begun = "";
    if (this.#open?.type !== type) {
      begun = this.#close();
      this.#open = { type, index: this.collected.next };
      begun += this.#emit("step.start", { index: this.#open.index, step: { type } });
    }
    return begun + this.#emit("step.delta", { index: this.#open.index, delta });
  }

  #close(): string {
    const open = this.#open;
    if (open === undefined) return "";
    this.#forget();
    return this.#emit("step.stop", { index: open.index });
  }

  #forget(): void {
    this.#open = undefined;
    this.#text = "";
    this.#textStart = 0;
  }

  #emit(name: string, members: JsonObject): string {
    this.collected.take({ ...members, event_type: name });
    return this.#events.write(name, members);
  }
}

const textDelta = (text: string): JsonObject => ({ text, type: "text" });
const summaryDelta = (text: string): JsonObject => ({ content: { text, type: "text" }, type: "thought_summary" });

const hiddenThought = (text: string, signature: Opaque | undefined): Opaque =>
  signature === undefined ? { origin: "", kind: "text", value: text } : thoughtsAsSignature([{ text, signature }]);

const searchStep = ({ id, input }: ServerToolCallPart): JsonObject => ({
  id,
  type: `${SEARCH}_call`,
  arguments: { queries: readQueries(parseObject(input)) },
});

const resultStep = ({ callId, result }: ServerToolResultPart): JsonObject => ({
  call_id: callId,
  type: `${SEARCH}_result`,
  ...("error" in result ? { is_error: true } : {}),
  result:
    "pages" in result ? result.pages.map(({ url, title }) => (title === undefined ? { url } : { url, title })) : [],
});

/** Media of a response. Undefined if a client could not open it. */
function mediaContent({ kind, source }: MediaPart): JsonObject | undefined {
  switch (source.type) {
    case "data":
      return { data: source.data, mime_type: source.mimeType, type: kind };
    case "url":
      return { uri: source.url, ...(source.mimeType === undefined ? {} : { mime_type: source.mimeType }), type: kind };
    default:
      return undefined;
  }
}
