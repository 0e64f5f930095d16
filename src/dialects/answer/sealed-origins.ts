/** How many recent values are remembered. A conversation sends all of its values back with every turn. */
const MAX_VALUES = 20_000;
/** The end of a sealed value is practically random. */
const TELLING_LENGTH = 40;

/**
 * Which family of hosts sealed a value that a history contains unwrapped (decision 0011). Values that are no longer known here,
 * or were sealed through another instance, are taken for what they claim to be.
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
