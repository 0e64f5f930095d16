/** How long a provider may take, in milliseconds. */
interface UpstreamTimeouts {
  /** Before an answer begins. */
  firstByte: number;
  /** Silence inside an answer. */
  idle: number;
  /** Without content, whatever else comes: comments, pings and blanks are no answer (H28). */
  content: number;
  /** For the whole of an answer. */
  total: number;
}

/** Decides when an attempt has waited for its upstream for too long. It hears what comes, and is asked at every tick of the watchdog. */
export class AttemptTimeouts {
  readonly #timeouts: UpstreamTimeouts;
  readonly #startedAtMs: number;
  /** When something last came, as the watchdog saw it: asking the clock for each chunk would cost more than the chunk. */
  #heardAtMs: number | undefined;
  #heard = false;
  #contentAtMs: number | undefined;
  #contentSeen = 0;
  #content: (() => number) | undefined;
  #chunks = 0;
  /** While the gateway waits for its client, the upstream's silence is not its fault. */
  #paused = false;
  /** The limit of its silence once nothing more is wanted of it than its end. */
  #endWithinMs: number | undefined;

  constructor(timeouts: UpstreamTimeouts, startedAtMs: number) {
    this.#timeouts = timeouts;
    this.#startedAtMs = startedAtMs;
    this.#heardAtMs = startedAtMs;
    this.#contentAtMs = startedAtMs;
  }

  /** Something came. Where only the end is waited for, that alone is no reason to wait longer. */
  hear(): void {
    this.#heard = true;
    if (this.#endWithinMs === undefined) this.#heardAtMs = undefined;
  }

  /** The answer's head is there; its first byte of content is waited for as its head was. */
  begin(): void {
    this.#heardAtMs = undefined;
  }

  /** A chunk of an answer that is read whole: blanks are sent to keep a connection alive. */
  hearText(chunk: Uint8Array): void {
    // A loop, since a host may send millions of blanks, and a call for each would block all other calls (S18).
    for (let at = 0; at < chunk.length; at++) {
      if ((chunk[at] ?? 0) <= 0x20) continue;
      this.#chunks++;
      return;
    }
  }

  /** Where content is counted by whoever reads it: any other figure than before is content. */
  follow(content: () => number): void {
    this.#content = content;
  }

  /** The answer is whole: from here on only the end of its bytes is waited for, and not for long. */
  expectEnd(withinMs: number): void {
    if (this.#endWithinMs === withinMs) return;
    this.#endWithinMs = withinMs;
    this.#heardAtMs = undefined;
  }

  pause(): void {
    this.#paused = true;
  }

  resume(): void {
    this.#paused = false;
    this.#heardAtMs = undefined;
    this.#contentAtMs = undefined;
  }

  /** What the upstream has not done within its time by now; undefined while it may go on. */
  expiredAt(nowMs: number): string | undefined {
    const { firstByte, idle, content, total } = this.#timeouts;
    const seen = this.#content?.() ?? this.#chunks;
    if (seen !== this.#contentSeen) {
      this.#contentSeen = seen;
      this.#contentAtMs = nowMs;
      this.#heardAtMs = nowMs;
    }
    this.#heardAtMs ??= nowMs;
    this.#contentAtMs ??= nowMs;
    if (nowMs - this.#startedAtMs > total) return `did not finish its response within ${total} ms`;
    if (this.#paused) return undefined;
    const limitMs = this.#endWithinMs ?? (this.#heard ? idle : firstByte);
    if (nowMs - this.#heardAtMs > limitMs)
      return this.#heard ? `sent nothing more for ${limitMs} ms` : `sent nothing for ${limitMs} ms`;
    return nowMs - this.#contentAtMs > content ? `sent no content for ${content} ms` : undefined;
  }
}
