import type { JsonObject } from "../../base/json.ts";
import type { ImageSettings } from "../image-reply.ts";
import type { ImageRequest } from "../image-request.ts";

/** Contract 2.14 has one vocabulary for quality; some models take the other. */
const QUALITY_WORDS: ReadonlyMap<string, string> = new Map([
  ["standard", "medium"],
  ["hd", "high"],
]);

/**
 * The settings of generated images: as the provider reports them, or else as they were sent; the format is the real one. The
 * request is reduced to what the model accepts, because an option that was not sent is not a setting.
 */
export function encodeSettings({ call }: ImageRequest, settings: ImageSettings = {}, mimeType?: string): JsonObject {
  const { size, quality = "auto" } = call;
  const sent = size === undefined || size === "auto" ? "auto" : `${size.width}x${size.height}`;
  return {
    background: settings.background ?? call.background ?? "auto",
    output_format: formatOf(mimeType ?? call.outputMimeType) ?? settings.outputFormat ?? "png",
    quality: settings.quality ?? QUALITY_WORDS.get(quality) ?? quality,
    size: settings.size ?? sent,
  };
}

const formatOf = (mimeType: string | undefined): string | undefined =>
  mimeType?.startsWith("image/") ? mimeType.slice("image/".length) : undefined;
