import { GatewayError } from "../canon/error.ts";
import { refuse } from "../dialects/check.ts";
import { convertPicture } from "./convert-picture.ts";
import type { ImageRequest } from "./image-request.ts";
import { inspectPicture, type PictureFacts } from "./inspect-picture.ts";
import type { VideoRequest } from "./operations/decode-video.ts";
import type { Picture } from "./picture.ts";

const TYPES = ["image/png", "image/jpeg", "image/webp", "image/gif"];

/**
 * Looks into every picture of a request whose links have been fetched. Each must be what hosts take, and its type becomes
 * what its bytes say, whatever the client called it.
 */
export async function checkPictures(request: ImageRequest): Promise<ImageRequest> {
  const { call, inputPaths, paths } = request;
  const checked = await Promise.all(
    call.inputs.map((input, index) => checkPicture(input, inputPaths[index] ?? paths.inputs)),
  );
  const inputs = checked.map(({ picture }) => picture);
  if (call.mask === undefined) return { ...request, call: { ...call, inputs } };
  const mask = await checkPicture(call.mask, paths.mask);
  checkMask(mask.facts, checked[0]?.facts, paths.mask);
  return { ...request, call: { ...call, inputs, mask: mask.picture } };
}

/** The same for the frames of a film. */
export async function checkFrames(request: VideoRequest): Promise<VideoRequest> {
  const { call, paths } = request;
  const image = call.image && (await checkPicture(call.image, paths.image));
  const lastFrame = call.lastFrame && (await checkPicture(call.lastFrame, paths.lastFrame));
  return {
    ...request,
    call: { ...call, ...(image && { image: image.picture }), ...(lastFrame && { lastFrame: lastFrame.picture }) },
  };
}

async function checkPicture(picture: Picture, path: string): Promise<{ picture: Picture; facts: PictureFacts }> {
  let facts: PictureFacts | undefined;
  try {
    facts = await inspectPicture(picture.base64);
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    throw new GatewayError("invalid_request", `${path}: ${error.message}`, { path });
  }
  if (facts === undefined || !TYPES.includes(facts.mimeType)) {
    const found = facts === undefined ? "its bytes are no image that can be read" : `it is ${facts.mimeType}`;
    return refuse(path, `must be an image as PNG, JPEG, WebP or GIF; ${found}`);
  }
  const read = { mimeType: facts.mimeType, base64: picture.base64 };
  // Hardly a host takes a GIF, and a still picture is what all of them want of it.
  return { picture: facts.mimeType === "image/gif" ? await convertPicture(read, "image/png") : read, facts };
}

/** Contract 2.4: where the mask is transparent, the first picture is edited. */
function checkMask(mask: PictureFacts, first: PictureFacts | undefined, path: string): void {
  if (!mask.alpha) {
    refuse(
      path,
      "must be a PNG or WebP with an alpha channel: where it is transparent, the image is edited; it has none",
    );
  }
  if (first !== undefined && (mask.width !== first.width || mask.height !== first.height)) {
    const wanted = `${first.width}x${first.height}`;
    refuse(path, `must be as large as the first image, ${wanted}; it is ${mask.width}x${mask.height}`);
  }
}
