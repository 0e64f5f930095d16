import { GatewayError } from "../../canon/error.ts";
import { checkImages } from "../../media/check-images.ts";
import { type ImageRequest, withFetched } from "../../media/image-request.ts";
import type { Gateway } from "../gateway.ts";
import { fetchInput } from "./fetch-input.ts";

/** No model accepts more, and each one is held in memory. */
const MAX_LINKS = 20;

/** Fetches inputs that were given by URL, under the rules for foreign URLs (S12), and checks all of them. */
export async function withImages(request: ImageRequest, gateway: Gateway, signal: AbortSignal): Promise<ImageRequest> {
  const { links, inputPaths, paths } = request;
  const named = links.map(({ url, position }) => ({
    url,
    path: position === "mask" ? paths.mask : (inputPaths[position] ?? paths.inputs),
  }));
  if (named.length > MAX_LINKS) {
    const message = `${named.length} images are given by URL; at most ${MAX_LINKS} are fetched per request.`;
    throw new GatewayError("invalid_request", message, { path: paths.inputs });
  }
  const images = await Promise.all(named.map((one) => fetchInput(one, gateway, signal)));
  return checkImages(withFetched(request, images));
}
