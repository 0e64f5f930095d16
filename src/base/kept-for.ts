/** Values that are read again after a while, by a key. For few keys: none is forgotten. */
export class KeptFor<Value> {
  readonly #ms: number;
  readonly #kept = new Map<string, { value: Value; of: string; readAtMs: number }>();

  constructor(ms: number) {
    this.#ms = ms;
  }

  /** `of`: what the value was read of. If that is another, the value is read again. */
  async get(key: string, of: string, nowMs: number, read: () => Promise<Value>): Promise<Value> {
    const known = this.#kept.get(key);
    if (known?.of === of && Math.abs(nowMs - known.readAtMs) < this.#ms) return known.value;
    const value = await read();
    this.#kept.set(key, { value, of, readAtMs: nowMs });
    return value;
  }
}
