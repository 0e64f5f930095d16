/** A request as it leaves. */
export interface HttpRequest {
  /** POST where absent. */
  method?: "GET" | "POST";
  url: string;
  headers: Readonly<Record<string, string>>;
  /** Header lines of this request alone, each with its end: `headers` is the same object for many. Who makes them sees to it that none ends early. */
  ownLines?: string | undefined;
  body?: string | Uint8Array;
  /**
   * Over a new connection, for requests that must not be repeated. A host may close a kept connection just when it is reused,
   * and then it is unknown whether it has read the request.
   */
  newConnection?: boolean;
}

/** Header lines by their names, for who cannot send them as they are. */
export function headersIn(lines: string): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const line of lines.split("\r\n")) {
    const colon = line.indexOf(":");
    if (colon > 0) headers[line.slice(0, colon)] = line.slice(colon + 1).trim();
  }
  return headers;
}

/** One request and its answer. It has begun when it is made, and is ended by `close` or by the end of the answer. */
export interface Exchange {
  /** Resolves when the answer's headers are there; called once. */
  answer(): Promise<HttpAnswer>;
  /** Ends it, finished or not: an unfinished answer is cut off, and the host notices at once. */
  close(): void;
}

export interface HttpAnswer {
  readonly status: number;
  readonly headers: AnswerHeaders;
  /**
   * The bytes that have come since the last call, at least one; undefined at the end of a whole body. Rejects where the
   * body breaks off. One call at a time. While it is not read, the host is paused.
   */
  read(): Promise<Uint8Array | undefined>;
  /**
   * Passes each chunk to the taker as it arrives, until that returns false: then true. False at the end of a whole body. Used
   * instead of `read` if awaiting each chunk would cost more than the chunk. There is no promise where all of it is already here.
   */
  readWhile(taker: ChunkTaker): boolean | Promise<boolean>;
}

export interface ChunkTaker {
  /** It is done with a chunk when `take` returns: the chunk may then stand where the next one will. */
  readonly atOnce?: true;
  /** Whether the next chunk is wanted, too. */
  take(chunk: Uint8Array): boolean;
}

/** `readWhile` for answers that can only be read chunk by chunk. */
export async function pullWhile(read: () => Promise<Uint8Array | undefined>, taker: ChunkTaker): Promise<boolean> {
  for (let chunk = await read(); chunk; chunk = await read()) if (!taker.take(chunk)) return true;
  return false;
}

export interface AnswerHeaders {
  /** By the name in lower case; a repeated header's values are joined by commas. */
  get(name: string): string | undefined;
}
