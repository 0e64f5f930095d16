/** What happened, event by event. Two runs are the same if their digests are. */
export class Trace {
  readonly #hasher = new Bun.CryptoHasher("sha1");
  readonly #nowMs: () => number;
  readonly lines: string[] | undefined;

  /** `keepsLines`: keep readable lines for people. */
  constructor(nowMs: () => number, keepsLines: boolean) {
    this.#nowMs = nowMs;
    this.lines = keepsLines ? [] : undefined;
  }

  note(line: string): void {
    const timed = `${this.#nowMs()} ${line}\n`;
    this.#hasher.update(timed);
    this.lines?.push(timed);
  }

  /** A digest of everything so far; nothing can be added after it. */
  digest(): string {
    return this.#hasher.digest("hex");
  }
}
