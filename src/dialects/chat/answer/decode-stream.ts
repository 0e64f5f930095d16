import { arrayAt, isObject, type JsonObject, numberAt, objectAt, parseObject, stringAt } from "../../../base/json.ts";
import type { WebCitation } from "../../../canon/citation.ts";
import { GatewayError } from "../../../canon/error.ts";
import type { CanonEvent } from "../../../canon/event.ts";
import { isCut, type Stop } from "../../../canon/stop.ts";
import { reportModel, reportTerms } from "../../../canon/terms.ts";
import { laterUsage, type Usage } from "../../../canon/usage.ts";
import type { VaryingPlaces } from "../../../wire/frame-template.ts";
import { parseInOrder } from "../../../wire/ordered-json.ts";
import type { SseFrame } from "../../../wire/sse.ts";
import { argumentsText } from "../../answer/arguments-text.ts";
import { decodeErrorObject } from "../../answer/error-object.ts";
import { noteModeration } from "../../answer/note-moderation.ts";
import { decodeAnnotation } from "../../answer/url-citation.ts";
import type { DecodeAnswerContext, StreamDecoder } from "../../codec.ts";
import { decodeContent } from "../content.ts";
import { decodeMedia } from "../media.ts";
import type { ChatQuirks } from "../quirks.ts";
import { readDetail } from "../reasoning-details.ts";
import { signatureAt } from "../tool-call.ts";
import { decodeSources } from "./annotations.ts";
import { answerError } from "./answer-error.ts";
import { brokeOff, decodeMetadata, firstChoice } from "./decode-response.ts";
import { decodeLogprobs } from "./logprobs.ts";
import { OpenBlocks } from "./open-blocks.ts";
import { ReasoningTags } from "./reasoning-tags.ts";
import { SpokenAudio } from "./spoken-audio.ts";
import { decodeStopBeside, decodeStopSequence, finishOf, isFailureWord } from "./stop-reason.ts";
import { hasBroken, ToolCallIndexer } from "./tool-calls.ts";
import { readUsage } from "./usage.ts";

/**
 * The finish reason is not the end: usage follows it, and some providers repeat it or send more. A stream is complete after its sentinel,
 * or when it is closed after a finish reason.
 */
export class ChatStreamDecoder implements StreamDecoder {
  readonly #context: DecodeAnswerContext<ChatQuirks>;
  readonly #toolCalls: ToolCallIndexer;
  readonly #blocks: OpenBlocks;
  readonly #tags: ReasoningTags | undefined;
  #sources: WebCitation[] = [];
  #annotated = false;
  readonly #audio = new SpokenAudio();
  #answering = false;
  #named = false;
  #usage: Usage | undefined;
  #finish: string | undefined;
  #stopSequence: { stopSequence?: string } = {};
  #over = false;

  constructor(context: DecodeAnswerContext<ChatQuirks>) {
    this.#context = context;
    this.#toolCalls = new ToolCallIndexer(context.makeId);
    this.#blocks = new OpenBlocks(context.origin);
    const { reasoningTags } = context.quirks;
    this.#tags = reasoningTags === undefined ? undefined : new ReasoningTags(reasoningTags);
  }

  get holdsBack(): boolean {
    return this.#blocks.hasNameless || this.#audio.heard;
  }

  /** Arguments are excluded, because more of them after a complete call can be another call. */
  get deltaPlaces(): VaryingPlaces | undefined {
    return this.#tags === undefined ? DELTA_PLACES : undefined;
  }

  get complete(): boolean {
    return this.#finish !== undefined;
  }

