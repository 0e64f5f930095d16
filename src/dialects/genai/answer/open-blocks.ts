import { arrayAt, isObject, type JsonObject, numberAt, objectAt, stringAt } from "../../../base/json.ts";
import { GatewayError } from "../../../canon/error.ts";
import type { CanonEvent, WholePart } from "../../../canon/event.ts";
import type { Opaque } from "../../../canon/opaque.ts";
import { countsNothing, laterUsage, type Usage } from "../../../canon/usage.ts";
import { requireFewBlocks } from "../../answer/answer-bounds.ts";
import { answerNote } from "../../answer/answer-note.ts";
import { decodeArguments } from "../../answer/decode-arguments.ts";
import type { DecodeAnswerContext } from "../../codec.ts";
import { decodePart } from "../content.ts";
import { type PartSource, readSignature } from "../signature.ts";
import { decodeErrorObject } from "./errors.ts";
import { decodeCitations, decodeSearch } from "./grounding.ts";
import { HostedTools } from "./hosted-tools.ts";
import { decodeLogprobs } from "./logprobs.ts";
import { CallAssembly, continues, isPartial } from "./partial-args.ts";
import { decodeStop, isFailureWord } from "./stop-reason.ts";
import { decodeUsage, queriesIn, reportUsageTerms } from "./usage.ts";

/** How many characters of text are kept, because citations come at the end of a response and refer to it. */
const MAX_TEXT = 8 * 1024 * 1024;

interface OpenText {
  block: number;
  /** Where the block's text starts in the text of the whole response. */
  start: number;
  /** A signature has ended the text. It stays open only for citations. */
  sealed: boolean;
  signature?: Opaque;
}

/**
 * Reads a response chunk by chunk; a complete response is one chunk. Adjacent chunks of one kind form a block. The last text
 * stays open until the end or until another block starts, because citations come last and need it open. The finish also waits for
 * the end, because usage may follow the chunk with the finish reason.
 */
export class OpenBlocks {
  readonly #context: DecodeAnswerContext;
  readonly #source: PartSource;
  /** The ids of the calls so far. */
  readonly #callIds = new Set<string>();
  /** There is content besides thoughts. */
  #answering = false;
  #ended = false;
  #answerId: string | undefined;
  #blocks = 0;
  #calls = 0;
  #text = "";
  #openText: OpenText | undefined;
  #openReasoning: number | undefined;
  #openCall: { block: number; assembly: CallAssembly } | undefined;
  #grounding: Record<string, unknown> | undefined;
  readonly #tools = new HostedTools();
  #recited: unknown[] = [];
  #usage: Usage | undefined;
  #finish: { reason: string; blocked: boolean; detail: string | undefined } | undefined;

  constructor(context: DecodeAnswerContext) {
    this.#context = context;
    this.#source = { origin: context.origin, fromClient: false };
  }

  /** The finish reason was reported. */
  get complete(): boolean {
    return this.#finish !== undefined;
  }

