import { type ImageSize, sniffImage } from "../sniff-image.ts";

/** A picture that came with a request. What is only an address is not fetched, so that nothing is known of it. */
export interface GivenPicture {
  mimeType?: string;
  bytes?: Uint8Array;
  size?: ImageSize;
}

export interface Frames {
  firstFrame?: Uint8Array;
  lastFrame?: Uint8Array;
}

/** How a host takes pictures. Every one takes addresses. */
export type PictureForm = "data address" | "bare base64";

const DATA_ADDRESS = /^data:image\/([a-z]+);base64,/;
const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;
const ENDINGS = ["png", "jpg", "jpeg", "webp"];

/** Undefined where the bytes are no picture, or end before they tell its size. */
export function pictureOfBytes(bytes: Uint8Array | undefined): GivenPicture | undefined {
  const seen = bytes === undefined ? undefined : sniffImage(bytes);
  if (bytes === undefined || seen?.size === undefined || seen.size.width === 0 || seen.size.height === 0) {
    return undefined;
  }
  return { mimeType: seen.mimeType, bytes, size: seen.size };
}

export function isPublicAddress(address: string): boolean {
  return /^https?:\/\/[^\s/]+/i.test(address) && URL.canParse(address);
}

/** An address whose ending names something else than a picture is taken for what it says. */
function mayBePicture(address: string): boolean {
  const ending = /\.(\w+)$/.exec(new URL(address).pathname)?.[1]?.toLowerCase();
  return ending === undefined || ENDINGS.includes(ending);
}

/** The frames that a film begins and ends with, as far as their bytes are known. */
export function framesOf(first: GivenPicture | undefined, last: GivenPicture | undefined): Frames {
  return {
    ...(first?.bytes === undefined ? {} : { firstFrame: first.bytes }),
    ...(last?.bytes === undefined ? {} : { lastFrame: last.bytes }),
  };
}

/** Undefined where it is not a picture that arrived whole, or not in a form that the host takes. */
export function givenPicture(given: string, forms: readonly PictureForm[]): GivenPicture | undefined {
  if (isPublicAddress(given)) return mayBePicture(given) ? {} : undefined;
  const [prefix = "", called] = DATA_ADDRESS.exec(given) ?? [];
  if (!forms.includes(prefix === "" ? "bare base64" : "data address")) return undefined;
  const payload = given.slice(prefix.length);
  const picture = BASE64.test(payload) ? pictureOfBytes(new Uint8Array(Buffer.from(payload, "base64"))) : undefined;
  const isCalledRightly = called === undefined || picture?.mimeType === `image/${called === "jpg" ? "jpeg" : called}`;
  return isCalledRightly ? picture : undefined;
}