  push(frame: SseFrame): CanonEvent[] {
    if (this.#over || frame.data === "") return [];
    if (frame.data === undefined) return this.#readBare(frame.raw);
    if (frame.data === "[DONE]") {
      if (this.#answering) return this.#end();
      return this.#fail(new GatewayError("upstream_failed", "The provider's stream ended without a response."));
    }
    const chunk = parseObject(frame.data, parseInOrder);
    if (chunk === undefined) {
      return this.#fail(new GatewayError("upstream_failed", "The provider sent an event that is not valid JSON."));
    }
    const failure = answerError(chunk) ?? (frame.event === "error" ? decodeErrorObject(chunk, 200) : undefined);
    return failure === undefined ? this.#read(chunk) : [...this.#usageIn(chunk), ...this.#fail(failure)];
  }

  end(): CanonEvent[] {
    if (this.#over) return [];
    if (this.complete) return this.#end();
    return this.#fail(
      new GatewayError("upstream_failed", "The provider closed the stream before the response was complete."),
    );
  }

  /** Some providers answer a streaming request with a plain JSON error. Comments are not JSON. */
  #readBare(raw: string): CanonEvent[] {
    const body = raw.startsWith("{") ? parseObject(raw) : undefined;
    const failure = body === undefined ? undefined : answerError(body);
    return failure === undefined ? [] : this.#fail(failure);
  }

  #usageIn(chunk: JsonObject): CanonEvent[] {
    const usage = readUsage(chunk, this.#context.quirks);
    if (usage === undefined) return [];
    this.#usage = laterUsage(this.#usage, usage);
    return [{ type: "usage", usage: this.#usage }];
  }

  /** An error after the finish reason changes nothing: unless it was cut off, the answer is complete (H31). */
  #fail(error: GatewayError): CanonEvent[] {
    this.#over = true;
    const rest = this.complete && !isCut(this.#stop) ? this.#rest() : [];
    return [...rest, { type: "error", error }];
  }

  #end(): CanonEvent[] {
    this.#over = true;
    return [...this.#rest(), { type: "finish", stop: this.#stop, ...this.#stopSequence }];
  }

  get #stop(): Stop {
    return decodeStopBeside(this.#finish ?? "", this.#blocks.hasCalls);
  }

  /** What waited for the end of the answer. */
  #rest(): CanonEvent[] {
    const events: CanonEvent[] = [];
    for (const { reasoning, text } of this.#tags?.end() ?? []) {
      events.push(...(reasoning ? this.#blocks.reasoning(text) : this.#blocks.text(text)));
    }
    if (!this.#annotated) for (const source of this.#sources) this.#blocks.cite(source);
    const { whole } = this.#audio;
    if (whole !== undefined) events.push(...this.#blocks.whole(whole));
    return [...events, ...this.#blocks.endAll()];
  }

  #read(chunk: JsonObject): CanonEvent[] {
    const events: CanonEvent[] = [];
    const choice = firstChoice(chunk);
    const metadata = decodeMetadata(chunk);
    if (!this.#named && metadata.id !== undefined) {
      this.#named = true;
      events.push({ type: "metadata", ...metadata });
    }
    const sources = decodeSources(chunk);
    if (sources.length > 0) this.#sources = sources;
    if (choice !== undefined) {
      this.#answering = true;
      const reported = stringAt(choice, "finish_reason") ?? "";
      if (isFailureWord(reported)) return [...events, ...this.#fail(brokeOff(reported))];
      events.push(...this.#readDelta(objectAt(choice, "delta") ?? objectAt(choice, "message") ?? {}));
      const finish = finishOf(choice, this.#toolCalls, hasBroken);
      const tokens = decodeLogprobs(choice);
      if (tokens.length > 0) events.push({ type: "logprobs", tokens });
      if (finish !== undefined) {
        this.#finish = finish;
        this.#stopSequence = decodeStopSequence(finish, choice["stop_reason"]);
      }
    }
    reportModel(this.#context.served, chunk["model"]);
    reportTerms(this.#context.served, chunk["service_tier"]);
    noteModeration(chunk, this.#context.note);
    events.push(...this.#usageIn(chunk));
    return events;
  }

  #readDelta(delta: JsonObject): CanonEvent[] {
    const calls = (this.#toolCalls.repair(delta) ?? arrayAt(delta, "tool_calls")).filter(isObject);
    const details = arrayAt(delta, "reasoning_details").flatMap((raw) => readDetail(raw) ?? []);
    const spoken = stringAt(delta, "reasoning_content") || stringAt(delta, "reasoning") || "";
    const upcoming = new Set(calls.flatMap((call) => stringAt(call, "id") ?? []));
    const events = this.#blocks.details(spoken, details, upcoming);
    events.push(...this.#readContent(delta["content"]));
    const refusal = stringAt(delta, "refusal");
    if (refusal) events.push(...this.#blocks.refusal(refusal));
    for (const image of arrayAt(delta, "images")) {
      const media = decodeMedia(image);
      if (media !== undefined) events.push(...this.#blocks.whole(media));
    }
    const audio = objectAt(delta, "audio");
    if (audio !== undefined) this.#audio.hear(audio);
    for (const raw of arrayAt(delta, "annotations")) {
      const citation = decodeAnnotation(raw);
      if (citation === undefined) continue;
      this.#annotated = true;
      this.#blocks.cite(citation);
    }
    for (const call of calls) events.push(...this.#readCall(call));
    const legacy = objectAt(delta, "function_call");
    if (legacy !== undefined) events.push(...this.#readLegacyCall(legacy));
    return events;
  }

  #readContent(content: unknown): CanonEvent[] {
    if (typeof content === "string" && this.#tags !== undefined) {
      const chunks = this.#tags.push(content);
      return chunks.flatMap(({ reasoning, text }) =>
        reasoning ? this.#blocks.reasoning(text) : this.#blocks.text(text),
      );
    }
    return decodeContent(content).flatMap((part) => {
      if (part.type === "text") return this.#blocks.text(part.text);
      if (part.type === "reasoning") return this.#blocks.reasoning(part.text);
      if (part.type === "refusal") return this.#blocks.refusal(part.text);
      return part.type === "media" || part.type === "native" ? this.#blocks.whole(part) : [];
    });
  }

  #readCall(call: JsonObject): CanonEvent[] {
    const index = numberAt(call, "index");
    if (index === undefined) return [];
    const custom = objectAt(call, "custom");
    const inner = custom ?? objectAt(call, "function");
    const value = signatureAt(call, this.#context.quirks.toolSignatureKeys);
    return this.#blocks.call({
      index,
      id: stringAt(call, "id") || undefined,
      name: stringAt(inner, "name"),
      input: argumentsText(custom === undefined ? inner?.["arguments"] : custom["input"]),
      custom: custom !== undefined,
      ...(value === undefined ? {} : { signature: { origin: this.#context.origin, kind: "signature", value } }),
    });
  }

  /** The oldest form of the protocol: a single call without an id. */
  #readLegacyCall(call: JsonObject): CanonEvent[] {
    const begun = this.#blocks.hasCall(LEGACY_INDEX);
    return this.#blocks.call({
      index: LEGACY_INDEX,
      id: begun ? undefined : `call_${this.#context.makeId()}`,
      name: begun ? undefined : stringAt(call, "name"),
      input: argumentsText(call["arguments"]),
      custom: false,
    });
  }
}

const DELTA_PLACES: VaryingPlaces = {
  texts: [["content"], ["reasoning_content"], ["reasoning"], ["content", 0, "thinking", 0, "text"]].map((path) => [
    "choices",
    0,
    "delta",
    ...path,
  ]),
  padding: [["obfuscation"], ["p"]],
};

/** Not used by calls of the newer form. */
const LEGACY_INDEX = -1;
