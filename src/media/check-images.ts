import { GatewayError } from "../canon/error.ts";
import { refuse } from "../dialects/reading/check.ts";
import { convertImage } from "./convert-image.ts";
import type { InlineImage } from "./image.ts";
import type { ImageRequest } from "./image-request.ts";
import { type ImageFacts, inspectImage } from "./inspect-image.ts";
import type { VideoRequest } from "./video-request.ts";

const TYPES = ["image/png", "image/jpeg", "image/webp", "image/gif"];

/**
 * Checks every image of a request whose links have been fetched. Each must have a type that hosts accept. The bytes decide the
 * type, not what the client declares.
 */
export async function checkImages(request: ImageRequest): Promise<ImageRequest> {
  const { call, inputPaths, paths } = request;
  const checked = await Promise.all(
    call.inputs.map((input, index) => checkImage(input, inputPaths[index] ?? paths.inputs)),
  );
  const inputs = checked.map(({ image }) => image);
  if (call.mask === undefined) return { ...request, call: { ...call, inputs } };
  const mask = await checkImage(call.mask, paths.mask);
  checkMask(mask.facts, checked[0]?.facts, paths.mask);
  return { ...request, call: { ...call, inputs, mask: mask.image } };
}

/** The same for the frames of a video. */
export async function checkFrames(request: VideoRequest): Promise<VideoRequest> {
  const { call, paths } = request;
  const first = call.image && (await checkImage(call.image, paths.image));
  const last = call.lastFrame && (await checkImage(call.lastFrame, paths.lastFrame));
  return {
    ...request,
    call: { ...call, ...(first && { image: first.image }), ...(last && { lastFrame: last.image }) },
  };
}

async function checkImage(image: InlineImage, path: string): Promise<{ image: InlineImage; facts: ImageFacts }> {
  let facts: ImageFacts | undefined;
  try {
    facts = await inspectImage(image.base64);
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    throw new GatewayError("invalid_request", `${path}: ${error.message}`, { path });
  }
  if (facts === undefined || !TYPES.includes(facts.mimeType)) {
    const found = facts === undefined ? "it cannot be read as an image" : `it is ${facts.mimeType}`;
    return refuse(path, `must be a PNG, JPEG, WebP or GIF image; ${found}`);
  }
  const read = { mimeType: facts.mimeType, base64: image.base64 };
  // Hardly any host accepts GIF, and all of them need a still image.
  return { image: facts.mimeType === "image/gif" ? await convertImage(read, "image/png") : read, facts };
}

/** Contract 2.4: the transparent part of the mask is the part to edit. */
function checkMask(mask: ImageFacts, first: ImageFacts | undefined, path: string): void {
  if (!mask.alpha) {
    refuse(path, "must be a PNG or WebP image with an alpha channel: transparent areas are edited; it has none");
  }
  if (first !== undefined && (mask.width !== first.width || mask.height !== first.height)) {
    const wanted = `${first.width}x${first.height}`;
    refuse(path, `must have the same size as the first image, ${wanted}; it is ${mask.width}x${mask.height}`);
  }
}
