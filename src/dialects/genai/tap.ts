import { arrayAt, type JsonObject, objectAt, parseObject, stringAt } from "../../base/json.ts";
import { MIN_WEIGHT, textWeight } from "../../base/text-weight.ts";
import { GatewayError } from "../../canon/error.ts";
import { countsNothing, type Usage } from "../../canon/usage.ts";
import { editBody } from "../../wire/edit-body.ts";
import { ObjectEdit } from "../../wire/json-text.ts";
import { readFrames, type SseFrame } from "../../wire/sse.ts";
import type { NativeAnswerContext } from "../dialect.ts";
import { TapBase } from "../tap-base.ts";
import { AnswerStamp, hasAllBut } from "./answer-stamp.ts";
import { decodeErrorObject } from "./errors.ts";
import { GroundedTools } from "./grounded-tools.ts";
import { patchCandidates } from "./native.ts";
import type { GenaiOptions } from "./options.ts";
import type { GenaiQuirks } from "./quirks.ts";
import { codeRuns, decodeUsage, reportUsageTerms, searchQueries, withCodeRuns } from "./usage.ts";

/** A chunk with none of these is passed on as it is. */
const MARKS = ['"finishReason"', '"error"', '"promptFeedback"', '"groundingMetadata"', '"citationMetadata"'];

/** Nothing but events of one line that begin and end as objects do. */
const WHOLE_CHUNKS = /^(?:data: \{"[^\r\n]*\}(?:\r\n\r\n|\n\n))+$/;
const BEGINNING = "data: {";
const CR = 0x0d;

const TEXT = /"text":"(?:[^"\\]|\\.)*"/g;
const EMPTY_TEXT = '"text":""'.length;

/** Some chunks carry a `usageMetadata` without counts; this key stands only in the ones that count. */
const USAGE_MARK = '"promptTokenCount"';
/** Few hosts have it, and it may be a zero in the place of a count. */
const ZERO_PROMPT = /"promptTokenCount":\s*0\b/;

export class GenaiTap extends TapBase {
  override readonly usageRuns = true;
  readonly #context: NativeAnswerContext<GenaiQuirks, GenaiOptions>;
  /** Usage is cumulative and on every chunk: only the last one is worth reading, and only once. */
  #lastWithUsage: string | undefined;
  #searches = 0;
  #codeRuns = 0;
  readonly #tools = new GroundedTools();
  #chunks = 0;
  readonly #stamp: AnswerStamp;
  /** What the last chunk that was read lacked: the ordinary ones lack the same. */
  #lacking: Readonly<Record<string, string>> = {};
  #beginning = BEGINNING;

  constructor(context: NativeAnswerContext<GenaiQuirks, GenaiOptions>) {
    super();
    this.#context = context;
    this.#stamp = new AnswerStamp(context);
  }

  protected override pushText(events: string): string {
    const ordinary =
      this.contentSeen &&
      !this.#context.options.arrayFraming &&
      WHOLE_CHUNKS.test(events) &&
      !MARKS.some((mark) => events.includes(mark)) &&
      !ZERO_PROMPT.test(events) &&
      hasAllBut(this.#lacking, events);
    if (!ordinary) return this.pushCarefully(events);
    if (events.includes(USAGE_MARK)) this.#lastWithUsage = events;
    for (const [fragment] of events.matchAll(TEXT)) this.#countChunk(textWeight(fragment) - EMPTY_TEXT);
    return this.#stamped(events);
  }

  /** Each event on from its first member, with what it lacks before that; one kind of line ending, whatever the host's (choices 3). */
  #stamped(events: string): string {
    let text = "";
    for (let at = 0; at < events.length; ) {
      const lineEnd = events.indexOf("\n", at);
      const isCrlf = events.charCodeAt(lineEnd - 1) === CR;
      text += `${this.#beginning}${events.slice(at + BEGINNING.length, isCrlf ? lineEnd - 1 : lineEnd)}\n\n`;
      at = lineEnd + (isCrlf ? 3 : 2);
    }
    return text;
  }

