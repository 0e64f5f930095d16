import { arrayAt, type JsonObject, objectAt, parseObject, stringAt } from "../../../base/json.ts";
import { MIN_WEIGHT, textWeight } from "../../../base/text-weight.ts";
import { GatewayError } from "../../../canon/error.ts";
import { completionTokens, countsNothing, laterUsage, promptTokens, type Usage } from "../../../canon/usage.ts";
import { editBody } from "../../../wire/edit-body.ts";
import { ObjectEdit } from "../../../wire/json-text.ts";
import { readFrames, type SseFrame } from "../../../wire/sse.ts";
import { TapBase } from "../../answer/tap-base.ts";
import type { NativeAnswerContext } from "../../dialect.ts";
import { patchCandidates } from "../native.ts";
import type { GenaiOptions } from "../options.ts";
import type { GenaiQuirks } from "../quirks.ts";
import { AnswerStamp, hasAllBut } from "./answer-stamp.ts";
import { decodeErrorObject } from "./errors.ts";
import { HostedTools } from "./hosted-tools.ts";
import { decodeUsage, encodeUsage, reportUsageTerms, searchQueries } from "./usage.ts";

/** A chunk with none of these is forwarded unchanged. */
const MARKS = [
  '"finishReason"',
  '"error"',
  '"promptFeedback"',
  '"groundingMetadata"',
  '"citationMetadata"',
  '"toolUsePromptTokenCount"',
  '"inlineData"',
  '"toolCall"',
  '"codeExecutionResult"',
];

/** Only single-line events that begin and end like objects. */
const WHOLE_CHUNKS = /^(?:data: \{"[^\r\n]*\}(?:\r\n\r\n|\n\n))+$/;
const BEGINNING = "data: {";
const CR = 0x0d;
const COLON = 0x3a;
const SPACE = 0x20;
const ZERO = 0x30;

const TEXT = /"text":"(?:[^"\\]|\\.)*"/g;
const EMPTY_TEXT = '"text":""'.length;

/** Some chunks have a `usageMetadata` without counts. Only chunks with counts have this key. */
const USAGE_MARK = '"promptTokenCount"';
const TOTAL_MARK = '"totalTokenCount"';

export class GenaiTap extends TapBase {
  override readonly usageRuns = true;
  readonly #context: NativeAnswerContext<GenaiQuirks, GenaiOptions>;
  /** Every chunk has cumulative usage, so only the last of several needs to be read, and only once. */
  #lastWithUsage: string | undefined;
  /** The token counts up to that chunk. */
  #prompt = 0;
  #generated = 0;
  /** The last usage that the client received is less than what is billed. */
  #understated = false;
  #searches = 0;
  readonly #tools = new HostedTools();
  #chunks = 0;
  readonly #stamp: AnswerStamp;
  /** The fields that the last chunk lacked. Ordinary chunks lack the same ones. */
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
      hasAllBut(this.#lacking, events) &&
      this.#countsUp(events);
    if (!ordinary) return this.pushCarefully(events);
    if (events.includes(USAGE_MARK)) {
      this.#lastWithUsage = events;
      this.#understated = false;
    }
    for (const [fragment] of events.matchAll(TEXT)) this.#countChunk(textWeight(fragment) - EMPTY_TEXT);
    return this.#stamped(events);
  }

