import type { FieldNote } from "../canon/receipt.ts";
import type { ImageField } from "./fit-image-call.ts";
import type { InlineImage } from "./image.ts";
import type { ImageCall } from "./image-call.ts";

/** A client's request for images, whichever endpoint it came to. */
export interface ImageRequest {
  call: ImageCall;
  /** The path of each canonical field in this client's request. */
  paths: Readonly<Record<ImageField, string>>;
  /** The path of each input in the client's request, including those of `links`. */
  inputPaths: readonly string[];
  /** Images given by URL that are still to be fetched. */
  links: readonly ImageLink[];
  /** It came to an endpoint for edits, and its stream has the event names of one. */
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
