import { decodeBase64 } from "../../../media.ts";
import { type ImageSize, sniffImage } from "../../../sniff-image.ts";

/** A picture that came with a request. One that is only an address has no bytes: the simulator fetches nothing. */
export interface GivenPicture {
  bytes?: Uint8Array;
  size?: ImageSize;
}

/** Undefined where the bytes are no picture, or end before they tell its size. */
export function pictureOfBytes(bytes: Uint8Array | undefined): GivenPicture | undefined {
  const size = bytes === undefined ? undefined : sniffImage(bytes)?.size;
  if (bytes === undefined || size === undefined || size.width === 0 || size.height === 0) return undefined;
  return { bytes, size };
}

export function isPublicAddress(address: string): boolean {
  return /^https?:\/\/[^\s/]+/i.test(address);
}

/** The picture at an address or inside a data URI; undefined where it is neither, or the bytes are no picture. */
export function givenPicture(address: string): GivenPicture | undefined {
  if (isPublicAddress(address)) return {};
  const data = /^data:image\/[\w.+-]+;base64,(.+)$/is.exec(address)?.[1];
  return data === undefined ? undefined : pictureOfBytes(decodeBase64(data));
}
