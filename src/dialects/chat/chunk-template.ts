import { isObject, type JsonObject, objectAt } from "../../canon/json.ts";
import { binaryOfText, countCharacters } from "../../wire/binary-text.ts";
import { endOfString, findValue } from "../../wire/json-text.ts";

/** The members of a delta that carry generated text and nothing else. */
const TEXT_KEYS = ["content", "reasoning_content", "reasoning"] as const;
const TWIN: Readonly<Record<string, string>> = { reasoning: "reasoning_content", reasoning_content: "reasoning" };
const PADDING = ',"obfuscation":"';
const CLOSE = "}\n\n";
const PADDING_BYTES = Buffer.from(PADDING);
const CLOSE_BYTES = Buffer.from(CLOSE);
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
/** The largest event that is worth room of its own in each stream. */
const MAX_ONE = 1024;

/**
 * The ordinary chunks of one stream are alike but for their text: the same bytes before it and after it. Once one of them
 * has been read with care, its likes are recognised by those bytes and patched without being parsed, which is what makes
 * a burst of chunks cheap. Anything that differs anywhere is not recognised, and takes the careful road.
 */
export class ChunkTemplate {
  /** Up to and with the quote that opens the text. */
  readonly #head: string;
  /** From the quote that closes the text to the end, but for the random padding that some hosts add. */
  readonly #tail: string;
  readonly #clientHead: string;
  /** Between the text and its repetition under the field's other name; undefined where there is none. */
  readonly #clientTwin: string | undefined;
  readonly #hide: boolean;
  readonly #headBytes: Uint8Array;
  readonly #tailBytes: Uint8Array;
  #one: Uint8Array | undefined;
  /** Set by a successful `render`: where the last event ends, and how much text they carried. */
  end = 0;
  characters = 0;
  /** Set by a successful `#match`: where the event's text begins and ends. */
  #textStart = 0;
  #textEnd = 0;

  private constructor(head: string, tail: string, clientHead: string, clientTwin: string | undefined, hide: boolean) {
    this.#head = binaryOfText(head);
    this.#tail = binaryOfText(tail);
    this.#clientHead = binaryOfText(clientHead);
    this.#clientTwin = clientTwin === undefined ? undefined : binaryOfText(clientTwin);
    this.#hide = hide;
    this.#headBytes = Buffer.from(head);
    this.#tailBytes = Buffer.from(tail);
  }

  /** Learns from an event that was read already; undefined where it is not an ordinary one. */
  static learn(raw: string, data: string, chunk: JsonObject, publicModel: string, hideReasoning: boolean) {
    const [choice, second] = Array.isArray(chunk["choices"]) ? (chunk["choices"] as unknown[]) : [];
    const delta = objectAt(choice, "delta");
    if (second !== undefined || !delta || raw !== `data: ${data}\n\n` || isObject(chunk["usage"])) return undefined;
    const present = Object.entries(delta).filter(([, value]) => value !== null);
    const key = TEXT_KEYS.find((name) => typeof delta[name] === "string");
    if (key === undefined || present.length !== 1 || (isObject(choice) && choice["finish_reason"])) return undefined;
    const text = findValue(data, ["choices", 0, "delta", key]);
    const model = findValue(data, ["model"]);
    if (!text || !model || model.start > text.start) return undefined;

    const lead = "data: ".length;
    const after = data.slice(text.end - 1);
    const padding = after.indexOf(PADDING);
    const tail = padding < 0 ? after.slice(0, -1) : after.slice(0, padding);
    const clientStart = `data: ${data.slice(0, model.start)}${JSON.stringify(publicModel)}${data.slice(model.end, text.start + 1)}`;
    const twin = TWIN[key];
    const clientTwin = twin === undefined || twin in delta ? undefined : `","${twin}":"`;
    const hide = hideReasoning && key !== "content";
    return new ChunkTemplate(raw.slice(0, lead + text.start + 1), tail, clientStart, clientTwin, hide);
  }

