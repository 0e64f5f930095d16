import { type ImageSize, sniffImage } from "../sniff-image.ts";

/** An image in a request. A URL is not fetched, so nothing is known about it. */
export interface GivenImage {
  mimeType?: string;
  bytes?: Uint8Array;
  size?: ImageSize;
}

export interface Frames {
  firstFrame?: Uint8Array;
  lastFrame?: Uint8Array;
}

/** How a host takes images. Every one takes URLs. */
type ImageForm = "data URL" | "bare base64";

const DATA_URL = /^data:image\/([a-z]+);base64,/;
const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;
const ENDINGS = ["png", "jpg", "jpeg", "webp"];

/** Undefined if the bytes are not an image, or end before its size. */
export function imageOfBytes(bytes: Uint8Array | undefined): GivenImage | undefined {
  const seen = bytes === undefined ? undefined : sniffImage(bytes);
  if (bytes === undefined || seen?.size === undefined || seen.size.width === 0 || seen.size.height === 0) {
    return undefined;
  }
  return { mimeType: seen.mimeType, bytes, size: seen.size };
}

export function isPublicUrl(url: string): boolean {
  return /^https?:\/\/[^\s/]+/i.test(url) && URL.canParse(url);
}

/** A URL whose ending names something else than an image is taken for what it says. */
function mayBeImage(url: string): boolean {
  const ending = /\.(\w+)$/.exec(new URL(url).pathname)?.[1]?.toLowerCase();
  return ending === undefined || ENDINGS.includes(ending);
}

/** The frames that a video begins and ends with, as far as their bytes are known. */
export function framesOf(first: GivenImage | undefined, last: GivenImage | undefined): Frames {
  return {
    ...(first?.bytes === undefined ? {} : { firstFrame: first.bytes }),
    ...(last?.bytes === undefined ? {} : { lastFrame: last.bytes }),
  };
}

/** Undefined where it is not an image that arrived whole, or not in a form that the host takes. */
export function givenImage(given: string, forms: readonly ImageForm[]): GivenImage | undefined {
  if (isPublicUrl(given)) return mayBeImage(given) ? {} : undefined;
  const [prefix = "", called] = DATA_URL.exec(given) ?? [];
  if (!forms.includes(prefix === "" ? "bare base64" : "data URL")) return undefined;
  const payload = given.slice(prefix.length);
  const image = BASE64.test(payload) ? imageOfBytes(new Uint8Array(Buffer.from(payload, "base64"))) : undefined;
  const isCalledRightly = called === undefined || image?.mimeType === `image/${called === "jpg" ? "jpeg" : called}`;
  return isCalledRightly ? image : undefined;
}
