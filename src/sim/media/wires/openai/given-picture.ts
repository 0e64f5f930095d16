import { decodeBase64 } from "../../../media.ts";
import { type ImageSize, sniffImage } from "../../../sniff-image.ts";

/** A picture that came with a request. What is only an address is not fetched, so nothing is known of it. */
export interface GivenPicture {
  mimeType?: string;
  bytes?: Uint8Array;
  size?: ImageSize;
}

const MOST_PARTS = 2;

/** Undefined where the bytes are of no picture, or end before its size. */
export function lookAt(bytes: Uint8Array): GivenPicture | undefined {
  const seen = sniffImage(bytes);
  if (seen?.size === undefined || seen.size.width === 0 || seen.size.height === 0) return undefined;
  return { mimeType: seen.mimeType, bytes, size: seen.size };
}

function fromDataAddress(address: string): GivenPicture | undefined {
  const [head = "", data = ""] = address.split(",", MOST_PARTS);
  const declared = /^data:([\w/+.-]+);base64$/i.exec(head)?.[1]?.toLowerCase().replace("image/jpg", "image/jpeg");
  const bytes = decodeBase64(data);
  const picture = bytes === undefined ? undefined : lookAt(bytes);
  return picture?.mimeType === declared ? picture : undefined;
}

/** An address whose ending names something else than a picture is taken for what it says. */
function fromRemoteAddress(address: string): GivenPicture | undefined {
  if (!URL.canParse(address)) return undefined;
  const ending = /\.(\w+)$/.exec(new URL(address).pathname)?.[1]?.toLowerCase();
  return ending === undefined || ["png", "jpg", "jpeg", "webp"].includes(ending) ? {} : undefined;
}

/** What stands at a data address or a remote one; undefined where that is no picture. */
export function pictureAt(address: string): GivenPicture | undefined {
  if (address.startsWith("data:")) return fromDataAddress(address);
  return /^https?:\/\//.test(address) ? fromRemoteAddress(address) : undefined;
}

/** As pictureAt, for hosts that also take the bytes in base64 with nothing before them. */
export function pictureAtOrBare(text: string): GivenPicture | undefined {
  if (text.includes(":")) return pictureAt(text);
  const bytes = decodeBase64(text);
  return bytes === undefined ? undefined : lookAt(bytes);
}
