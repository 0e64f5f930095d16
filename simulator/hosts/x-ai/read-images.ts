import type { Json } from "../../json.ts";
import { type GivenImage, givenImage } from "../../media/given-image.ts";
import { refuseUnknown } from "../openai/request-fields.ts";
import { missing, requireArray, requireObject, requireString } from "../openai/text/check.ts";
import { invalid } from "../openai/text/errors.ts";

/** `{ url, type? }`, where the URL may hold the bytes. */
export function readImage(value: Json | undefined, param: string): GivenImage {
  const given = requireObject(value, param);
  refuseUnknown(Object.keys(given), ["url", "type"]);
  if (given.type !== undefined && given.type !== "image_url") {
    throw invalid(`${param}.type must be "image_url".`, param, "invalid_value");
  }
  const image = givenImage(requireString(given.url, `${param}.url`), ["data URL"]);
  if (image === undefined || image.mimeType === "image/gif") {
    throw invalid(`${param}.url is neither an image in a data URL nor the URL of one.`, param, "invalid_image");
  }
  return image;
}

export function readImages(value: Json | undefined, param: string, max: number): GivenImage[] {
  const list = requireArray(value, param);
  if (list.length === 0) throw missing(param);
  if (list.length > max) {
    throw invalid(`${param} has ${list.length} items; at most ${max} are supported.`, param, "invalid_value");
  }
  return list.map((one, at) => readImage(one, `${param}[${at}]`));
}
