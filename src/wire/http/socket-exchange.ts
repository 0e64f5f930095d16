import { ChunkedBody } from "./chunked-body.ts";
import type { Connection, ConnectionUser } from "./connection.ts";
import { decompressResponse } from "./decompress-response.ts";
import { HttpFailure, malformed } from "./failure.ts";
import type { ChunkTaker, HttpAnswer, HttpExchange, HttpHeaders, HttpRequest, StreamedBody } from "./http-exchange.ts";
import type { ConnectionPool } from "./pool.ts";
import { requestHead } from "./request-head.ts";
import type { RequestUrl } from "./request-url.ts";
import { type ResponseHead, readResponseHead } from "./response-head.ts";

const MAX_HEAD_BYTES = 64 * 1024;
/** Interim responses before the final one. Hosts that report progress send a few. */
const MAX_INTERIM = 1000;
/** How many unread bytes are buffered before the host is paused. */
const MAX_UNREAD_BYTES = 256 * 1024;
const NOTHING = new Uint8Array(0);
const NO_HEADERS: HttpHeaders = new Map();
/**
 * Holds small reads for takers that do not keep them. The content of a read is a slice of it, and slices of new memory are slow.
 */
const SHARED = Buffer.allocUnsafeSlow(4 * 1024);
const HEAD_END = "\r\n\r\n";

const tooMany = () => malformed("it contains more than one response");

function shared(bytes: Uint8Array): Uint8Array {
  if (bytes.length > SHARED.length) return bytes;
  SHARED.set(bytes);
  return SHARED.subarray(0, bytes.length);
}

const bytesOf = (body: string | Uint8Array | StreamedBody): number =>
  typeof body === "string" ? Buffer.byteLength(body) : "open" in body ? body.bytes : body.length;

/** A request with another length than its head says would make the host read the next one as a part of it. */
async function* withHead(head: string, { bytes, open }: StreamedBody): AsyncGenerator<Uint8Array> {
  yield Buffer.from(head, "latin1");
  let left = bytes;
  for await (const chunk of open()) {
    left -= chunk.length;
    if (left < 0) break;
    yield chunk;
  }
  if (left !== 0) throw new Error(`the body has ${left < 0 ? "more" : "fewer"} than ${bytes} bytes`);
}

interface Taking {
  taker: ChunkTaker;
  end: PromiseWithResolvers<boolean>;
}

/** A request over a pooled or new connection. */
export class SocketExchange implements HttpExchange, HttpAnswer, ConnectionUser {
  status = 0;
  headers = NO_HEADERS;
  readonly #pool: ConnectionPool;
  readonly #requestUrl: RequestUrl;
  readonly #requestHead: string;
  readonly #bodyBytes: number;
  /** Released once the connection has it. */
  #body: string | Uint8Array | StreamedBody | undefined;
  #connection: Connection;
  #keepAlive = false;
  #keepAliveMs: number | undefined;
  /** The head of the response as received so far. */
  #head: Uint8Array = NOTHING;
  #interim = 0;
  /** Bytes still to come; Infinity if the body ends with the connection. */
  #left = 0;
  #chunked: ChunkedBody | undefined;
  #state: "head" | "body" | "ended" | "failed" = "head";
  #failure: HttpFailure | undefined;
  /** This object, or a reader on top of it that decompresses. */
  #answer: HttpAnswer | undefined;
  readonly #unread: Uint8Array[] = [];
  #unreadBytes = 0;
  #paused = false;
  #opening: PromiseWithResolvers<HttpAnswer> | undefined;
  #reading: PromiseWithResolvers<Uint8Array | undefined> | undefined;
  #taking: Taking | undefined;

  constructor(
    pool: ConnectionPool,
    requestUrl: RequestUrl,
    { method = "POST", headers, ownLines, body = "", newConnection = false }: Omit<HttpRequest, "url">,
  ) {
    this.#pool = pool;
    this.#requestUrl = requestUrl;
    this.#body = body;
    this.#bodyBytes = bytesOf(body);
    this.#requestHead = requestHead(method, requestUrl, headers, this.#bodyBytes, ownLines);
    for (;;) {
      const kept = newConnection ? undefined : pool.take(requestUrl.origin);
      if (kept && !kept.lend(this)) continue;
      this.#connection = kept ?? pool.connect(requestUrl, this);
      if (kept) this.ready(kept);
      return;
    }
  }

