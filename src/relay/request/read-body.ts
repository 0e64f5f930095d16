import { isObject, type JsonObject } from "../../base/json.ts";
import { GatewayError } from "../../canon/error.ts";
import { pathTo } from "../../dialects/reading/explain-mismatch.ts";
import type { ObjectFields } from "../../dialects/reading/object-fields.ts";
import type { ReceivedRequest } from "../../dialects/received-request.ts";
import { boundOf } from "../../wire/json-values.ts";
import { outlineJson, type TextPlaces } from "../../wire/long-texts.ts";
import { inspectJson, type RepeatedKey } from "../../wire/repeated-keys.ts";
import { NOT_WATCHED, type Watched } from "../attempt/watchdog.ts";
import { ClientDisconnectedError } from "../call.ts";
import { type Gateway, shuttingDown } from "../gateway.ts";
import type { CallTimer } from "../settle/call-timer.ts";
import type { Timings } from "../settle/timings.ts";
import type { HeldMemory, MemoryOwner } from "./memory-budget.ts";
import { outlinedRequest } from "./outlined-request.ts";

/** Up to this size a body is read only as text. A larger one also keeps its bytes, to be edited in place. */
const SMALL = 32 * 1024;
/** Up to this size a body is read in one piece, which is several times cheaper than walking over its parts. */
const READ_AT_ONCE = 1024 * 1024;

/** A longer body is mostly images and documents, which are not worth an outline. */
const MAX_OUTLINED = 1024 * 1024;

/** Ten for each of the most messages that a request may have (contract 8). */
const MAX_VALUES = 1_000_000;
/** A single object with more is parsed in one step that holds up all other calls. */
const MAX_OBJECT_KEYS = 50_000;

const REPLACEMENT = "\uFFFD";
const ESCAPE = "\\u";
const ESCAPE_BYTES = Buffer.from(ESCAPE);

const decoder = new TextDecoder("utf-8", { fatal: true });

type BodyReader = Pick<Gateway, "watchdog" | "timings" | "closing"> & { readonly snapshot: KeyBound };

/** How many keys a JSON text may have. */
type KeyBound = Pick<Gateway["snapshot"], "maxJsonKeys">;

/** The limits of a body: at most `maxBytes`, and what is left of the gateway's memory. */
interface BodyBounds {
  maxBytes: number;
  memory: HeldMemory;
  /** Where requests of this protocol can name objects. */
  objects?: ObjectFields | undefined;
  /** Where the texts of a large body are, if it is worth an outline. */
  textPlaces?: (bytes: Buffer) => TextPlaces | undefined;
  /** Records the time spent waiting for the body. */
  timer?: CallTimer;
}

/** The body was not read completely, so the connection cannot be reused. */
export class UnreadBodyError extends GatewayError {}

/** Reads, bounds and parses a JSON body; every failure is an error that the caller can act on. */
export function readBody(request: Request, bounds: BodyBounds, gateway: BodyReader): Promise<ReceivedRequest> {
  const type = request.headers.get("content-type") ?? "";
  if (type !== "application/json" && !/^application\/([\w.-]+\+)?json\b/i.test(type)) {
    const found = type === "" ? "none was sent" : `it is ${type.slice(0, 80)}`;
    throw new GatewayError("unsupported_media_type", `The Content-Type must be application/json; ${found}.`);
  }
  const declared = declaredBytes(request, bounds.maxBytes);
  if (declared <= SMALL) {
    bounds.memory.add(declared);
    bounds.timer?.to("client");
    const names = bounds.objects?.names;
    return wholeInTime(
      request,
      request.text(),
      declared,
      gateway,
      (text) => readSmall(text, declared, gateway.snapshot, names),
      bounds.timer,
    );
  }
  return readLarge(request, bounds, gateway);
}

function readSmall(text: string, declared: number, bound: KeyBound, names?: ReadonlySet<string>): ReceivedRequest {
  // The runtime replaces invalid UTF-8 with this character, which changes the length.
  if (text.includes(REPLACEMENT) && Buffer.byteLength(text) !== declared) throw notUtf8();
  const { body, levels, mayNameObjects } = parse(text, bound, names);
  return {
    text,
    body,
    levels,
    mayNameObjects,
    surplusBytes: text.includes(ESCAPE) ? undefined : declared - text.length,
  };
}

