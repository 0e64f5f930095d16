import { ByteBuffer } from "../base/byte-buffer.ts";
import { isBrokenText } from "./is-broken-text.ts";

/**
 * The binary frames of `application/vnd.amazon.eventstream`, in big-endian order: total length, length of the headers, CRC-32 of
 * these two, headers, payload, CRC-32 of everything before it.
 */
const PRELUDE_BYTES = 12;
const CHECKSUM_BYTES = 4;
const MIN_BYTES = PRELUDE_BYTES + CHECKSUM_BYTES;
/** The protocol's limits. A frame that claims to be larger is rejected without waiting for it. */
const MAX_BYTES = 24 * 1024 * 1024;
const MAX_HEADER_BYTES = 128 * 1024;

/** Bytes of the value by the header's type; `undefined` if a length of two bytes precedes it. */
const VALUE_BYTES: readonly (number | undefined)[] = [0, 0, 1, 2, 4, 8, undefined, undefined, 8, 16];
const STRING_TYPE = 7;

const EVENT_NAME = /^[\w.-]+$/;
/** Replaces a run at once: replacing millions of line ends one by one would take a second (S18). */
const LINE_ENDS = /[\r\n]+/g;

export class BrokenFrameError extends Error {
  constructor(why: string) {
    super(`invalid event stream frame: ${why}`);
    this.name = "BrokenFrameError";
  }
}

const decoder = new TextDecoder("utf-8");

/**
 * Cuts a byte stream into frames and returns each as the text of a server-sent event, so that readers of events can read them. It
 * has the same methods as `EventSplitter`.
 */
export class AwsEventSplitter {
  readonly #limit: number;
  /** No frame exceeds its limit, so the buffered bytes do not either, except for the last chunk. */
  readonly #rest = new ByteBuffer();

  constructor(limit = MAX_BYTES) {
    this.#limit = Math.min(limit, MAX_BYTES);
  }

  /** Bytes of a frame that has not arrived completely. */
  get waiting(): number {
    return this.#rest.length;
  }

  /** The text of every frame that is complete; empty if none is. Throws if a frame is corrupt. */
  push(bytes: Uint8Array): string {
    this.#rest.putBytes(bytes);
    const waiting = this.#rest.view();
    let text = "";
    let at = 0;
    for (;;) {
      const size = frameSize(waiting.subarray(at), this.#limit);
      if (size === undefined || at + size > waiting.length) break;
      text += renderFrame(waiting.subarray(at, at + size));
      at += size;
    }
    this.#rest.drop(at);
    return text;
  }

  /** Returns the same as bytes. */
  pushBytes(bytes: Uint8Array): Uint8Array {
    return Buffer.from(this.push(bytes));
  }

  /** Returns an event that reports a stream that ended inside a frame; empty if it ended between two. */
  end(): string {
    const left = this.#rest.length;
    this.#rest.clear();
    return left === 0 ? "" : renderException("unexpectedEnd", `The stream ended inside a frame, after ${left} bytes.`);
  }
}

const viewOf = (bytes: Uint8Array): DataView => new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);

/** The length of the frame that begins here; undefined until its prelude has arrived. */
function frameSize(bytes: Uint8Array, limit: number): number | undefined {
  if (bytes.length < PRELUDE_BYTES) return undefined;
  const view = viewOf(bytes);
  const total = view.getUint32(0);
  const headers = view.getUint32(4);
  if (view.getUint32(8) !== Bun.hash.crc32(bytes.subarray(0, 8)))
    throw new BrokenFrameError("its prelude checksum is wrong");
  if (total < MIN_BYTES || total > limit) throw new BrokenFrameError(`it has an invalid length of ${total} bytes`);
  if (headers > MAX_HEADER_BYTES || headers > total - MIN_BYTES) {
    throw new BrokenFrameError(`it has an invalid header length of ${headers} bytes`);
  }
  return total;
}

