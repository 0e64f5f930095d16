import type { ByteBuffer } from "../../../base/byte-buffer.ts";
import { arrayAt, isObject, type JsonObject, numberAt, objectAt, parseObject, stringAt } from "../../../base/json.ts";
import { eventWeight } from "../../../base/text-weight.ts";
import { GatewayError } from "../../../canon/error.ts";
import { reportModel, reportTerms } from "../../../canon/terms.ts";
import { countsNothing, laterUsage } from "../../../canon/usage.ts";
import { editBody } from "../../../wire/edit-body.ts";
import { changeElements, changeValue, ObjectEdit } from "../../../wire/json-text.ts";
import { endOfEvent, type SseFrame } from "../../../wire/sse.ts";
import { viewedBytes } from "../../../wire/viewed-bytes.ts";
import { requireFewChoices } from "../../answer/answer-bounds.ts";
import { modelJson } from "../../answer/model-json.ts";
import { TapBase } from "../../answer/tap-base.ts";
import type { NativeAnswerContext, TapProgress } from "../../dialect.ts";
import { countedOnce } from "../../request/prompt-counts.ts";
import { hidesReasoning, mirrorReasoning, wantsCost, wantsUsage } from "../native.ts";
import type { ChatQuirks } from "../quirks.ts";
import { callsNothing } from "../tool-call.ts";
import { answerError } from "./answer-error.ts";
import { ChunkTemplate } from "./chunk-template.ts";
import { CollectedCompletion, completionOf } from "./collected-completion.ts";
import { contractFinishReason, decodeStop, finishOf } from "./stop-reason.ts";
import { hasBroken, ToolCallIndexer } from "./tool-calls.ts";
import { decodeUsage, encodeUsage, usageIn } from "./usage.ts";

/** Text, and reasoning under either name. No stream has been seen with more kinds of ordinary chunks. */
const MAX_TEMPLATES = 4;

const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
const CR = 0x0d;

export class ChatTap extends TapBase {
  readonly #context: NativeAnswerContext<ChatQuirks>;
  readonly #toolCalls: ToolCallIndexer;
  readonly #hideReasoning: boolean;
  readonly #showUsage: boolean;
  readonly #modelJson: string;
  readonly #templates: ChunkTemplate[] = [];
  /** A chunk from which a template is learned when the next one arrives: learning takes 6 of the 10 µs of a first chunk. */
  #lesson: { frame: SseFrame; data: string; chunk: JsonObject } | undefined;
  #id: string | undefined;
  #created: number | undefined;
  /** The provider's usage if it came where clients do not look; undefined once they have seen it. */
  #owedUsage: JsonObject | undefined;
  /** Set if the completion is stored. */
  readonly #collected: CollectedCompletion | undefined;
  /** Its last chunk with choices, for what all chunks say of the completion. */
  #last: JsonObject | undefined;

  constructor(context: NativeAnswerContext<ChatQuirks>) {
    super();
    this.#context = context;
    this.#toolCalls = new ToolCallIndexer(context.makeId);
    this.#hideReasoning = hidesReasoning(context.request);
    this.#showUsage = wantsUsage(context.request);
    this.#modelJson = modelJson(context.publicModel);
    if (context.keep !== undefined) this.#collected = new CollectedCompletion();
  }

  override push(events: Uint8Array, output: ByteBuffer): TapProgress {
    if (events.includes(CR)) output.putText(this.pushCarefully(decoder.decode(events)));
    else this.#pass(events, output);
    return this;
  }

