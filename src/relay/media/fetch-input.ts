import { GatewayError } from "../../canon/error.ts";
import type { InlineImage } from "../../media/image.ts";
import { MediaFetchError } from "../../wire/media-fetch.ts";
import type { Gateway } from "../gateway.ts";

/** A URL that a client gave, and its path in the request. */
interface LinkedInput {
  url: string;
  path: string;
}

/** Fetches an image that a client gave by its URL (S12). */
export async function fetchInput(
  { url, path }: LinkedInput,
  gateway: Gateway,
  signal: AbortSignal,
): Promise<InlineImage> {
  try {
    const { bytes, mimeType } = await gateway.fetchMedia(url, { signal });
    return { mimeType, base64: Buffer.from(bytes).toString("base64") };
  } catch (error) {
    if (!(error instanceof MediaFetchError)) throw error;
    const message = `${url.slice(0, 200)} could not be fetched: ${error.reason}. Use a public https URL, or send the image itself.`;
    throw new GatewayError("invalid_request", message, { path, cause: error });
  }
}
