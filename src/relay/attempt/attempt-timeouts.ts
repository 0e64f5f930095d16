/** How long a provider may take, in milliseconds. */
interface UpstreamTimeouts {
  /** Before a response begins. */
  firstByte: number;
  /** Silence inside an answer. */
  idle: number;
  /** Without content. Comments, pings and blanks do not count (H28). */
  content: number;
  /** For the whole of an answer. */
  total: number;
}

/**
 * Decides when an attempt has waited too long for its upstream. It is notified of what arrives, and checked at every tick of the
 * watchdog.
 */
export class AttemptTimeouts {
  readonly #timeouts: UpstreamTimeouts;
  readonly #startedAtMs: number;
  /** When something last arrived, as seen by the watchdog. Reading the clock for each chunk would cost more than the chunk. */
  #receivedAtMs: number | undefined;
  #hasReceived = false;
  #contentAtMs: number | undefined;
  #contentSeen = 0;
  #content: (() => number) | undefined;
  #chunks = 0;
  /** While the gateway waits for its client, silence is not the upstream's fault. */
  #paused = false;
  /** The limit on silence once only the end of the response is awaited. */
  #endWithinMs: number | undefined;

  constructor(timeouts: UpstreamTimeouts, startedAtMs: number) {
    this.#timeouts = timeouts;
    this.#startedAtMs = startedAtMs;
    this.#receivedAtMs = startedAtMs;
    this.#contentAtMs = startedAtMs;
  }

  /** Something arrived. It does not extend the wait if only the end is awaited. */
  received(): void {
    this.#hasReceived = true;
    if (this.#endWithinMs === undefined) this.#receivedAtMs = undefined;
  }

  /** The headers have arrived. The first byte of content has as much time as they had. */
  begin(): void {
    this.#receivedAtMs = undefined;
  }

  /** A chunk of a response that is read whole. Hosts send blanks to keep the connection alive, so they do not count. */
  receivedText(chunk: Uint8Array): void {
    // A loop, because a host may send millions of blanks, and a callback for each would block all other calls (S18).
    for (let at = 0; at < chunk.length; at++) {
      if ((chunk[at] ?? 0) <= 0x20) continue;
      this.#chunks++;
      return;
    }
  }

  /** Sets a counter of content. Any change of its value counts as content. */
  follow(content: () => number): void {
    this.#content = content;
  }

  /** The counted content of a stream; undefined until one has begun. */
  get contentSoFar(): number | undefined {
    return this.#content?.();
  }

  /** The response is complete. Only the end of the stream is still awaited, for a short time. */
  expectEnd(withinMs: number): void {
    if (this.#endWithinMs === withinMs) return;
    this.#endWithinMs = withinMs;
    this.#receivedAtMs = undefined;
  }

  pause(): void {
    this.#paused = true;
  }

  resume(): void {
    this.#paused = false;
    this.#receivedAtMs = undefined;
    this.#contentAtMs = undefined;
  }

  /** The timeout that has expired; undefined while the upstream may continue. */
  expiredAt(nowMs: number): string | undefined {
    const { firstByte, idle, content, total } = this.#timeouts;
    const seen = this.#content?.() ?? this.#chunks;
    if (seen !== this.#contentSeen) {
      this.#contentSeen = seen;
      this.#contentAtMs = nowMs;
      this.#receivedAtMs = nowMs;
    }
    this.#receivedAtMs ??= nowMs;
    this.#contentAtMs ??= nowMs;
    if (nowMs - this.#startedAtMs > total) return `did not finish its response within ${total} ms`;
    if (this.#paused) return undefined;
    const limitMs = this.#endWithinMs ?? (this.#hasReceived ? idle : firstByte);
    if (nowMs - this.#receivedAtMs > limitMs)
      return this.#hasReceived ? `sent nothing more for ${limitMs} ms` : `sent nothing for ${limitMs} ms`;
    return nowMs - this.#contentAtMs > content ? `sent no content for ${content} ms` : undefined;
  }
}
