import type { FieldNote } from "../canon/receipt.ts";
import type { ImageField } from "./fit-image-call.ts";
import type { InlineImage } from "./image.ts";
import type { ImageCall } from "./image-call.ts";

/** A client's request for images, from any endpoint. */
export interface ImageRequest {
  call: ImageCall;
  /** The path of each canonical field in this client's request. */
  paths: Readonly<Record<ImageField, string>>;
  /** The path of each input in the client's request, including those of `links`. */
  inputPaths: readonly string[];
  /** Images given by URL that are still to be fetched. */
  links: readonly ImageLink[];
  /** The request was sent to an edit endpoint, so its stream uses the event names of edits. */
  edit: boolean;
  stream: boolean;
  partialImages: number;
  notes: FieldNote[];
}

export interface ImageLink {
  url: string;
  /** Its position among all inputs. In ascending order. */
  position: number | "mask";
}

/** The request with the images that were fetched for its links, each in its position. */
export function withFetched(request: ImageRequest, images: readonly InlineImage[]): ImageRequest {
  const inputs = [...request.call.inputs];
  let mask = request.call.mask;
  for (const [index, { position }] of request.links.entries()) {
    const image = images[index];
    if (image === undefined) continue;
    if (position === "mask") mask = image;
    else inputs.splice(position, 0, image);
  }
  return { ...request, call: { ...request.call, inputs, ...(mask === undefined ? {} : { mask }) }, links: [] };
}