async function readLarge(request: Request, bounds: BodyBounds, gateway: BodyReader): Promise<ReceivedRequest> {
  bounds.timer?.to("client");
  const bytes = await readBytes(request, bounds, gateway);
  bounds.timer?.to("gateway");
  const outlined = bytes.length > MAX_OUTLINED ? undefined : readOutline(bytes, bounds, gateway.snapshot);
  if (outlined !== undefined) return outlined;
  // Now, while the bytes are in the CPU caches: later it takes several times as long.
  const hasEscapes = bytes.includes(ESCAPE_BYTES);
  let text: string;
  try {
    text = decoder.decode(bytes);
  } catch (cause) {
    throw notUtf8(cause);
  }
  const { body, levels, mayNameObjects } = parse(text, gateway.snapshot, bounds.objects?.names);
  const surplusBytes = hasEscapes ? undefined : bytes.length - text.length;
  return fromBytes(bytes, { characters: text.length, surplusBytes, body, levels, mayNameObjects });
}

/** Undefined for every body that is wrong in some way. Reading it as a whole finds out in which. */
function readOutline(bytes: Buffer, bounds: BodyBounds, bound: KeyBound): ReceivedRequest | undefined {
  const { textPlaces, objects } = bounds;
  const places = textPlaces?.(bytes);
  if (places === undefined) return undefined;
  try {
    const outline = outlineJson(bytes);
    if (outline === undefined) return undefined;
    const { texts } = outline;
    const { body, levels, mayNameObjects } = parse(outline.text, bound, objects?.names);
    texts.restore(body, places);
    return outlinedRequest(bytes, { outline: { body, texts }, levels, mayNameObjects });
  } catch {
    return undefined;
  }
}

/**
 * Non-ASCII text takes twice the memory of its bytes. It is not held while a provider is called, but decoded again for the few
 * requests that need it: those with complex edits, and captured ones.
 */
const fromBytes = (bytes: Buffer, read: Omit<ReceivedRequest, "bytes" | "text">): ReceivedRequest => ({
  get text() {
    return decoder.decode(bytes);
  },
  bytes,
  ...read,
});

/** Reads a body and releases its memory. */
export async function readSmallBody(
  request: Request,
  maxBytes: number,
  owner: MemoryOwner,
  gateway: BodyReader & Pick<Gateway, "memory">,
): Promise<JsonObject> {
  const memory = gateway.memory.open(owner);
  try {
    return (await readBody(request, { maxBytes, memory }, gateway)).body;
  } finally {
    memory.release();
  }
}

/** Reads and bounds a body of any type. */
export async function readBytes(request: Request, bounds: BodyBounds, gateway: BodyReader): Promise<Buffer> {
  const declared = declaredBytes(request, bounds.maxBytes);
  if (Number.isNaN(declared)) return inTime((heard) => readParts(request, bounds, heard), gateway);
  // All at once, so that a body that has begun to arrive fits to its end.
  bounds.memory.add(declared);
  if (declared <= READ_AT_ONCE) return wholeInTime(request, request.arrayBuffer(), declared, gateway, bufferOf);
  return inTime((heard) => readInPlace(request, declared, heard), gateway);
}

const bufferOf = (bytes: ArrayBuffer): Buffer => Buffer.from(bytes);

/** NaN where no length is declared. */
function declaredBytes(request: Request, maxBytes: number): number {
  const declared = Number(request.headers.get("content-length") ?? Number.NaN);
  if (declared > maxBytes) throw tooLarge(maxBytes);
  return declared;
}

const notUtf8 = (cause?: unknown) => new GatewayError("invalid_request", "The body is not valid UTF-8.", { cause });

/** Throws for a text that would take far more memory to parse than it has bytes. */
export function refuseManyValues(text: string, { maxJsonKeys: keys }: KeyBound): void {
  const objectKeys = Math.min(keys, MAX_OBJECT_KEYS);
  const bound = boundOf(text, { values: MAX_VALUES, keys, objectKeys });
  if (bound === undefined) return;
  const more = {
    values: `more than ${MAX_VALUES} JSON values, which is the limit`,
    keys: `more than ${keys} keys, which is the limit (server.max_json_keys)`,
    objectKeys: `an object with more than ${objectKeys} keys, which is the limit. Use an array`,
  };
  throw new GatewayError("too_large", `The body contains ${more[bound]}.`);
}