  /**
   * The same for a piece that is one event, which most are: no text is made of its bytes, and nothing is allocated but a view.
   * What it gives holds until the next call. Undefined for anything else, a longer piece or another form of answer too.
   */
  renderOne(event: Uint8Array): Uint8Array | undefined {
    const head = this.#headBytes;
    const { length } = event;
    if (this.#hide || this.#clientTwin !== undefined || length > MAX_ONE || !holds(event, 0, head)) return undefined;
    let end = head.length;
    let characters = 0;
    for (; end < length; end++) {
      const byte = event[end] ?? 0;
      if (byte === QUOTE) break;
      if ((byte & 0xc0) !== 0x80) characters++;
      if (byte !== BACKSLASH) continue;
      end++;
      characters++;
    }
    const close = length - CLOSE_BYTES.length;
    if (!holds(event, end, this.#tailBytes) || !holds(event, close, CLOSE_BYTES)) return undefined;
    if (!isPadding(event, end + this.#tailBytes.length, close)) return undefined;
    this.characters = characters;
    this.#one ??= this.#clientBytes();
    const lead = this.#clientHead.length;
    this.#one.set(event.subarray(head.length), lead);
    return this.#one.subarray(0, lead + length - head.length);
  }

  /** Room for one event, with the client's head in its place already. */
  #clientBytes(): Uint8Array {
    const bytes = Buffer.alloc(this.#clientHead.length + MAX_ONE);
    bytes.write(this.#clientHead, "latin1");
    return bytes;
  }

  /** The client's form of the events from `at` on, of as many as are alike; undefined where the first is not one of these. */
  render(events: string, at: number): string | undefined {
    this.characters = 0;
    let end = this.#match(events, at);
    if (end < 0) return undefined;
    let text = this.#clientForm(events, end);
    // Of many events the texts are collected and joined once: to lengthen a text by each in turn would cost more.
    let texts: string[] | undefined;
    for (let next = this.#match(events, end); next >= 0; next = this.#match(events, end)) {
      end = next;
      texts ??= [text];
      texts.push(this.#clientForm(events, end));
    }
    if (texts) text = texts.join(this.#hide ? "" : this.#clientHead);
    this.end = end;
    return this.#hide ? "" : this.#clientHead + text;
  }

  /** Where the event at `at` ends, or -1 where it is not one of these. */
  #match(events: string, at: number): number {
    if (!events.startsWith(this.#head, at)) return -1;
    const textStart = at + this.#head.length;
    const textEnd = endOfString(events, textStart) - 1;
    if (!events.startsWith(this.#tail, textEnd)) return -1;
    let close = textEnd + this.#tail.length;
    if (events.startsWith(PADDING, close)) close = endOfString(events, close + PADDING.length);
    if (!events.startsWith(CLOSE, close)) return -1;
    this.#textStart = textStart;
    this.#textEnd = textEnd;
    this.characters += countCharacters(events, textStart, textEnd);
    return close + CLOSE.length;
  }

  /** What follows the client's head for the event that was matched last. */
  #clientForm(events: string, end: number): string {
    if (this.#hide) return "";
    if (this.#clientTwin === undefined) return events.slice(this.#textStart, end);
    const text = events.slice(this.#textStart, this.#textEnd);
    return text + this.#clientTwin + text + events.slice(this.#textEnd, end);
  }
}

/** Whether these bytes stand at that place. */
function holds(bytes: Uint8Array, at: number, wanted: Uint8Array): boolean {
  if (at < 0 || at + wanted.length > bytes.length) return false;
  for (let index = 0; index < wanted.length; index++) if (bytes[at + index] !== wanted[index]) return false;
  return true;
}

/** Nothing, or the random padding that some hosts add, and nothing behind it. */
function isPadding(bytes: Uint8Array, from: number, to: number): boolean {
  if (from === to) return true;
  if (!holds(bytes, from, PADDING_BYTES) || bytes[to - 1] !== QUOTE) return false;
  for (let at = from + PADDING_BYTES.length; at < to - 1; at++) {
    if (bytes[at] === QUOTE || bytes[at] === BACKSLASH) return false;
  }
  return to - 1 >= from + PADDING_BYTES.length;
}
