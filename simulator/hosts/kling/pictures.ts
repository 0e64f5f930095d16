import type { FieldRule } from "../../media/field-rules.ts";
import { type GivenPicture, givenPicture } from "../../media/given-picture.ts";

/** An address, or base64 without a prefix: data addresses are refused here. */
export const picture: FieldRule = (value, path) =>
  typeof value === "string" && givenPicture(value, ["bare base64"]) !== undefined
    ? undefined
    : `${path} must be the address of a picture, or a picture in base64 without a data prefix.`;

export function pictureOf(value: unknown): GivenPicture | undefined {
  return typeof value === "string" ? givenPicture(value, ["bare base64"]) : undefined;
}
