/** What happened, event by event. Two runs are the same where their digests are. */
export class Trace {
  readonly #hasher = new Bun.CryptoHasher("sha1");
  readonly #nowMs: () => number;
  readonly lines: string[] | undefined;

  /** `keepsLines`: for people, who want to read what happened. */
  constructor(nowMs: () => number, keepsLines: boolean) {
    this.#nowMs = nowMs;
    this.lines = keepsLines ? [] : undefined;
  }

  note(line: string): void {
    const timed = `${this.#nowMs()} ${line}\n`;
    this.#hasher.update(timed);
    this.lines?.push(timed);
  }

  /** Of everything so far; nothing can be noted after it. */
  digest(): string {
    return this.#hasher.digest("hex");
  }
}
