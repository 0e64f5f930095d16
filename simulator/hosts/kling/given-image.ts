import type { FieldRule } from "../../media/field-rules.ts";
import { type GivenImage, givenImage } from "../../media/given-image.ts";

/** A URL, or base64 without a prefix: data URLs are refused here. */
export const image: FieldRule = (value, path) =>
  typeof value === "string" && givenImage(value, ["bare base64"]) !== undefined
    ? undefined
    : `${path} must be the URL of an image, or an image in base64 without a data prefix.`;

export function imageOf(value: unknown): GivenImage | undefined {
  return typeof value === "string" ? givenImage(value, ["bare base64"]) : undefined;
}