function parse(
  text: string,
  bound: KeyBound,
  names?: ReadonlySet<string>,
): Required<Pick<ReceivedRequest, "body" | "levels" | "mayNameObjects">> {
  refuseManyValues(text, bound);
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch (cause) {
    const why = cause instanceof Error ? cause.message.replace(/^JSON Parse error: /, "") : "";
    throw new GatewayError("invalid_request", `The body is not valid JSON: ${why || "it cannot be parsed"}.`, {
      cause,
    });
  }
  if (!isObject(body)) throw new GatewayError("invalid_request", "The body must be a JSON object.");
  const { repeated, levels, holds } = inspectJson(text, body, names);
  if (repeated !== undefined) throw duplicateField(repeated);
  return { body, levels, mayNameObjects: holds };
}

/** Throws for valid JSON with a repeated key, which two readers could interpret differently (S15). */
export function refuseRepeatedKeys(text: string): void {
  const { repeated } = inspectJson(text, JSON.parse(text));
  if (repeated !== undefined) throw duplicateField(repeated);
}

/** Readers of the first and of the last value would see different requests (S15). */
function duplicateField({ key, path }: RepeatedKey): GatewayError {
  const steps = [...path.slice(0, MAX_STEPS_SHOWN), ...(path.length > MAX_STEPS_SHOWN ? [] : [key])];
  const place = steps
    .reduce<string>((shown, step) => (typeof step === "number" ? `${shown}[${step}]` : pathTo(shown, step)), "")
    .slice(0, 400);
  return new GatewayError("invalid_request", `Duplicate field ${place}.`, {
    path: place,
  });
}

const MAX_STEPS_SHOWN = 20;

/** Receives the number of bytes that arrived. Returns whether more are wanted. */
type Heard = (bytes: number) => boolean;

/**
 * Reads a body of known length as a whole. It may take as long as the slowest allowed rate needs; then the call is given up. The
 * runtime closes a connection that sends a second request before the first is answered. If both arrive in one packet, it does so
 * right after this body, and no provider must be called for a client that is gone (decision 0090).
 */
function wholeInTime<T, Result>(
  { signal }: Request,
  reading: Promise<T>,
  bytes: number,
  gateway: BodyReader,
  read: (body: T, bytes: number) => Result,
  timer?: CallTimer,
): Promise<Result> {
  const { promise, resolve, reject } = Promise.withResolvers<Result>();
  const wait = new BodyWait(gateway, bytes, reject);
  reading.then(
    (body) => {
      wait.end();
      timer?.to("gateway");
      gateway.watchdog.atEndOfTurn(() => {
        try {
          if (signal.aborted) throw new ClientDisconnectedError();
          resolve(read(body, bytes));
        } catch (error) {
          reject(error);
        }
      });
    },
    (error: unknown) => wait.giveUp(brokenBody(error)),
  );
  return promise;
}

class BodyWait implements Watched {
  watchIndex = NOT_WATCHED;
  readonly #gateway: BodyReader;
  readonly #bytes: number;
  readonly #reject: (why: GatewayError) => void;
  #deadlineMs: number | undefined;

  constructor(gateway: BodyReader, bytes: number, reject: (why: GatewayError) => void) {
    this.#gateway = gateway;
    this.#bytes = bytes;
    this.#reject = reject;
    gateway.watchdog.watch(this);
  }

  check(nowMs: number): void {
    const { closing, timings } = this.#gateway;
    this.#deadlineMs ??= nowMs + timings.bodyStallMs + (this.#bytes / timings.bodyBytesPerSecond) * 1000;
    if (closing) this.giveUp(shuttingDown());
    else if (nowMs > this.#deadlineMs) {
      const message = `The body stopped arriving before it was complete, or arrived more slowly than ${rateOf(timings)}.`;
      this.giveUp(new UnreadBodyError("invalid_request", message));
    }
  }

  giveUp(why: GatewayError): void {
    this.end();
    this.#reject(why);
  }

  end(): void {
    this.#gateway.watchdog.unwatch(this);
  }
}

const brokenBody = (cause: unknown): GatewayError =>
  cause instanceof GatewayError
    ? cause
    : new UnreadBodyError("invalid_request", "The connection closed before the body was complete.", { cause });

