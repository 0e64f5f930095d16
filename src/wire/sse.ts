import { ByteBuffer } from "../base/byte-buffer.ts";

/**
 * Server-sent events as bytes. Only CR, LF and CRLF end a line: U+2028, U+2029 and U+0085 are text (H07). Events are decoded once
 * they are complete, so a cut inside a UTF-8 character does no harm.
 */
const LF = 0x0a;
const CR = 0x0d;
const NOTHING = new Uint8Array(0);

/** No host sends events of more than a few lines. Reading millions takes long and a hundred times their memory (S18). */
const MAX_LINES = 10_000;

export class EventTooLargeError extends Error {
  constructor(limit: number, unit = "bytes") {
    super(`an event of more than ${limit} ${unit}`);
    this.name = "EventTooLargeError";
  }
}

/** The offset after the last blank line of `bytes`, or 0. No event ends before `from`. */
function lastEventEnd(bytes: Uint8Array, length: number, from: number): number {
  for (let at = length - 1; at > from; at--) {
    const code = bytes[at];
    if (code === LF) {
      const before = bytes[at - 1];
      if (before === LF || (before === CR && bytes[at - 2] === LF)) return at + 1;
    } else if (code === CR && bytes[at - 1] === CR) return at + 1;
  }
  return 0;
}

/** Where the event at `at` ends, if lines end in LF or CRLF: after its blank line, or at the end of the bytes. */
export function endOfEvent(events: Uint8Array, at: number): number {
  let lines = 0;
  for (let end = events.indexOf(LF, at); end >= 0; end = events.indexOf(LF, end + 1)) {
    if (events[end + 1] === LF) return end + 2;
    if (events[end + 1] === CR && events[end + 2] === LF) return end + 3;
    if (++lines > MAX_LINES) throw new EventTooLargeError(MAX_LINES, "lines");
  }
  return events.length;
}

/** The first end of an event at or after `from`, whatever its line ends. */
export function nextEventEnd(events: Uint8Array, from: number): number {
  for (let at = Math.max(from - 1, 1); at < events.length; at++) {
    const code = events[at];
    if (code === LF) {
      const before = events[at - 1];
      if (before === LF || (before === CR && events[at - 2] === LF)) return at + 1;
    } else if (code === CR && events[at - 1] === CR) return at + 1;
  }
  return events.length;
}

const decoder = new TextDecoder("utf-8");

/** Cuts a byte stream after complete events. Their text is unchanged; the unfinished rest is buffered. */
export class EventSplitter {
  readonly #limit: number;
  readonly #rest = new ByteBuffer();
  /** A byte order mark may precede the first event and is not part of it. */
  #begun = false;

  constructor(limit = 32 * 1024 * 1024) {
    this.#limit = limit;
  }

  /** Bytes of an event that has not arrived completely. */
  get waiting(): number {
    return this.#rest.length;
  }

  /** The text of every event that is complete; empty if none is. */
  push(bytes: Uint8Array): string {
    const events = this.pushBytes(bytes);
    return events.length === 0 ? "" : decoder.decode(events);
  }

  /** Returns the same as bytes. */
  pushBytes(bytes: Uint8Array): Uint8Array {
    const events = this.#cut(bytes);
    if (this.#begun || events.length === 0) return events;
    this.#begun = true;
    return events[0] === 0xef && events[1] === 0xbb && events[2] === 0xbf ? events.subarray(3) : events;
  }

  #cut(bytes: Uint8Array): Uint8Array {
    const rest = this.#rest;
    if (rest.length === 0) {
      const end = lastEventEnd(bytes, bytes.length, 0);
      if (end === bytes.length) return bytes;
      this.#keep(bytes.subarray(end));
      return bytes.subarray(0, end);
    }
    const searched = rest.length;
    this.#keep(bytes);
    const end = lastEventEnd(rest.bytes, rest.length, Math.max(0, searched - 3));
    if (end === 0) return NOTHING;
    const events = Buffer.from(rest.bytes.subarray(0, end));
    rest.drop(end);
    return events;
  }

  /** The text that was left without its blank line when the stream ended. */
  end(): string {
    const text = decoder.decode(this.#rest.view());
    this.#rest.clear();
    return text;
  }

  #keep(bytes: Uint8Array): void {
    if (this.#rest.length + bytes.length > this.#limit) throw new EventTooLargeError(this.#limit);
    this.#rest.putBytes(bytes);
  }
}

/** One event: its raw text and its fields. `data` is undefined for a comment or a bare blank line. */
export interface SseFrame {
  raw: string;
  event: string | undefined;
  data: string | undefined;
}

/** The events in a text of complete events, in order. */
export function readFrames(text: string): SseFrame[] {
  const frames: SseFrame[] = [];
  takeFrames(text, (frame) => frames.push(frame) > 0);
  return frames;
}

/**
 * The same one by one, as long as `take` returns true, so that events before one that is too large can be read. A generator would
 * take twice as long for an event of one line.
 */
export function takeFrames(text: string, take: (frame: SseFrame) => boolean): void {
  if (!text.includes("\r")) {
    for (let at = 0; at < text.length; ) {
      const blank = text.indexOf("\n\n", at);
      const end = blank < 0 ? text.length : blank + 2;
      if (!take(readPlainFrame(text.slice(at, end)))) return;
      at = end;
    }
    return;
  }
  const boundary = /\r\n(?:\r\n|\n|\r)|\n(?:\r\n|\n|\r)|\r(?:\r\n|\r)/g;
  let at = 0;
  for (let match = boundary.exec(text); match; match = boundary.exec(text)) {
    if (!take(readFrame(text.slice(at, boundary.lastIndex)))) return;
    at = boundary.lastIndex;
  }
  if (at < text.length) take(readFrame(text.slice(at)));
}

const DATA = "data: ";
const BLANK = "\n\n";
const SPACE = 0x20;

/** Nearly every event is one line of data. */
function readPlainFrame(raw: string): SseFrame {
  if (raw === BLANK) return { raw, event: undefined, data: undefined };
  if (!raw.startsWith(DATA) || raw.indexOf("\n") !== raw.length - 2) return readFrame(raw);
  return { raw, event: undefined, data: raw.slice(DATA.length, -2) };
}

function readFrame(raw: string): SseFrame {
  let event: string | undefined;
  let data: string | undefined;
  let lines = 0;
  // Each is searched again only after it was passed, so text with uniform line ends is searched once for the other kind.
  let lf = raw.indexOf("\n");
  let cr = raw.indexOf("\r");
  for (let at = 0; at < raw.length; ) {
    const found = cr < 0 || (lf >= 0 && lf < cr) ? lf : cr;
    const end = found < 0 ? raw.length : found;
    if (raw.startsWith("data:", at)) {
      const value = raw.slice(raw.charCodeAt(at + 5) === SPACE ? at + 6 : at + 5, end);
      data = data === undefined ? value : `${data}\n${value}`;
    } else if (raw.startsWith("event:", at)) event = raw.slice(raw.charCodeAt(at + 6) === SPACE ? at + 7 : at + 6, end);
    if (found >= 0 && ++lines > MAX_LINES) throw new EventTooLargeError(MAX_LINES, "lines");
    at = end === cr && lf === cr + 1 ? end + 2 : end + 1;
    if (lf >= 0 && lf < at) lf = raw.indexOf("\n", at);
    if (cr >= 0 && cr < at) cr = raw.indexOf("\r", at);
  }
  return { raw, event, data };
}