  /** Copies runs of ordinary chunks with a patched head, and parses everything between them. */
  #pass(events: Uint8Array, output: ByteBuffer): void {
    const { bytes, view } = viewedBytes(events);
    for (let at = 0; at < events.length && !this.failure && this.state !== "ended"; ) {
      const endOfRun = this.#renderRun(bytes, view, at, output);
      if (endOfRun >= 0) {
        at = endOfRun;
        continue;
      }
      const end = endOfEvent(events, at);
      output.putText(this.pushCarefully(bytes.toString("utf8", at, end)));
      at = end;
    }
  }

  #renderRun(events: Buffer, view: DataView, at: number, output: ByteBuffer): number {
    if (this.#lesson !== undefined) this.#learn(this.#lesson);
    for (const template of this.#templates) {
      const end = template.renderRun(events, view, at, output);
      if (end < 0) continue;
      this.generatedCharacters += template.characters;
      return end;
    }
    return -1;
  }

  protected override closing(): string {
    if (this.state !== "complete") return "";
    this.#keep();
    // Some providers close the stream right after the finish reason, but clients of this protocol wait for the sentinel.
    return `${this.#usageChunk()}data: [DONE]\n\n`;
  }

  protected frame(frame: SseFrame): string {
    if (frame.data === undefined) return frame.raw;
    if (frame.data === "[DONE]") {
      this.state = "ended";
      this.#keep();
      return `${this.#usageChunk()}data: [DONE]\n\n`;
    }
    const chunk = parseObject(frame.data);
    if (!chunk) {
      this.failure = new GatewayError("upstream_failed", "The provider sent an event that is not valid JSON.");
      return "";
    }
    const counted = this.#readUsage(chunk);
    this.failure = answerError(chunk);
    if (this.failure) return "";
    const choices = arrayAt(chunk, "choices");
    reportModel(this.#context.served, chunk["model"]);
    reportTerms(this.#context.served, chunk["service_tier"]);
    const isUsageAlone = choices.length === 0 && isObject(chunk["usage"]);
    if (isUsageAlone && (!this.#showUsage || counted === null)) return "";
    if (counted !== undefined) {
      const usage = JSON.stringify(counted);
      const changed = changeValue(frame.data, ["usage"], () => usage);
      const patched = this.#patch(changed, { ...chunk, usage: counted }, choices);
      return patched === undefined ? "" : `data: ${patched}\n\n`;
    }
    const data = this.#patch(frame.data, chunk, choices);
    if (this.contentSeen && this.#collected === undefined && this.#templates.length < MAX_TEMPLATES)
      this.#lesson = { frame, data: frame.data, chunk };
    if (data === undefined) return "";
    return `data: ${data}\n\n`;
  }

  /**
   * Returns the usage that replaces the chunk's own, if that lacks or zeroes what an earlier chunk counted, since clients would take it as
   * final, or counts a token twice (decision 0085): null in place of zeros (H39). Undefined if the chunk's own usage stays.
   */
  #readUsage(chunk: JsonObject): JsonObject | null | undefined {
    const found = usageIn(chunk);
    const usage = found && decodeUsage(found.raw, this.#context.quirks.reasoningBeside);
    if (found === undefined || usage === undefined) return undefined;
    const counted = laterUsage(this.usageSeen, usage);
    const isZeros = counted !== usage && countsNothing(usage);
    this.usageSeen = counted;
    const details = countedOnce(objectAt(found.raw, "prompt_tokens_details"), usage);
    const raw = details === undefined ? found.raw : { ...found.raw, prompt_tokens_details: details };
    const shown = counted === usage ? raw : { ...raw, ...encodeUsage(counted) };
    if (!isZeros) this.#owedUsage = found.elsewhere ? shown : undefined;
    if (shown === found.raw || found.elsewhere) return undefined;
    return isZeros ? null : shown;
  }

  /** The usage where clients look for it, if they requested it. */
  #usageChunk(): string {
    const { publicModel: model, request, makeId } = this.#context;
    if (!this.#owedUsage || !this.usage || !this.#showUsage) return "";
    const cost = wantsCost(request) ? { cost: this.#context.costUsd(this.usage) } : {};
    const usage = { ...this.#owedUsage, ...cost };
    const id = this.#id ?? `chatcmpl-${makeId()}`;
    const created = this.#created ?? 0;
    return `data: ${JSON.stringify({ id, object: "chat.completion.chunk", created, model, choices: [], usage })}\n\n`;
  }

  #patch(text: string, chunk: JsonObject, choices: readonly unknown[]): string | undefined {
    requireFewChoices(choices.length);
    const changes = new Map<number, (choice: string) => string>();
    for (const [position, choice] of choices.entries()) {
      const patch = this.#patchChoice(choice);
      if (patch === undefined) return undefined;
      if (patch.length > 0) changes.set(position, (value) => patch.reduce((changed, change) => change(changed), value));
    }
    let data = changes.size === 0 ? text : changeElements(text, ["choices"], changes);
    if (isObject(chunk["usage"]) && this.usage && wantsCost(this.#context.request)) {
      const cost = String(this.#context.costUsd(this.usage));
      data = changeValue(data, ["usage"], (value) => new ObjectEdit(value).set("cost", cost).toString());
    }
    const set: Record<string, string> = {};
    this.#id ||= stringAt(chunk, "id");
    this.#created ??= numberAt(chunk, "created");
    const { answerId } = this.#context;
    if (answerId !== undefined) {
      this.#id = answerId;
      set["id"] = JSON.stringify(answerId);
    } else if (choices.length > 0 && !chunk["id"]) {
      this.#id ||= `chatcmpl-${this.#context.makeId()}`;
      set["id"] = JSON.stringify(this.#id);
    }
    if (choices.length > 0 && !chunk["object"]) set["object"] = '"chat.completion.chunk"';
    set["model"] = this.#modelJson;
    const patched = String(editBody({ text: data }, { set }, chunk));
    if (this.#collected !== undefined && choices.length > 0) this.#collect(patched, this.#collected);
    return patched;
  }

  /** Takes a chunk as the client gets it. */
  #collect(patched: string, collected: CollectedCompletion): void {
    const chunk = parseObject(patched) ?? {};
    this.#last = { ...this.#last, ...chunk };
    collected.take(arrayAt(chunk, "choices"), patched.length);
  }

  /** Hands over the completion that a client assembles from the chunks. */
  #keep(): void {
    const { keep, request } = this.#context;
    const choices = this.#collected?.choices;
    if (choices === undefined || this.#last === undefined) return;
    const cost = this.usage !== undefined && wantsCost(request) ? this.#context.costUsd(this.usage) : undefined;
    const usage = this.usage && encodeUsage(this.usage, cost);
    keep?.(completionOf(this.#last, choices, usage));
  }

  /** The changes to a choice, or undefined if its chunk is left out. */
  #patchChoice(choice: unknown): ((text: string) => string)[] | undefined {
    const delta = objectAt(choice, "delta") ?? {};
    const changes: ((text: string) => string)[] = [];
    this.#count(delta);
    const calls = this.#toolCalls.repair(delta);
    if (calls) changes.push((text) => changeValue(text, ["delta", "tool_calls"], () => JSON.stringify(calls)));
    const reported = stringAt(choice, "finish_reason");
    const finish = reported ? finishOf(choice, this.#toolCalls, hasBroken) : undefined;
    if (finish) {
      this.stop = decodeStop(finish);
      if (this.state === "open") this.state = "complete";
      const word = contractFinishReason(finish);
      if (word !== reported) changes.push((text) => changeValue(text, ["finish_reason"], () => JSON.stringify(word)));
    }
    const reasoning = mirrorReasoning(delta, this.#hideReasoning);
    if (!reasoning) return changes;
    if (reasoning.emptied && !finish && !objectAt(choice, "usage")) return undefined;
    changes.push((text) => changeValue(text, ["delta"], reasoning.change));
    return changes;
  }

  #count(delta: JsonObject): void {
    let characters = 0;
    for (const key of ["content", "refusal"]) characters += eventWeight(stringAt(delta, key) ?? "");
    const thought = stringAt(delta, "reasoning_content") ?? stringAt(delta, "reasoning") ?? "";
    if (thought !== "") this.reasoningSeen = true;
    characters += eventWeight(thought);
    for (const call of arrayAt(delta, "tool_calls")) {
      characters += eventWeight(stringAt(objectAt(call, "function"), "arguments") ?? "");
    }
    const legacy = delta["function_call"];
    characters += eventWeight(stringAt(legacy, "arguments") ?? "");
    const audio = objectAt(delta, "audio");
    characters += eventWeight(stringAt(audio, "transcript") ?? "");
    this.generatedCharacters += characters;
    const sound = stringAt(audio, "data");
    if (sound) {
      this.contentSeen = true;
      this.bring("audio", sound.length);
    }
    for (const image of arrayAt(delta, "images")) {
      this.contentSeen = true;
      if (isObject(image)) this.bring("image", 0);
    }
    if (characters > 0 || Array.isArray(delta["content"]) || delta["tool_calls"] || !callsNothing(legacy))
      this.contentSeen = true;
  }

  #learn({ frame, data, chunk }: { frame: SseFrame; data: string; chunk: JsonObject }): void {
    this.#lesson = undefined;
    const template = ChunkTemplate.learn(frame, data, chunk, this.#modelJson, this.#hideReasoning);
    if (template) this.#templates.push(template);
  }
}