/** Returns the result of `read`, unless the body stops arriving or arrives too slowly. */
async function inTime<T>(read: (heard: Heard) => Promise<T>, gateway: BodyReader): Promise<T> {
  const { watchdog, timings } = gateway;
  const { bodyBytesPerSecond, bodyStallMs } = timings;
  const { promise, resolve, reject } = Promise.withResolvers<T>();
  let startedMs: number | undefined;
  let deadlineMs: number | undefined;
  let received = 0;
  let wanted = true;
  const giveUp = (why: GatewayError): void => {
    wanted = false;
    reject(why);
  };
  const watched: Watched = {
    watchIndex: NOT_WATCHED,
    check: (now) => {
      startedMs ??= now;
      deadlineMs ??= now + bodyStallMs;
      if (gateway.closing) giveUp(shuttingDown());
      else if (now > deadlineMs)
        giveUp(new UnreadBodyError("invalid_request", "The body stopped arriving before it was complete."));
      else if (now - startedMs > bodyStallMs + (received / bodyBytesPerSecond) * 1000)
        giveUp(new UnreadBodyError("invalid_request", `The body arrived more slowly than ${rateOf(timings)}.`));
    },
  };
  watchdog.watch(watched);
  read((bytes) => {
    deadlineMs = undefined;
    received += bytes;
    return wanted;
  }).then(resolve, reject);
  try {
    return await promise;
  } catch (error) {
    throw brokenBody(error);
  } finally {
    watchdog.unwatch(watched);
  }
}

/** Passes a body on while it arrives, within the same limits of time, and at most `maxBytes` of it. */
export function readArriving<Result>(
  request: Request,
  maxBytes: number,
  use: (body: AsyncIterable<Uint8Array>, declared: number) => Promise<Result>,
  gateway: BodyReader,
): Promise<Result> {
  const declared = declaredBytes(request, maxBytes);
  return inTime((heard) => use(arriving(request, maxBytes, heard), declared), gateway);
}

/**
 * Reads a body that nothing is made of, within the same limits of time, and at most `maxBytes` of it. Many clients read no response
 * before they have sent their body: if the connection closes meanwhile, they report that and not the error. Returns whether it has ended.
 */
export async function discardBody(request: Request, maxBytes: number, gateway: BodyReader): Promise<boolean> {
  const toEnd = async (body: AsyncIterable<Uint8Array>): Promise<void> => {
    for await (const _part of body);
  };
  try {
    await readArriving(request, maxBytes, toEnd, gateway);
    return true;
  } catch {
    return false;
  }
}

async function* arriving(request: Request, maxBytes: number, heard: Heard): AsyncGenerator<Uint8Array, void, void> {
  let size = 0;
  for await (const part of request.body ?? []) {
    // The caller has its error already; this one ends the reader.
    if (!heard(part.length)) throw new UnreadBodyError("invalid_request", "The body is no longer read.");
    size += part.length;
    if (size > maxBytes) throw tooLarge(maxBytes);
    yield part;
  }
}

const rateOf = ({ bodyBytesPerSecond }: Timings) => `${Math.round(bodyBytesPerSecond / 1024)} KB per second`;

/** A large body with a declared length: each chunk is copied to its position as it arrives, so that the body is never held twice. */
async function readInPlace(request: Request, declared: number, heard: Heard): Promise<Buffer> {
  const body = Buffer.allocUnsafeSlow(declared);
  let size = 0;
  for await (const part of request.body ?? []) {
    if (!heard(part.length)) break;
    body.set(part, size);
    size += part.length;
  }
  return body.subarray(0, size);
}

/** A body of unknown length: counted while it is read, and given up only when it stops arriving. */
async function readParts(request: Request, { maxBytes, memory }: BodyBounds, heard: Heard): Promise<Buffer> {
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const part of request.body ?? []) {
    if (!heard(part.length)) break;
    size += part.length;
    if (size > maxBytes) throw tooLarge(maxBytes);
    memory.add(part.length);
    parts.push(part);
  }
  return Buffer.concat(parts, size);
}

const tooLarge = (maxBytes: number) =>
  new UnreadBodyError(
    "too_large",
    `The body is larger than the limit of ${Number((maxBytes / 1048576).toFixed(2))} MB.`,
  );