  read(chunk: JsonObject): CanonEvent[] {
    if (this.#ended) return [];
    const usage = decodeUsage(chunk);
    if (usage !== undefined) this.#usage = laterUsage(this.#usage, usage);
    this.#tools.read(chunk);
    if (objectAt(chunk, "error")) return this.fail(decodeErrorObject(chunk));
    const events = this.#metadata(chunk);
    reportUsageTerms(this.#context.served, chunk);
    const blocked = stringAt(objectAt(chunk, "promptFeedback"), "blockReason");
    const candidate = arrayAt(chunk, "candidates").find((one) => (numberAt(one, "index") ?? 0) === 0);
    if (blocked !== undefined && candidate === undefined) {
      const detail = stringAt(objectAt(chunk, "promptFeedback"), "blockReasonMessage");
      this.#finish = { reason: blocked, blocked: true, detail };
    }
    if (!isObject(candidate)) return events;
    try {
      for (const part of arrayAt(objectAt(candidate, "content"), "parts")) {
        if (isObject(part)) events.push(...this.#part(part));
      }
    } catch (thrown) {
      // Only misplaced argument chunks throw here. Earlier events are reported, then the failure.
      if (!(thrown instanceof GatewayError)) throw thrown;
      return [...events, ...this.fail(thrown)];
    }
    const tokens = decodeLogprobs(candidate);
    if (tokens.length > 0) events.push({ type: "logprobs", tokens });
    return [...events, ...this.#aside(candidate)];
  }

  /** The upstream closed the stream. */
  end(): CanonEvent[] {
    if (this.#ended) return [];
    const finish = this.#finish;
    if (finish === undefined) {
      return this.fail(
        new GatewayError("upstream_failed", "The provider closed the stream before the response was complete."),
      );
    }
    this.#ended = true;
    const events = [...this.#closeCall(), ...this.#closeReasoning(), ...this.#citations(), ...this.#closeText()];
    for (const part of decodeSearch(this.#grounding, `search_${this.#id()}`)) events.push(this.#whole(part));
    events.push(...this.#reported());
    const { unified, raw } = decodeStop(finish.reason);
    // The finish reason is the same with and without calls.
    const meaning = finish.blocked ? "filter" : unified === "stop" && this.#calls > 0 ? "tool" : unified;
    const detail = finish.detail === undefined ? {} : { stopDetail: finish.detail };
    return [...events, { type: "finish", stop: { unified: meaning, raw }, ...detail }];
  }

  /** Usage up to this point is billed. */
  fail(error: GatewayError): CanonEvent[] {
    this.#ended = true;
    return [...this.#reported(), { type: "error", error }];
  }

  get usage(): Usage | undefined {
    return this.#usage && this.#countSearches(this.#usage);
  }

  #reported(): CanonEvent[] {
    const { usage } = this;
    return usage === undefined ? [] : [{ type: "usage", usage }];
  }

  #metadata(chunk: JsonObject): CanonEvent[] {
    const id = stringAt(chunk, "responseId");
    if (id === undefined || this.#answerId !== undefined) return [];
    this.#answerId = id;
    const created = Math.floor(Date.parse(stringAt(chunk, "createTime") ?? "") / 1000);
    return [{ type: "metadata", id, ...(Number.isNaN(created) ? {} : { created }) }];
  }

  #id(): string {
    this.#answerId ??= this.#context.makeId();
    return this.#answerId;
  }

  /** The fields of a candidate other than its content. */
  #aside(candidate: JsonObject): CanonEvent[] {
    const grounding = objectAt(candidate, "groundingMetadata");
    if (grounding !== undefined) this.#grounding = Object.assign(this.#grounding ?? {}, grounding);
    if (arrayAt(objectAt(candidate, "urlContextMetadata"), "urlMetadata").length > 0) this.#context.note?.(READ_URLS);
    const recited = objectAt(candidate, "citationMetadata");
    this.#recited.push(...arrayAt(recited, "citations"), ...arrayAt(recited, "citationSources"));
    requireFewBlocks(this.#recited.length);
    const reason = stringAt(candidate, "finishReason");
    // An empty reason means "not yet".
    if (!reason) return [];
    if (stringAt(candidate, "continuationToken")) this.#context.note?.(CONTINUED);
    const detail = stringAt(candidate, "finishMessage");
    // If the host has counted tokens, it is a response without content and is billed: a retry would be billed again.
    const counted = this.#usage !== undefined && !countsNothing(this.#usage);
    if (!this.#answering && !counted && isFailureWord(reason)) return this.fail(brokeOff(reason, detail));
    this.#finish = { reason, blocked: false, detail };
    return [];
  }

  #part(raw: JsonObject): CanonEvent[] {
    const call = objectAt(raw, "functionCall");
    if (call !== undefined) return this.#call(raw, call);
    const part = decodePart(raw, this.#source);
    if (part === undefined) return [];
    if (objectAt(raw, "audioTranscription") !== undefined) this.#context.note?.(TRANSCRIBED);
    if (part.type === "text") return this.#textChunk(part.text, part.signature);
    if (part.type === "reasoning") return this.#thought(part.text, part.signature);
    this.#answering = true;
    return [...this.#closeAll(), this.#whole(part)];
  }

  #textChunk(text: string, signature: Opaque | undefined): CanonEvent[] {
    if (text === "" && signature === undefined) return [];
    const events = [...this.#closeCall(), ...this.#closeReasoning()];
    if (text === "" && signature !== undefined) {
      // A separate part, as the provider expects it back. The text before it has ended, except for its citations.
      if (this.#openText !== undefined) this.#openText.sealed = true;
      const block = this.#blocks++;
      return [...events, { type: "text-start", block }, { type: "text-end", block, signature }];
    }
    if (this.#openText?.sealed) events.push(...this.#closeText());
    if (this.#openText === undefined) {
      this.#openText = { block: this.#blocks++, start: this.#text.length, sealed: false };
      events.push({ type: "text-start", block: this.#openText.block });
    }
    this.#answering = true;
    events.push({ type: "text-delta", block: this.#openText.block, text });
    if (this.#text.length + text.length <= MAX_TEXT) this.#text += text;
    if (signature !== undefined) this.#openText = { ...this.#openText, sealed: true, signature };
    return events;
  }

  #thought(text: string, signature: Opaque | undefined): CanonEvent[] {
    if (text === "" && signature === undefined) return [];
    const events = [...this.#closeCall(), ...this.#closeText()];
    if (this.#openReasoning === undefined) {
      this.#openReasoning = this.#blocks++;
      events.push({ type: "reasoning-start", block: this.#openReasoning });
    }
    if (text !== "") events.push({ type: "reasoning-delta", block: this.#openReasoning, text });
    return signature === undefined ? events : [...events, ...this.#closeReasoning(signature)];
  }

  #call(raw: JsonObject, call: JsonObject): CanonEvent[] {
    const name = stringAt(call, "name");
    if (name === undefined) return this.#continueCall(call);
    this.#answering = true;
    const block = this.#blocks++;
    const id = this.#callId(stringAt(call, "id"));
    this.#calls++;
    const signature = readSignature(stringAt(raw, "thoughtSignature"), this.#source);
    const events: CanonEvent[] = [...this.#closeAll(), { type: "tool-input-start", block, id, name, ...signature }];
    if (!isPartial(call)) {
      const text = decodeArguments(call["args"], name, this.#context.note);
      return [...events, { type: "tool-input-delta", block, text }, { type: "tool-input-end", block }];
    }
    this.#openCall = { block, assembly: new CallAssembly("upstream_failed") };
    return [...events, ...this.#continueCall(call)];
  }

  /** Hosts omit ids, send empty ones, or give one id to several calls; clients distinguish calls only by id (H03, H10). */
  #callId(given: string | undefined): string {
    const id = given && !this.#callIds.has(given) ? given : `call_${this.#id()}_${this.#calls}`;
    this.#callIds.add(id);
    return id;
  }

  #continueCall(call: JsonObject): CanonEvent[] {
    this.#openCall?.assembly.add(call);
    return continues(call) ? [] : this.#closeCall();
  }

  #whole(part: WholePart): CanonEvent {
    return { type: "whole", block: this.#blocks++, part };
  }

  #closeAll(): CanonEvent[] {
    return [...this.#closeCall(), ...this.#closeReasoning(), ...this.#closeText()];
  }

  #closeCall(): CanonEvent[] {
    const open = this.#openCall;
    this.#openCall = undefined;
    if (open === undefined) return [];
    const { block, assembly } = open;
    return [
      { type: "tool-input-delta", block, text: assembly.input },
      { type: "tool-input-end", block },
    ];
  }

  #closeReasoning(signature?: Opaque): CanonEvent[] {
    const block = this.#openReasoning;
    this.#openReasoning = undefined;
    return block === undefined
      ? []
      : [{ type: "reasoning-end", block, ...(signature === undefined ? {} : { signature }) }];
  }

  #closeText(): CanonEvent[] {
    const open = this.#openText;
    this.#openText = undefined;
    if (open === undefined) return [];
    const { block, signature } = open;
    return [{ type: "text-end", block, ...(signature === undefined ? {} : { signature }) }];
  }

  /** Adds citations to the open text. Those of earlier texts are added there too, without a position. */
  #citations(): CanonEvent[] {
    const open = this.#openText;
    if (open === undefined) return [];
    return decodeCitations(this.#grounding, this.#recited, this.#text).map(({ citation, range }) => {
      const here = range !== undefined && range.start >= open.start;
      const position = here ? { start: range.start - open.start, end: range.end - open.start } : {};
      return { type: "citation", block: open.block, citation: { ...citation, ...position } };
    });
  }

  /** Counted once, at the end, because chunks repeat them. */
  #countSearches({ searches: _seen, ...usage }: Usage): Usage {
    const searches = queriesIn(this.#grounding);
    return this.#tools.addTo(searches === 0 ? usage : { ...usage, searches });
  }
}

const READ_URLS = answerNote("url_context", "dropped", "other protocols cannot list the URLs that the provider read");
const TRANSCRIBED = answerNote(
  "transcription",
  "dropped",
  "other protocols cannot carry the speakers, languages and times of a transcription",
);
const CONTINUED = answerNote(
  "continuation",
  "dropped",
  "other protocols cannot carry the token that continues the response",
);

function brokeOff(reason: string, detail: string | undefined): GatewayError {
  const reported = detail ? `: ${detail}` : ".";
  return new GatewayError("upstream_failed", `The provider ended the response early (${reason})${reported}`);
}
