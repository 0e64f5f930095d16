/** What was made before, up to a size in all: whatever was not asked for longest goes first. */
export class ByteCache {
  readonly #maxBytes: number;
  /** The one that was asked for last at the end. */
  readonly #kept = new Map<string, Uint8Array>();
  #bytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** A copy, which its holder may change. */
  get(key: string): Uint8Array | undefined {
    const found = this.#kept.get(key);
    if (found === undefined) return undefined;
    this.#kept.delete(key);
    this.#kept.set(key, found);
    return found.slice();
  }

  keep(key: string, made: Uint8Array): void {
    this.#bytes += made.length - (this.#kept.get(key)?.length ?? 0);
    this.#kept.set(key, made);
    for (const [oldest, { length }] of this.#kept) {
      if (this.#bytes <= this.#maxBytes) return;
      this.#kept.delete(oldest);
      this.#bytes -= length;
    }
  }
}
