import { isObject, type JsonObject, objectAt } from "../../canon/json.ts";
import { findValue } from "../../wire/json-text.ts";

/** The members of a delta that carry generated text and nothing else. */
const TEXT_KEYS = ["content", "reasoning_content", "reasoning"] as const;
const TWIN: Readonly<Record<string, string>> = { reasoning: "reasoning_content", reasoning_content: "reasoning" };
const PADDING_TEXT = ',"obfuscation":"';
const PADDING = Buffer.from(PADDING_TEXT);
const CLOSE = Buffer.from("}\n\n");
const NOTHING = new Uint8Array(0);
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
  readonly #head: Uint8Array;
  /** From the quote that closes the text to the end, but for the random padding that some hosts add. */
  readonly #tail: Uint8Array;
  readonly #clientHead: Uint8Array;
  /** Between the text and its repetition under the field's other name; undefined where there is none. */
  readonly #clientTwin: Uint8Array | undefined;
  readonly #hide: boolean;
  #one: Uint8Array | undefined;
  /** Set by a successful `renderRun`: where the last event ends, and how much text they carried. */
  end = 0;
  characters = 0;
  /** Set by a successful `#match`: where the event's text ends. */
  #textEnd = 0;

  private constructor(head: string, tail: string, clientHead: string, clientTwin: string | undefined, hide: boolean) {
    this.#head = Buffer.from(head);
    this.#tail = Buffer.from(tail);
    this.#clientHead = Buffer.from(clientHead);
    this.#clientTwin = clientTwin === undefined ? undefined : Buffer.from(clientTwin);
    this.#hide = hide;
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
    const padding = after.indexOf(PADDING_TEXT);
    const tail = padding < 0 ? after.slice(0, -1) : after.slice(0, padding);
    const clientStart = `data: ${data.slice(0, model.start)}${JSON.stringify(publicModel)}${data.slice(model.end, text.start + 1)}`;
    const twin = TWIN[key];
    const clientTwin = twin === undefined || twin in delta ? undefined : `","${twin}":"`;
    const hide = hideReasoning && key !== "content";
    return new ChunkTemplate(raw.slice(0, lead + text.start + 1), tail, clientStart, clientTwin, hide);
  }

  /**
   * The client's form of a piece that is one event, which most are: nothing is allocated but a view, and what it gives holds
   * until the next call. Undefined for anything else, a longer piece or another form of answer too.
   */
  renderOne(event: Uint8Array): Uint8Array | undefined {
    const { length } = event;
    if (this.#hide || this.#clientTwin !== undefined || length > MAX_ONE) return undefined;
    this.characters = 0;
    if (this.#match(event, 0) !== length) return undefined;
    const head = this.#head.length;
    const lead = this.#clientHead.length;
    this.#one ??= this.#roomForOne();
    this.#one.set(event.subarray(head), lead);
    return this.#one.subarray(0, lead + length - head);
  }

  /** With the client's head in its place already. */
  #roomForOne(): Uint8Array {
    const bytes = Buffer.alloc(this.#clientHead.length + MAX_ONE);
    bytes.set(this.#clientHead);
    return bytes;
  }

  /**
   * The client's form of a run of events, of as many from `at` on as are alike, in bytes of their own. Undefined where the
   * first is not one of these.
   */
  renderRun(events: Uint8Array, at: number): Uint8Array | undefined {
    this.characters = 0;
    let end = this.#match(events, at);
    if (end < 0) return undefined;
    const room = this.#hide ? NOTHING : Buffer.allocUnsafe(this.#mostBytes(events.length - at));
    let written = 0;
    let from = at;
    for (; end >= 0; end = this.#match(events, from)) {
      if (!this.#hide) written = this.#write(room, written, events, from, end);
      from = end;
    }
    this.end = from;
    return room.subarray(0, written);
  }

  /** How long the client's form of so many bytes can be. */
  #mostBytes(length: number): number {
    const shortest = this.#head.length + this.#tail.length + CLOSE.length;
    const { length: twin } = this.#clientTwin ?? NOTHING;
    const texts = this.#clientTwin === undefined ? length : 2 * length;
    return texts + Math.ceil(length / shortest) * (this.#clientHead.length + twin);
  }

  /** Writes the event that was matched last; gives where it ends. */
  #write(room: Uint8Array, at: number, events: Uint8Array, from: number, end: number): number {
    const textStart = from + this.#head.length;
    let place = at;
    const put = (bytes: Uint8Array) => {
      room.set(bytes, place);
      place += bytes.length;
    };
    put(this.#clientHead);
    if (this.#clientTwin !== undefined) {
      put(events.subarray(textStart, this.#textEnd));
      put(this.#clientTwin);
    }
    put(events.subarray(textStart, end));
    return place;
  }

  /** Where the event at `at` ends, or -1 where it is not one of these. */
  #match(events: Uint8Array, at: number): number {
    const head = this.#head;
    if (!holds(events, at, head)) return -1;
    const { length } = events;
    let end = at + head.length;
    let characters = 0;
    for (; end < length; end++) {
      const byte = events[end] ?? 0;
      if (byte === QUOTE) break;
      if ((byte & 0xc0) !== 0x80) characters++;
      if (byte !== BACKSLASH) continue;
      end++;
      characters++;
    }
    if (!holds(events, end, this.#tail)) return -1;
    this.#textEnd = end;
    end += this.#tail.length;
    if (holds(events, end, PADDING)) {
      end += PADDING.length;
      while (end < length && events[end] !== QUOTE && events[end] !== BACKSLASH) end++;
      if (events[end] !== QUOTE) return -1;
      end++;
    }
    if (!holds(events, end, CLOSE)) return -1;
    this.characters += characters;
    return end + CLOSE.length;
  }
}

/** Whether these bytes stand at that place. */
function holds(bytes: Uint8Array, at: number, wanted: Uint8Array): boolean {
  if (at < 0 || at + wanted.length > bytes.length) return false;
  for (let index = 0; index < wanted.length; index++) if (bytes[at + index] !== wanted[index]) return false;
  return true;
}
