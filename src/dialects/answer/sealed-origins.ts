/** So many values are remembered, the latest: a conversation brings all of its own back with every turn. */
const MAX_VALUES = 20_000;
/** The end of a sealed value is as good as random. */
const TELLING_LENGTH = 40;

/**
 * Which family of hosts has sealed a value that stands in a history as it came (decision 0049). What is not known here any more, or
 * was sealed through another instance, is taken for what it is said to be.
 */
export class SealedOrigins {
  readonly #origins = new Map<string, string>();
  readonly #limit: number;

  constructor(limit = MAX_VALUES) {
    this.#limit = limit;
  }

  learn(value: string, origin: string): void {
    const key = keyOf(value);
    this.#origins.delete(key);
    this.#origins.set(key, origin);
    if (this.#origins.size <= this.#limit) return;
    const [oldest] = this.#origins.keys();
    if (oldest !== undefined) this.#origins.delete(oldest);
  }

  originOf(value: string): string | undefined {
    return this.#origins.get(keyOf(value));
  }
}

const keyOf = (value: string): string => `${value.length} ${value.slice(-TELLING_LENGTH)}`;