  /** Inserts the missing fields before the first member of each event, and makes line ends uniform (choices 3). */
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
      this.failure = new GatewayError("upstream_failed", "The provider sent a chunk that is not valid JSON.");
      return "";
    }
    if (objectAt(chunk, "error")) {
      this.#readUsage(chunk);
      this.failure = decodeErrorObject(chunk);
      return "";
    }
    const counted = this.#readUsage(chunk);
    if (counted === null && chunk["candidates"] === undefined) return "";
    reportUsageTerms(this.#context.served, chunk);
    this.#searches += searchQueries(chunk);
    this.#tools.read(chunk);
    this.#readContent(chunk);
    const shown = counted === undefined ? frame.data : withUsage(frame.data, counted);
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

  /** Whether the counts never decrease in these chunks, so that only the last needs to be read. */
  #countsUp(events: string): boolean {
    let prompt = this.#prompt;
    let generated = this.#generated;
    for (let at = events.indexOf(USAGE_MARK); at >= 0; at = events.indexOf(USAGE_MARK, at + 1)) {
      const promptNow = numberAfter(events, at + USAGE_MARK.length);
      const total = events.indexOf(TOTAL_MARK, at);
      const generatedNow = numberAfter(events, total + TOTAL_MARK.length) - promptNow;
      // Also false if a number is missing, since NaN compares false.
      if (!(total >= 0 && promptNow >= prompt && generatedNow >= generated)) return false;
      prompt = promptNow;
      generated = generatedNow;
    }
    this.#prompt = prompt;
    this.#generated = generated;
    return true;
  }

  /**
   * Returns the usage that replaces the chunk's own (decision 0085), null to replace zeros (H39), or undefined to keep it.
   * Clients use the last usage, so a smaller one is replaced in chunks that may be the last: hosts do count less in between, when
   * they call the model again after a search.
   */
  #readUsage(chunk: JsonObject): JsonObject | null | undefined {
    const earlier = this.#countedSoFar();
    const usage = decodeUsage(chunk);
    const mayBeLast = this.stop !== undefined || hasFinished(chunk);
    if (usage === undefined) {
      return this.#understated && mayBeLast && earlier !== undefined ? encodeUsage(earlier) : undefined;
    }
    const counted = laterUsage(earlier, usage);
    this.usageSeen = counted;
    this.#prompt = promptTokens(counted);
    this.#generated = completionTokens(counted);
    if (counted !== usage && countsNothing(usage)) return null;
    this.#understated = counted !== usage && !mayBeLast;
    return counted !== usage && mayBeLast ? encodeUsage(counted) : undefined;
  }

  #countMedia(media: JsonObject): void {
    const kind = /^(image|audio)\//.exec(stringAt(media, "mimeType") ?? "")?.[1];
    if (kind === "image" || kind === "audio") this.bring(kind, (stringAt(media, "data") ?? "").length);
  }

  /** Reads the last chunk that was not read yet. */
  #countedSoFar(): Usage | undefined {
    const unread = this.#lastWithUsage;
    if (unread === undefined) return this.usageSeen;
    this.#lastWithUsage = undefined;
    const last = readFrames(unread).findLast(({ data }) => data?.includes(USAGE_MARK))?.data;
    this.report(last === undefined ? undefined : decodeUsage(parseObject(last)));
    return this.usageSeen;
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
        // An empty text is no content, unless it carries something that must come back.
        if (text !== "" || stringAt(part, "thoughtSignature") !== undefined) this.contentSeen = true;
        this.#countChunk(textWeight(text ?? ""));
        const media = objectAt(part, "inlineData");
        if (media) this.#countMedia(media);
        const call = objectAt(part, "functionCall");
        if (call) this.generatedCharacters += textWeight(JSON.stringify(call));
      }
    }
  }

  override get usage(): Usage | undefined {
    const usage = this.#countedSoFar();
    if (!usage) return undefined;
    const { searches: _own, ...counted } = usage;
    const searched = this.#searches === 0 ? counted : { ...counted, searches: this.#searches };
    return this.#tools.addTo(searched);
  }
}

const hasFinished = (chunk: JsonObject): boolean =>
  objectAt(chunk, "promptFeedback") !== undefined ||
  arrayAt(chunk, "candidates").some((candidate) => stringAt(candidate, "finishReason") !== undefined);

/** The integer after a member's name, or NaN. */
function numberAfter(text: string, nameEnd: number): number {
  let at = nameEnd;
  for (let code = text.charCodeAt(at); code === COLON || code === SPACE; ) code = text.charCodeAt(++at);
  let number = Number.NaN;
  for (let digit = text.charCodeAt(at) - ZERO; digit >= 0 && digit <= 9; digit = text.charCodeAt(++at) - ZERO)
    number = (Number.isNaN(number) ? 0 : number * 10) + digit;
  return number;
}

function withUsage(data: string, usage: JsonObject | null): string {
  const edit = new ObjectEdit(data);
  return (usage === null ? edit.remove("usageMetadata") : edit.set("usageMetadata", JSON.stringify(usage))).toString();
}
