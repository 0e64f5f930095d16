import type { JsonObject } from "../../canon/json.ts";
import type { ImageSettings } from "../image-reply.ts";
import type { ImageRequest } from "../image-request.ts";

/** What pictures were made with: as the provider says, else as they were asked for; their format as it is. */
export function encodeSettings({ call }: ImageRequest, settings: ImageSettings = {}, mimeType?: string): JsonObject {
  const { size } = call;
  const asked = size === undefined || size === "auto" ? "auto" : `${size.width}x${size.height}`;
  return {
    background: settings.background ?? call.background ?? "auto",
    output_format: formatOf(mimeType ?? call.outputMimeType) ?? settings.outputFormat ?? "png",
    quality: settings.quality ?? call.quality ?? "auto",
    size: settings.size ?? asked,
  };
}

const formatOf = (mimeType: string | undefined): string | undefined =>
  mimeType?.startsWith("image/") ? mimeType.slice("image/".length) : undefined;
