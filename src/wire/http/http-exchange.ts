export type HttpMethod = "GET" | "POST" | "PATCH" | "DELETE";

/** A body that is sent while it is read. It is never held in memory as a whole. */
export interface StreamedBody {
  /** Exactly how many bytes it has. */
  readonly bytes: number;
  /** Called when the connection is open. */
  readonly open: () => AsyncIterable<Uint8Array>;
}

/** An outgoing request. */
export interface HttpRequest {
  /** POST if absent. */
  method?: HttpMethod;
  url: string;
  headers: Readonly<Record<string, string>>;
  /**
   * Header lines of this request only, each with its line end, because `headers` is shared by many requests. The caller
   * guarantees that no value contains a line end.
   */
  ownLines?: string | undefined;
  /** One that is streamed can be sent only once. */
  body?: string | Uint8Array | StreamedBody;
  /**
   * Use a new connection, for requests that must not be repeated. A host may close a kept connection just as it is reused, and
   * then it is unknown whether the host has read the request.
   */
  newConnection?: boolean;
}

/** Header lines as an object, for clients that cannot send raw lines. */
export function headersIn(lines: string): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const line of lines.split("\r\n")) {
    const colon = line.indexOf(":");
    if (colon > 0) headers[line.slice(0, colon)] = line.slice(colon + 1).trim();
  }
  return headers;
}

/** A request in flight and its response. It starts when created, and ends with `close` or with the end of the response. */
export interface HttpExchange {
  /** Resolves when the response headers have arrived. Call it once. */
  answer(): Promise<HttpAnswer>;
  /** Ends the request, finished or not. An unfinished response is cut off, and the host notices at once. */
  close(): void;
}

export interface HttpAnswer {
  readonly status: number;
  readonly headers: HttpHeaders;
  /**
   * Resolves with the bytes received since the last call (at least one), or undefined at the end of a complete body. Rejects if
   * the body is truncated. Allow one call at a time. The host is paused while nobody reads.
   */
  read(): Promise<Uint8Array | undefined>;
  /**
   * Passes each chunk to the taker as it arrives. Returns true when the taker returns false, and false at the end of a complete
   * body. Use it instead of `read` where awaiting each chunk would cost more than the chunk. It returns no promise if the whole
   * body is already here.
   */
  readWhile(taker: ChunkTaker): boolean | Promise<boolean>;
}

export interface ChunkTaker {
  /** The taker does not keep a chunk after `take` returns, so its memory may be reused for the next one. */
  readonly atOnce?: true;
  /** Returns whether it takes another chunk. */
  take(chunk: Uint8Array): boolean;
}

/** `readWhile` for responses that can only be read chunk by chunk. */
export async function pullWhile(read: () => Promise<Uint8Array | undefined>, taker: ChunkTaker): Promise<boolean> {
  for (let chunk = await read(); chunk; chunk = await read()) if (!taker.take(chunk)) return true;
  return false;
}

export interface HttpHeaders {
  /** Looks up by lower-case name. Values of a repeated header are joined by commas. */
  get(name: string): string | undefined;
}
