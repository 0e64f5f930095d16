import type { FieldNote } from "../canon/receipt.ts";
import type { ImageField } from "./fit-image-call.ts";
import type { InlineImage } from "./image.ts";
import type { ImageCall } from "./image-call.ts";

/** What a client asked for, whichever of the addresses for images it used. */
export interface ImageRequest {
  call: ImageCall;
  /** What each canonical field is called in this client's request. */
  paths: Readonly<Record<ImageField, string>>;
  /** Where each input stands in the client's request, those of `links` included. */
  inputPaths: readonly string[];
  /** Images that were given by their address and are still to be fetched. */
  links: readonly ImageLink[];
  /** It came to an address for edits, and is answered in the words of one. */
  edit: boolean;
  stream: boolean;
  partialImages: number;
  notes: FieldNote[];
}

export interface ImageLink {
  url: string;
  /** Its place among the inputs once all of them are there. In rising order. */
  place: number | "mask";
}

/** The request with the images of its links, in their order, put where they belong. */
export function withFetched(request: ImageRequest, images: readonly InlineImage[]): ImageRequest {
  const inputs = [...request.call.inputs];
  let mask = request.call.mask;
  for (const [index, { place }] of request.links.entries()) {
    const image = images[index];
    if (image === undefined) continue;
    if (place === "mask") mask = image;
    else inputs.splice(place, 0, image);
  }
  return { ...request, call: { ...request.call, inputs, ...(mask === undefined ? {} : { mask }) }, links: [] };
}
