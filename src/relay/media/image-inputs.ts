import { GatewayError } from "../../canon/error.ts";
import { checkImages } from "../../media/check-images.ts";
import { type ImageRequest, withFetched } from "../../media/image-request.ts";
import type { Gateway } from "../gateway.ts";
import { fetchInput } from "./fetch-input.ts";

/** No model takes more, and each is held in memory. */
const MAX_LINKS = 20;

/** Inputs that were given by their address are fetched under the rules for such (S12); then all of them are looked at. */
export async function withImages(request: ImageRequest, gateway: Gateway, signal: AbortSignal): Promise<ImageRequest> {
  const { links, inputPaths, paths } = request;
  const named = links.map(({ url, place }) => ({
    url,
    path: place === "mask" ? paths.mask : (inputPaths[place] ?? paths.inputs),
  }));
  if (named.length > MAX_LINKS) {
    const message = `${named.length} images are given by their address; at most ${MAX_LINKS} are fetched for one call.`;
    throw new GatewayError("invalid_request", message, { path: paths.inputs });
  }
  const images = await Promise.all(named.map((one) => fetchInput(one, gateway, signal)));
  return checkImages(withFetched(request, images));
}