function renderFrame(frame: Uint8Array): string {
  const view = viewOf(frame);
  const end = frame.length - CHECKSUM_BYTES;
  if (view.getUint32(end) !== Bun.hash.crc32(frame.subarray(0, end)))
    throw new BrokenFrameError("its checksum is wrong");
  const payloadAt = PRELUDE_BYTES + view.getUint32(4);
  const headers = readHeaders(frame.subarray(PRELUDE_BYTES, payloadAt));
  const bytes = frame.subarray(payloadAt, end);
  if (isBrokenText(bytes)) throw new BrokenFrameError("its payload is not UTF-8");
  const payload = decoder.decode(bytes);
  const kind = headers.get(":message-type");
  if (kind === "exception") {
    return renderException(headers.get(":exception-type") ?? "exception", messageIn(payload) ?? payload);
  }
  if (kind === "error")
    return renderException(headers.get(":error-code") ?? "error", headers.get(":error-message") ?? "");
  const name = headers.get(":event-type") ?? "";
  return name === "chunk" ? renderChunk(payload) : renderEvent(name, payload);
}

function readHeaders(bytes: Uint8Array): Map<string, string> {
  const headers = new Map<string, string>();
  const view = viewOf(bytes);
  const broken = () => new BrokenFrameError("its headers do not match their length");
  for (let at = 0; at < bytes.length; ) {
    const nameEnd = at + 1 + (bytes[at] ?? 0);
    const type = bytes[nameEnd];
    if (type === undefined || !(type in VALUE_BYTES)) throw broken();
    const fixed = VALUE_BYTES[type];
    const valueAt = nameEnd + (fixed === undefined ? 3 : 1);
    if (valueAt > bytes.length) throw broken();
    const valueEnd = valueAt + (fixed ?? view.getUint16(nameEnd + 1));
    if (valueEnd > bytes.length) throw broken();
    if (type === STRING_TYPE) {
      headers.set(decoder.decode(bytes.subarray(at + 1, nameEnd)), decoder.decode(bytes.subarray(valueAt, valueEnd)));
    }
    at = valueEnd;
  }
  return headers;
}

/**
 * A model's event inside the host's event: JSON in base64. Its name is its `type` or, for models that wrap each event in a
 * member, the name of that member. The host may add its metrics after it.
 */
function renderChunk(payload: string): string {
  const encoded = memberOf(parse(payload), "bytes");
  if (typeof encoded !== "string") throw new BrokenFrameError("its payload has no bytes field");
  const bytes = Buffer.from(encoded, "base64");
  if (isBrokenText(bytes)) throw new BrokenFrameError("its event is not UTF-8");
  const inner = bytes.toString("utf8");
  const event = parse(inner);
  const type = memberOf(event, "type");
  if (typeof type === "string") return renderEvent(type, inner);
  const [name] = Object.keys(event ?? {});
  if (name === undefined) throw new BrokenFrameError("its event has no name");
  return renderEvent(name, JSON.stringify(memberOf(event, name)));
}

const renderException = (type: string, message: string): string =>
  renderEvent("exception", JSON.stringify({ type, message }));

/** JSON strings contain no bare line ends, so those between tokens can become spaces. */
function renderEvent(name: string, json: string): string {
  if (!EVENT_NAME.test(name)) throw new BrokenFrameError("it has no valid event name");
  return `event: ${name}\ndata: ${json === "" ? "{}" : json.replaceAll(LINE_ENDS, " ")}\n\n`;
}

function messageIn(payload: string): string | undefined {
  const body = parse(payload);
  const message = memberOf(body, "message") ?? memberOf(body, "Message");
  return typeof message === "string" ? message : undefined;
}

function parse(text: string): object | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? value : undefined;
  } catch {
    // Content that is not JSON is reported by the code that needs JSON.
    return undefined;
  }
}

const memberOf = (value: object | undefined, key: string): unknown =>
  (value as Record<string, unknown> | undefined)?.[key];
