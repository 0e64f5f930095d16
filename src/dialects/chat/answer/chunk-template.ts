import type { ByteBuffer } from "../../../base/byte-buffer.ts";
import { isObject, type JsonObject, objectAt } from "../../../base/json.ts";
import { MIN_WEIGHT, weigh } from "../../../base/text-weight.ts";
import { BytePattern } from "../../../wire/byte-pattern.ts";
import { findOnlyString } from "../../../wire/edit-body.ts";
import { findValue } from "../../../wire/json-text.ts";
import { endOfPlainString } from "../../../wire/plain-string.ts";

/** The members of a delta that carry generated text and nothing else. */
const TEXT_KEYS = ["content", "reasoning_content", "reasoning"] as const;
const TWIN: Readonly<Record<string, string>> = { reasoning: "reasoning_content", reasoning_content: "reasoning" };
const PADDING_TEXT = ',"obfuscation":"';
const PADDING = new BytePattern(PADDING_TEXT);
const CLOSE = new BytePattern("}\n\n");
const SPACE = 0x20;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/**
 * The ordinary chunks of one stream are alike but for their text: the same bytes before it and after it. Once one of them
 * has been read with care, its likes are recognised by those bytes and patched without being parsed, which is what makes
 * a burst of chunks cheap. Anything that differs anywhere is not recognised, and takes the careful road.
 */
export class ChunkTemplate {
  /** Up to and with the quote that opens the text. */
  readonly #head: BytePattern;
  /** From the quote that closes the text to the end, but for the random padding that some hosts add. */
  readonly #tail: BytePattern;
  readonly #clientHead: Buffer;
  /** Between the text and its repetition under the field's other name; undefined where there is none. */
  readonly #clientTwin: Buffer | undefined;
  readonly #hide: boolean;
  /** Set by a successful `renderRun`: the weight of the text that the events carried. */
  characters = 0;
  /** Set by a successful `#match`: where the event's text ends. */
  #textEnd = 0;

  private constructor(head: string, tail: string, clientHead: string, clientTwin: string | undefined, hide: boolean) {
    this.#head = new BytePattern(head);
    this.#tail = new BytePattern(tail);
    this.#clientHead = Buffer.from(clientHead);
    this.#clientTwin = clientTwin === undefined ? undefined : Buffer.from(clientTwin);
    this.#hide = hide;
  }

  /** Learns from an event that was read already; undefined where it is not an ordinary one. `modelJson`: as clients see it. */
  static learn(raw: string, data: string, chunk: JsonObject, modelJson: string, hideReasoning: boolean) {
    const [choice, second] = Array.isArray(chunk["choices"]) ? (chunk["choices"] as unknown[]) : [];
    const delta = objectAt(choice, "delta");
    if (second !== undefined || !delta || raw !== `data: ${data}\n\n` || isObject(chunk["usage"])) return undefined;
    const present = Object.values(delta).filter((value) => value !== null);
    const key = TEXT_KEYS.find((name) => typeof delta[name] === "string");
    if (key === undefined || present.length !== 1 || (isObject(choice) && choice["finish_reason"])) return undefined;
    // What the careful road repairs in each chunk, a copy of the upstream's bytes would not.
    const twin = TWIN[key];
    if (typeof chunk["model"] !== "string" || !chunk["id"] || !chunk["object"] || (twin && twin in delta))
      return undefined;
    const text = findOnlyString(data, key) ?? findValue(data, ["choices", 0, "delta", key]);
    const model = findOnlyString(data, "model") ?? findValue(data, ["model"]);
    if (!text || !model || model.start > text.start) return undefined;

    const lead = "data: ".length;
    const after = data.slice(text.end - 1);
    const padding = after.indexOf(PADDING_TEXT);
    const tail = padding < 0 ? after.slice(0, -1) : after.slice(0, padding);
    const clientStart = `data: ${data.slice(0, model.start)}${modelJson}${data.slice(model.end, text.start + 1)}`;
    const clientTwin = twin === undefined ? undefined : `","${twin}":"`;
    const hide = hideReasoning && key !== "content";
    return new ChunkTemplate(raw.slice(0, lead + text.start + 1), tail, clientStart, clientTwin, hide);
  }

  /**
   * Puts the client's form of a run of events into the output: of as many from `at` on as are alike. Gives where the last of
   * them ends, and -1 where the first is not one of these. `view` shows the same bytes.
   */
  renderRun(events: Buffer, view: DataView, at: number, output: ByteBuffer): number {
    this.characters = 0;
    let from = at;
    for (let end = this.#match(view, from); end >= 0; end = this.#match(view, from)) {
      if (!this.#hide) this.#render(events, from, end, output);
      from = end;
    }
    return from === at ? -1 : from;
  }

  /** The event that was matched last. */
  #render(events: Buffer, from: number, end: number, output: ByteBuffer): void {
    const clientHead = this.#clientHead;
    const twin = this.#clientTwin;
    const textStart = from + this.#head.length;
    output.reserve(clientHead.length + 2 * (end - textStart) + (twin?.length ?? 0));
    output.putPart(clientHead, 0, clientHead.length);
    if (twin !== undefined) {
      output.putPart(events, textStart, this.#textEnd);
      output.putPart(twin, 0, twin.length);
    }
    output.putPart(events, textStart, end);
  }

  /** Where the event at `at` ends, or -1 where it is not one of these. */
  #match(view: DataView, at: number): number {
    const head = this.#head;
    if (!head.isAt(view, at)) return -1;
    const length = view.byteLength;
    let end = at + head.length;
    let characters = 0;
    for (; end < length; end++) {
      const byte = view.getUint8(end);
      if (byte === QUOTE) break;
      // Not JSON.
      if (byte < SPACE) return -1;
      if ((byte & 0xc0) !== 0x80) characters++;
      if (byte !== BACKSLASH) continue;
      end++;
      characters++;
    }
    if (!this.#tail.isAt(view, end)) return -1;
    this.#textEnd = end;
    end += this.#tail.length;
    if (PADDING.isAt(view, end)) {
      end = endOfPlainString(view, end + PADDING.length) + 1;
      if (end === 0) return -1;
    }
    if (!CLOSE.isAt(view, end)) return -1;
    if (characters > 0) this.characters += Math.max(MIN_WEIGHT, weigh(characters, this.#textEnd - at - head.length));
    return end + CLOSE.length;
  }
}
