import { createHash } from "node:crypto";

const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";

/**
 * All chance in the simulator. A draw depends on what the seed was made from and on the draw's label, never on the
 * order of draws or on the clock: the same request is answered with the same bytes.
 */
export class Seed {
  readonly #key: string;

  constructor(material: string) {
    this.#key = createHash("sha256").update(material).digest("hex");
  }

  derive(label: string): Seed {
    return new Seed(`${this.#key}/${label}`);
  }

  bytes(label: string): Buffer {
    return createHash("sha256").update(`${this.#key}:${label}`).digest();
  }

  /** A whole number from 0 up to, but not including, `below`. */
  number(label: string, below: number): number {
    return this.bytes(label).readUInt32BE(0) % below;
  }

  pick<T>(label: string, choices: readonly [T, ...T[]]): T {
    return choices[this.number(label, choices.length)] ?? choices[0];
  }

  /** Letters and digits, at most 32 of them. */
  token(label: string, length: number): string {
    let text = "";
    for (const byte of this.bytes(label).subarray(0, length)) text += ALPHABET[byte % ALPHABET.length];
    return text;
  }
}
