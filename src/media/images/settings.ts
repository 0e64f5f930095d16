import type { JsonObject } from "../../base/json.ts";
import type { ImageSettings } from "../image-reply.ts";
import type { ImageRequest } from "../image-request.ts";

/** Contract 2.14 knows one family of words for quality; some models are told the other. */
const QUALITY_WORDS: ReadonlyMap<string, string> = new Map([
  ["standard", "medium"],
  ["hd", "high"],
]);

/**
 * What images were made with: as the provider says, else as it was told; their format as it is. The request is one that
 * was cut to what the model hears: a option that nobody heard is no setting.
 */
export function encodeSettings({ call }: ImageRequest, settings: ImageSettings = {}, mimeType?: string): JsonObject {
  const { size, quality = "auto" } = call;
  const told = size === undefined || size === "auto" ? "auto" : `${size.width}x${size.height}`;
  return {
    background: settings.background ?? call.background ?? "auto",
    output_format: formatOf(mimeType ?? call.outputMimeType) ?? settings.outputFormat ?? "png",
    quality: settings.quality ?? QUALITY_WORDS.get(quality) ?? quality,
    size: settings.size ?? told,
  };
}

const formatOf = (mimeType: string | undefined): string | undefined =>
  mimeType?.startsWith("image/") ? mimeType.slice("image/".length) : undefined;
