import { GatewayError } from "../../canon/error.ts";
import type { InlineImage } from "../../media/image.ts";
import { MediaFetchError } from "../../wire/media-fetch.ts";
import type { Gateway } from "../gateway.ts";

/** An address that a client gave, and where in its request it stands. */
export interface NamedInput {
  url: string;
  path: string;
}

/** An image that a client named by its address (S12). */
export async function fetchInput(
  { url, path }: NamedInput,
  gateway: Gateway,
  signal: AbortSignal,
): Promise<InlineImage> {
  try {
    const { bytes, mimeType } = await gateway.fetchMedia(url, { signal });
    return { mimeType, base64: Buffer.from(bytes).toString("base64") };
  } catch (error) {
    if (!(error instanceof MediaFetchError)) throw error;
    const message = `${url.slice(0, 200)} could not be fetched: ${error.reason}. Give a public https address, or the image itself.`;
    throw new GatewayError("invalid_request", message, { path, cause: error });
  }
}
