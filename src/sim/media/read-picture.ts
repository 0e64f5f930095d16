import { type ImageSize, sniffImage } from "../sniff-image.ts";

/** A picture of a request. One that was given by its address is not fetched: nothing is known of it. */
export interface GivenPicture {
  bytes?: Uint8Array;
  size?: ImageSize;
}

/** How a host takes pictures. Every one takes addresses. */
export type PictureForm = "data address" | "bare base64";

const DATA_ADDRESS = /^data:image\/([a-z]+);base64,/;
const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;

function isCalledRightly(called: string | undefined, mimeType: string): boolean {
  return called === undefined || mimeType === `image/${called === "jpg" ? "jpeg" : called}`;
}

/** Undefined where it is not a picture that arrived whole, or not in a form that the host takes. */
export function readPicture(given: string, forms: readonly PictureForm[]): GivenPicture | undefined {
  if (/^https?:\/\/[^/]/.test(given)) return {};
  const data = DATA_ADDRESS.exec(given);
  if (!forms.includes(data === null ? "bare base64" : "data address")) return undefined;
  const payload = data === null ? given : given.slice(data[0].length);
  if (!BASE64.test(payload)) return undefined;
  const bytes = new Uint8Array(Buffer.from(payload, "base64"));
  const seen = sniffImage(bytes);
  if (seen?.size === undefined || !isCalledRightly(data?.[1], seen.mimeType)) return undefined;
  return { bytes, size: seen.size };
}
