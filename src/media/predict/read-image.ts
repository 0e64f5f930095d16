import { refuse } from "../../dialects/reading/check.ts";
import { type ImageSource, inlineImage } from "../read-image.ts";
import type { PredictImage } from "./schema.ts";

/** An image of this protocol: its bytes, or a URL. The gateway has no access to buckets. */
export function readPredictImage(image: PredictImage | undefined, path: string): ImageSource {
  const { bytesBase64Encoded: base64, gcsUri, mimeType } = image ?? {};
  if (base64 !== undefined) return inlineImage(base64, mimeType, `${path}.bytesBase64Encoded`);
  if (gcsUri === undefined)
    return refuse(`${path}.bytesBase64Encoded`, "must be a base64-encoded image; it is missing");
  if (/^https?:\/\//i.test(gcsUri)) return { url: gcsUri };
  return refuse(
    `${path}.gcsUri`,
    "must be an https URL, because the gateway cannot read buckets; send bytesBase64Encoded instead",
  );
}
