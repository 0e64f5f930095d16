import { createCipheriv, createDecipheriv, createHash } from "node:crypto";
import type { Random } from "../base/sources.ts";

/** Up to this size, which takes a few milliseconds, no other thread is used. */
const SMALL = 1024 * 1024;

/** Of AES-GCM. */
const CIPHER = "aes-256-gcm";
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
/** The first bytes identify the key. */
const KEY_ID_BYTES = 8;

/** Sealed with another key, or modified. */
export class UnreadableSeal extends Error {}

/**
 * Seals texts with a key of this gateway: compressed, encrypted and bound to their place. Whoever can read the storage
 * learns nothing of them, and whoever can write to it cannot move one to another row unnoticed.
 */
export class Sealer {
  readonly #key: Uint8Array;
  readonly #keyId: Buffer;
  readonly #random: Random;

  constructor(key: Uint8Array, random: Random) {
    this.#key = key;
    this.#keyId = createHash("sha256").update("trivium answers\n").update(key).digest().subarray(0, KEY_ID_BYTES);
    this.#random = random;
  }

  async seal(text: string, place: string): Promise<Uint8Array> {
    const packed = text.length <= SMALL ? Bun.zstdCompressSync(text) : await Bun.zstdCompress(text);
    const nonce = this.#random.bytes(NONCE_BYTES);
    const cipher = createCipheriv(CIPHER, this.#key, nonce).setAAD(Buffer.from(place));
    const sealed = [cipher.update(packed), cipher.final()];
    return Buffer.concat([this.#keyId, nonce, cipher.getAuthTag(), ...sealed]);
  }

  async open(sealed: Uint8Array, place: string): Promise<string> {
    const bytes = Buffer.from(sealed.buffer, sealed.byteOffset, sealed.length);
    const [nonceAt, tagAt] = [KEY_ID_BYTES, KEY_ID_BYTES + NONCE_BYTES];
    if (!bytes.subarray(0, nonceAt).equals(this.#keyId)) throw new UnreadableSeal("it was sealed with another key");
    const decipher = createDecipheriv(CIPHER, this.#key, bytes.subarray(nonceAt, tagAt)).setAAD(Buffer.from(place));
    let packed: Buffer;
    try {
      decipher.setAuthTag(bytes.subarray(tagAt, tagAt + TAG_BYTES));
      packed = Buffer.concat([decipher.update(bytes.subarray(tagAt + TAG_BYTES)), decipher.final()]);
    } catch (cause) {
      throw new UnreadableSeal("it was modified in the storage", { cause });
    }
    return (packed.length <= SMALL ? Bun.zstdDecompressSync(packed) : await Bun.zstdDecompress(packed)).toString();
  }
}
