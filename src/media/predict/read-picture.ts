import { refuse } from "../../dialects/check.ts";
import { type PictureSource, pictureOf } from "../read-picture.ts";
import type { PredictPicture } from "./schema.ts";

/** A picture of this protocol: its bytes, or an address. Buckets are the provider's own: the gateway has no key to them. */
export function readPredictPicture(picture: PredictPicture | undefined, path: string): PictureSource {
  const { bytesBase64Encoded: base64, gcsUri, mimeType } = picture ?? {};
  if (base64 !== undefined) return pictureOf(base64, mimeType, `${path}.bytesBase64Encoded`);
  if (gcsUri === undefined) return refuse(`${path}.bytesBase64Encoded`, "must be an image as base64; it is missing");
  if (/^https?:\/\//i.test(gcsUri)) return { url: gcsUri };
  return refuse(
    `${path}.gcsUri`,
    "must be an https address: buckets cannot be read here; send bytesBase64Encoded instead",
  );
}
