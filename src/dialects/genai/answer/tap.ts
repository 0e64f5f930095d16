import { ByteBuffer } from "../../../base/byte-buffer.ts";
import { arrayAt, type JsonObject, objectAt, parseObject, stringAt } from "../../../base/json.ts";
import { eventWeight, textWeight } from "../../../base/text-weight.ts";
import { GatewayError } from "../../../canon/error.ts";
import { countsNothing, laterUsage, type Usage } from "../../../canon/usage.ts";
import { editBody } from "../../../wire/edit-body.ts";
import { ObjectEdit } from "../../../wire/json-text.ts";
import { endOfEvent, readFrames, type SseFrame } from "../../../wire/sse.ts";
import { viewedBytes } from "../../../wire/viewed-bytes.ts";
import { TapBase } from "../../answer/tap-base.ts";
import type { NativeAnswerContext, TapProgress } from "../../dialect.ts";
import { patchCandidates } from "../native.ts";
import type { GenaiOptions } from "../options.ts";
import type { GenaiQuirks } from "../quirks.ts";
import { AnswerStamp } from "./answer-stamp.ts";
import { ChunkTemplate } from "./chunk-template.ts";
import { decodeErrorObject } from "./errors.ts";
import { HostedTools } from "./hosted-tools.ts";
import { decodeUsage, encodeUsage, reportUsageTerms, searchQueries } from "./usage.ts";

/** After this many templates that no chunk matched, no more are learned: the host's chunks differ in more than their text. */
const MAX_LESSONS = 8;

/** A chunk that was parsed, and what the client got for it. */
interface Lesson {
  frame: SseFrame;
  chunk: JsonObject;
  written: string;
}

export class GenaiTap extends TapBase {
  override readonly usageRuns = true;
  readonly #context: NativeAnswerContext<GenaiQuirks, GenaiOptions>;
  #template: ChunkTemplate | undefined;
  /** The chunk before the next one, from which a template is learned when that arrives, so that it does not delay this one. */
  #lesson: Lesson | undefined;
  #lessons = 0;
  /** The last ordinary chunk. All chunks have cumulative usage, so only the last of several needs to be read, and only once. */
  readonly #unread = new ByteBuffer();
  /** The last usage that the client received is less than what is billed. */
  #understated = false;
  #searches = 0;
  readonly #tools = new HostedTools();
  #chunks = 0;
  readonly #stamp: AnswerStamp;
  constructor(context: NativeAnswerContext<GenaiQuirks, GenaiOptions>) {
    super();
    this.#context = context;
    this.#stamp = new AnswerStamp(context);
  }

  /** Copies runs of ordinary chunks, and parses everything between them. */
  override push(events: Uint8Array, output: ByteBuffer): TapProgress {
    const { bytes, view } = viewedBytes(events);
    for (let at = 0; at < events.length && !this.failure && this.state !== "ended"; ) {
      const run = this.#passRun(bytes, view, at, output);
      if (run > at) {
        at = run;
        continue;
      }
      const end = endOfEvent(events, at);
      output.putText(this.pushCarefully(bytes.toString("utf8", at, end)));
      at = end;
    }
    return this;
  }

  /** Where the run of ordinary chunks ends that begins at `at`; `at` itself where there is none. */
  #passRun(bytes: Buffer, view: DataView, at: number, output: ByteBuffer): number {
    if (this.#lesson !== undefined) this.#learn(this.#lesson);
    const template = this.#template;
    if (template === undefined) return at;
    const end = template.renderRun(bytes, view, at, output);
    if (end === at) return at;
    this.#lessons = 0;
    this.generatedCharacters += template.characters;
    if (template.counts) {
      this.#unread.clear();
      this.#unread.reserve(end - template.lastStart);
      this.#unread.putPart(bytes, template.lastStart, end);
    }
    return end;
  }

  #learn({ frame, chunk, written }: Lesson): void {
    this.#lesson = undefined;
    this.#lessons++;
    this.#template = ChunkTemplate.learn(frame, chunk, written);
  }

  protected override closing(): string {
    if (!this.#context.options.arrayFraming) return "";
    return this.#chunks === 0 ? "[]" : "]";
  }

  protected frame(frame: SseFrame): string {
    // Comments and other lines break the vendor's readers (sdks 1.5).
    if (frame.data === undefined || frame.data === "[DONE]") return "";
    // Any chunk that is parsed may change what the next ones mean.
    this.#template = undefined;
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
    const written = this.#write(String(editBody({ text: data }, { set: this.#stamp.lacking(chunk) }, chunk)));
    if (this.#maySeeLike(chunk)) this.#lesson = { frame, chunk, written };
    return written;
  }

  /** Whether chunks like this one change nothing but the text and the counts. */
  #maySeeLike(chunk: JsonObject): boolean {
    if (this.#lessons === MAX_LESSONS || this.#context.options.arrayFraming) return false;
    return this.contentSeen && (!this.#understated || chunk["usageMetadata"] === undefined);
  }

  /**
   * Returns the usage that replaces the chunk's own (decision 0085), null to replace zeros (H39), or undefined to keep it.
   * Clients use the last usage, so one that lacks what was counted is replaced in chunks that may be the last: hosts do leave counts out in
   * between, when they call the model again after a search.
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
    if (this.#unread.length === 0) return this.usageSeen;
    const [last] = readFrames(this.#unread.view().toString());
    this.#unread.clear();
    this.report(decodeUsage(parseObject(last?.data ?? "")));
    return this.usageSeen;
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
        this.generatedCharacters += eventWeight(text ?? "");
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

function withUsage(data: string, usage: JsonObject | null): string {
  const edit = new ObjectEdit(data);
  return (usage === null ? edit.remove("usageMetadata") : edit.set("usageMetadata", JSON.stringify(usage))).toString();
}