  protected override closing(): string {
    if (!this.#context.options.arrayFraming) return "";
    return this.#chunks === 0 ? "[]" : "]";
  }

  protected frame(frame: SseFrame): string {
    // Comments and other lines break the vendor's readers (sdks 1.5).
    if (frame.data === undefined || frame.data === "[DONE]") return "";
    const chunk = parseObject(frame.data);
    if (!chunk) {
      this.failure = new GatewayError("upstream_failed", "The provider sent a chunk that is not JSON.");
      return "";
    }
    if (objectAt(chunk, "error")) {
      if (frame.data.includes(USAGE_MARK)) this.#lastWithUsage = frame.raw;
      this.failure = decodeErrorObject(chunk);
      return "";
    }
    const replacesCount = this.#replacesCount(frame.data, chunk);
    if (replacesCount && chunk["candidates"] === undefined) return "";
    if (!replacesCount && frame.data.includes(USAGE_MARK)) this.#lastWithUsage = frame.raw;
    reportUsageTerms(this.#context.served, chunk);
    this.#searches += searchQueries(chunk);
    this.#codeRuns += codeRuns(chunk);
    for (const candidate of arrayAt(chunk, "candidates")) this.#tools.take(objectAt(candidate, "groundingMetadata"));
    this.#readContent(chunk);
    const shown = replacesCount ? new ObjectEdit(frame.data).remove("usageMetadata").toString() : frame.data;
    const { data, stop } = patchCandidates(shown, chunk, this.#context.options.bareFinishReason);
    const blocked = stringAt(objectAt(chunk, "promptFeedback"), "blockReason");
    if (stop) this.stop = stop;
    else if (blocked !== undefined) this.stop = { unified: "filter", raw: blocked };
    if (this.stop) this.state = "complete";
    this.#lacking = this.#stamp.lacking(chunk);
    const added = Object.entries(this.#lacking).map(([name, value]) => `"${name}":${value},`);
    this.#beginning = BEGINNING + added.join("");
    return this.#write(String(editBody({ text: data }, { set: this.#lacking }, chunk)));
  }

  /** Whether the chunk has zeros where clients were shown a count, which they would take for the last word (H39). */
  #replacesCount(data: string, chunk: JsonObject): boolean {
    const usage = ZERO_PROMPT.test(data) ? decodeUsage(chunk) : undefined;
    if (usage === undefined || !countsNothing(usage)) return false;
    const counted = this.usage;
    return counted !== undefined && !countsNothing(counted);
  }

  #countChunk(weight: number): void {
    if (weight > 0) this.generatedCharacters += Math.max(MIN_WEIGHT, weight);
  }

  #write(data: string): string {
    this.#chunks++;
    if (this.#context.options.arrayFraming) return `${this.#chunks === 1 ? "[" : ",\r\n"}${data}`;
    return `data: ${data.replace(/[\r\n]+/g, " ")}\n\n`;
  }

  #readContent(chunk: JsonObject): void {
    for (const candidate of arrayAt(chunk, "candidates")) {
      for (const part of arrayAt(objectAt(candidate, "content"), "parts")) {
        const text = stringAt(part, "text");
        // An empty text says nothing, unless it carries what must come back.
        if (text !== "" || stringAt(part, "thoughtSignature") !== undefined) this.contentSeen = true;
        this.#countChunk(textWeight(text ?? ""));
        const call = objectAt(part, "functionCall");
        if (call) this.generatedCharacters += textWeight(JSON.stringify(call));
      }
    }
  }

  override get usage(): Usage | undefined {
    const frames = this.#lastWithUsage === undefined ? [] : readFrames(this.#lastWithUsage);
    const last = frames.findLast(({ data }) => data?.includes(USAGE_MARK))?.data;
    const usage = last === undefined ? undefined : decodeUsage(parseObject(last));
    if (!usage) return undefined;
    const { searches: _own, ...counted } = usage;
    const searched = this.#searches === 0 ? counted : { ...counted, searches: this.#searches };
    return this.#tools.addTo(withCodeRuns(searched, this.#codeRuns));
  }
}
