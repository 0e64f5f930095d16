import { mediaTypeOf } from "./media-type.ts";

/** Images and audio that a browser shows. None of them can contain a script. */
export const SHOWN_TYPES = [
  "image/png",
  "image/jpeg",
  "image/gif",
  "image/webp",
  "audio/wav",
  "audio/mpeg",
  "audio/ogg",
] as const;
export type ShownType = (typeof SHOWN_TYPES)[number];

/** One image or audio clip of a call's bodies. */
export interface KeptMedium {
  type: ShownType;
  bytes: number;
  /** In base64. */
  data: string;
}

const MAX_MEDIA = 16;
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

/**
 * The images and audio of a call that are kept with its bodies, each once, up to a total size. The type is read from
 * the bytes, because a sender can claim any type.
 */
export class KeptMedia {
  readonly list: KeptMedium[] = [];
  #left: number;

  constructor(maxBytes: number) {
    this.#left = maxBytes;
  }

  /** Its number, from 1; undefined if it is not kept. `given`: base64 as written in JSON. */
  add(given: string): number | undefined {
    if (this.#left <= 0 || given.length > this.#left * 2 + 16) return undefined;
    const plain = given.replaceAll("\\/", "/").replaceAll("\\u003d", "=").replaceAll("-", "+").replaceAll("_", "/");
    const told = mediaTypeOf(plain);
    const type = SHOWN_TYPES.find((shown) => shown === told);
    if (type === undefined) return undefined;
    const data = plain.padEnd(Math.ceil(plain.length / 4) * 4, "=");
    const known = this.list.findIndex((medium) => medium.data === data);
    if (known >= 0) return known + 1;
    const bytes = (data.length / 4) * 3 - (/=*$/.exec(data)?.[0].length ?? 0);
    if (bytes > this.#left || this.list.length >= MAX_MEDIA || !BASE64.test(data)) return undefined;
    this.#left -= bytes;
    return this.list.push({ type, bytes, data });
  }
}
