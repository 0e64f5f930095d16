import type { ByteBuffer } from "../../../base/byte-buffer.ts";
import { arrayAt, isObject, type JsonObject, objectAt } from "../../../base/json.ts";
import { FrameTemplate, type VaryingPlaces } from "../../../wire/frame-template.ts";
import type { SseFrame } from "../../../wire/sse.ts";

/**
 * The prompt's count is not among the numbers: one that changes makes a chunk no ordinary one. The counts after the prompt can therefore
 * only grow in ordinary chunks, so that only the last of them needs to be read.
 */
const PLACES: VaryingPlaces = {
  texts: [["candidates", 0, "content", "parts", 0, "text"]],
  numbers: ["candidatesTokenCount", "thoughtsTokenCount", "totalTokenCount"].map((name) => ["usageMetadata", name]),
  verbatim: true,
};

/** The members of an ordinary candidate and its part. Any other could mean something for the bill or for the end. */
const CANDIDATE: ReadonlySet<string> = new Set(["content", "index", "safetyRatings"]);
const PART: ReadonlySet<string> = new Set(["text", "thought"]);

const LEAD = "data: {";
const END = Buffer.from("\n\n");

/** Passes on the ordinary chunks of one stream without parsing them. All bytes from the text on are copied, up to the line ends. */
export class ChunkTemplate {
  readonly #template: FrameTemplate;
  /** Up to and including the quote that opens the text, as the client sees it. */
  readonly #clientHead: Buffer;
  /** How many bytes of line ends an event has. */
  readonly #lineEnds: number;
  /** Whether the chunks report usage. */
  readonly counts: boolean;
  /** The weight of the text in the last run. */
  characters = 0;
  /** Where the last event of the last run begins. */
  lastStart = 0;

  private constructor(template: FrameTemplate, clientHead: string, lineEnds: number, counts: boolean) {
    this.#template = template;
    this.#clientHead = Buffer.from(clientHead);
    this.#lineEnds = lineEnds;
    this.counts = counts;
  }

  /** Learns from an event that was parsed, and what the client got for it; undefined where it is not an ordinary one. */
  static learn({ raw, event, data }: SseFrame, chunk: JsonObject, written: string): ChunkTemplate | undefined {
    const text = textOf(chunk);
    if (text === undefined || data === undefined) return undefined;
    const lineEnds = raw.length - "data: ".length - data.length;
    if (raw !== `data: ${data}${raw.endsWith("\r\n\r\n") ? "\r\n\r\n" : "\n\n"}`) return undefined;
    // Members that the host has left out go first; nothing else may differ.
    const added = written.slice(LEAD.length, 1 - data.length - END.length);
    if (written !== `${LEAD}${added}${data.slice(1)}\n\n`) return undefined;
    const template = FrameTemplate.learn({ raw, event, data }, PLACES, text);
    if (template === undefined) return undefined;
    const clientHead = LEAD + added + raw.slice(LEAD.length, template.textStart);
    return new ChunkTemplate(
      template,
      clientHead,
      lineEnds,
      "promptTokenCount" in (objectAt(chunk, "usageMetadata") ?? {}),
    );
  }

  /** Writes as many events from `at` on as match. Returns where the last of them ends; `at` where the first does not match. */
  renderRun(events: Buffer, view: DataView, at: number, output: ByteBuffer): number {
    const template = this.#template;
    this.characters = 0;
    let from = at;
    for (let end = template.match(view, from); end >= 0; end = template.match(view, from)) {
      this.characters += template.weight;
      this.#render(events, end - this.#lineEnds, output);
      this.lastStart = from;
      from = end;
    }
    return from;
  }

  /** The event that was matched last. */
  #render(events: Buffer, end: number, output: ByteBuffer): void {
    const clientHead = this.#clientHead;
    const { textStart } = this.#template;
    output.reserve(clientHead.length + (end - textStart) + END.length);
    output.putPart(clientHead, 0, clientHead.length);
    output.putPart(events, textStart, end);
    output.putPart(END, 0, END.length);
  }
}

/** The text of a chunk that has one and nothing else that matters. */
function textOf(chunk: JsonObject): string | undefined {
  const [candidate, otherCandidate] = arrayAt(chunk, "candidates");
  const content = objectAt(candidate, "content");
  const [part, otherPart] = arrayAt(content, "parts");
  if (otherCandidate !== undefined || otherPart !== undefined || !isObject(candidate) || !isObject(part))
    return undefined;
  const isOrdinary = hasOnly(candidate, CANDIDATE) && hasOnly(part, PART);
  return isOrdinary && typeof part["text"] === "string" ? part["text"] : undefined;
}

const hasOnly = (object: JsonObject, names: ReadonlySet<string>): boolean =>
  Object.keys(object).every((name) => names.has(name));