  answer(): Promise<HttpAnswer> {
    if (this.#answer) return Promise.resolve(this.#answer);
    if (this.#failure) return Promise.reject(this.#failure);
    this.#opening = Promise.withResolvers();
    return this.#opening.promise;
  }

  read(): Promise<Uint8Array | undefined> {
    if (this.#unreadBytes > 0) return Promise.resolve(this.#takeUnread());
    if (this.#failure) return Promise.reject(this.#failure);
    if (this.#state === "ended") return Promise.resolve(undefined);
    this.#reading = Promise.withResolvers();
    return this.#reading.promise;
  }

  readWhile(taker: ChunkTaker): boolean | Promise<boolean> {
    if (this.#unreadBytes > 0 && !taker.take(this.#takeUnread())) return true;
    if (this.#failure) throw this.#failure;
    if (this.#state === "ended") return false;
    const end = Promise.withResolvers<boolean>();
    this.#taking = { taker, end };
    return end.promise;
  }

  #hand(taking: Taking, content: Uint8Array): void {
    try {
      if (taking.taker.take(content)) return;
      taking.end.resolve(true);
    } catch (error) {
      taking.end.reject(error);
    }
    if (this.#taking === taking) this.#taking = undefined;
  }

  #takeUnread(): Uint8Array {
    const [first = NOTHING] = this.#unread;
    const all = this.#unread.length === 1 ? first : Buffer.concat(this.#unread, this.#unreadBytes);
    this.#unread.length = 0;
    this.#unreadBytes = 0;
    if (this.#paused) {
      this.#paused = false;
      this.#connection.resume();
    }
    return all;
  }

  close(): void {
    if (this.#state === "ended" || this.#state === "failed") return;
    this.#fail(new HttpFailure("broken", "the request was closed before its response was complete"));
  }

  ready(connection: Connection): void {
    const body = this.#body ?? NOTHING;
    this.#body = undefined;
    if (typeof body === "string" || body instanceof Uint8Array)
      connection.send(this.#requestHead, body, this.#bodyBytes);
    else void this.#feed(connection, body);
  }

  async #feed(connection: Connection, body: StreamedBody): Promise<void> {
    try {
      await connection.feed(withHead(this.#requestHead, body));
    } catch (cause) {
      if (this.#state === "head") this.#fail(new HttpFailure("broken", "the request's body could not be read", cause));
    }
  }

  receive(bytes: Buffer): void {
    try {
      if (this.#state === "head") this.#receiveHead(bytes);
      else this.#receiveBody(bytes);
    } catch (error) {
      if (!(error instanceof HttpFailure)) throw error;
      this.#fail(error);
    }
  }

  lost(failure: HttpFailure, properEnd: boolean): void {
    if (this.#state === "body" && this.#left === Number.POSITIVE_INFINITY && properEnd) {
      this.#finish();
      return;
    }
    // A host may have closed an idle connection just as it was reused, or it may have read the request, with unknown effect. The
    // caller decides whether to retry, and counts the attempt (H32).
    const stale = this.#connection.reused && this.#state === "head" && this.#head.length === 0;
    if (stale) this.#pool.drop(this.#requestUrl.origin);
    this.#fail(stale ? new HttpFailure("stale", "the host closed a reused connection", failure.cause) : failure);
  }

  #receiveHead(bytes: Buffer): void {
    const known = this.#head.length;
    let rest: Buffer = known === 0 ? bytes : Buffer.concat([this.#head, bytes]);
    let from = Math.max(0, known - HEAD_END.length + 1);
    for (;;) {
      const end = rest.indexOf(HEAD_END, from, "latin1");
      if (end > MAX_HEAD_BYTES || (end < 0 && rest.length > MAX_HEAD_BYTES))
        throw malformed(`its head is larger than ${MAX_HEAD_BYTES} bytes`);
      if (end < 0) {
        if (rest.indexOf("\n\n", from, "latin1") >= 0) throw malformed("its lines do not end in CR LF");
        this.#head = rest;
        return;
      }
      const head = readResponseHead(rest.toString("latin1", 0, end));
      rest = rest.subarray(end + HEAD_END.length);
      if (head.status >= 200) {
        this.#begin(head, rest);
        return;
      }
      // Interim responses contain nothing that is needed here. A change of protocol was never requested.
      if (head.status === 101) throw malformed("it switches to another protocol");
      if (++this.#interim > MAX_INTERIM) throw malformed(`it has more than ${MAX_INTERIM} interim responses`);
      this.#head = NOTHING;
      from = 0;
    }
  }

  #begin(head: ResponseHead, rest: Uint8Array): void {
    const { status, headers, framing } = head;
    this.status = status;
    this.headers = headers;
    this.#keepAlive = head.keepAlive;
    this.#keepAliveMs = head.keepAliveMs;
    this.#head = NOTHING;
    this.#state = "body";
    if (framing === "chunked") this.#chunked = new ChunkedBody(this);
    else this.#left = framing === "close" ? Number.POSITIVE_INFINITY : framing;
    // A response to a request that the host has not read may belong to another request (S24).
    if (status < 400 && this.#connection.reused && !this.#connection.sent) throw tooMany();
    // A host that rejects a request need not receive the rest of it.
    if (status >= 400) this.#connection.stopSending();
    this.#answer = decompressResponse(this);
    if (this.#opening) this.#pool.endOfTurn.add(this.#opened);
    if (rest.length > 0 || framing === 0) this.#receiveBody(rest);
  }

  readonly #opened = (): void => {
    if (this.#answer) this.#opening?.resolve(this.#answer);
    this.#opening = undefined;
  };

  #receiveBody(bytes: Uint8Array): void {
    if (this.#chunked) {
      const content = this.#chunked.push(this.#taking?.taker.atOnce === true ? shared(bytes) : bytes);
      if (content.length > 0) this.#deliver(content);
      if (this.#chunked.done) this.#finish();
      return;
    }
    if (bytes.length > this.#left) this.excess();
    const content = bytes.length > this.#left ? bytes.subarray(0, this.#left) : bytes;
    this.#left -= content.length;
    if (content.length > 0) this.#deliver(content);
    if (this.#left === 0) this.#finish();
  }

  /**
   * The host sent more than one response. On a new connection the first one is the right one. On a kept connection it may be a
   * leftover of the previous request, made by another caller, so it is discarded (S24).
   */
  excess(): void {
    this.#keepAlive = false;
    if (this.#connection.reused) throw tooMany();
  }

  #deliver(content: Uint8Array): void {
    if (this.#taking) {
      this.#hand(this.#taking, content);
      return;
    }
    const reading = this.#reading;
    if (reading) {
      this.#reading = undefined;
      reading.resolve(content);
      return;
    }
    this.#unread.push(content);
    this.#unreadBytes += content.length;
    if (this.#unreadBytes > MAX_UNREAD_BYTES && !this.#paused) {
      this.#paused = true;
      this.#connection.pause();
    }
  }

  /** The response is complete. Its connection is reused only if nothing is left over on either side. */
  #finish(): void {
    // The receiver of the last chunk may have closed the exchange.
    if (this.#state !== "body") return;
    this.#state = "ended";
    if (this.#paused) this.#connection.resume();
    this.#paused = false;
    if (this.#keepAlive && this.#connection.sent) this.#pool.put(this.#connection, this.#keepAliveMs);
    else this.#connection.terminate();
    this.#reading?.resolve(undefined);
    this.#reading = undefined;
    this.#taking?.end.resolve(false);
    this.#taking = undefined;
  }

  #fail(failure: HttpFailure): void {
    this.#state = "failed";
    this.#failure = failure;
    this.#body = undefined;
    this.#connection.terminate();
    // A body that breaks off in the turn of its head does so for its reader.
    if (this.#answer) this.#opened();
    else this.#opening?.reject(failure);
    this.#reading?.reject(failure);
    this.#taking?.end.reject(failure);
    this.#opening = undefined;
    this.#reading = undefined;
    this.#taking = undefined;
  }
}
