import type { Random } from "../src/base/sources.ts";

const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
const ID_LENGTH = 22;

/** Repeatable randomness: Mulberry32, fast and good enough to choose with. */
export class SeededRandom {
  #state: number;

  constructor(seed: number) {
    this.#state = seed | 0;
  }

  /** From 0 to below 1. */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  chance(probability: number): boolean {
    return this.next() < probability;
  }

  /** An integer, both bounds included. */
  between(least: number, most: number): number {
    return least + Math.floor(this.next() * (most - least + 1));
  }

  pick<Item>(items: readonly Item[]): Item {
    const item = items[Math.floor(this.next() * items.length)];
    if (item === undefined) throw new Error("there is nothing to choose from");
    return item;
  }

  /** One of the keys, with the given weights. */
  weighted<Name extends string>(weights: Readonly<Record<Name, number>>): Name {
    const names = Object.keys(weights) as Name[];
    let left = this.next() * names.reduce((sum, name) => sum + weights[name], 0);
    for (const name of names) {
      left -= weights[name];
      if (left < 0) return name;
    }
    return this.pick(names);
  }
}

/** The source of the gateway's ids. */
export class SeededIds implements Random {
  readonly #random: SeededRandom;
  #told: ((id: string) => void) | undefined;

  constructor(seed: number) {
    this.#random = new SeededRandom(seed);
  }

  readonly bytes = (length: number): Uint8Array => {
    const bytes = new Uint8Array(length);
    for (let at = 0; at < length; at++) bytes[at] = this.#random.between(0, 255);
    return bytes;
  };

  readonly id = (): string => {
    let id = "";
    // One number is good for five characters of six bits.
    while (id.length < ID_LENGTH) {
      let bits = Math.floor(this.#random.next() * 2 ** 30);
      for (let at = 0; at < 5 && id.length < ID_LENGTH; at++) {
        id += ALPHABET[bits & 63];
        bits >>>= 6;
      }
    }
    this.#told?.(id);
    this.#told = undefined;
    return id;
  };

  /** Calls `told` with the next id that is drawn. */
  tellNext(told: (id: string) => void): void {
    this.#told = told;
  }
}
