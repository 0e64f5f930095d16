import type { HostError } from "../../../host-error.ts";
import type { Json } from "../../../json.ts";
import { type GivenImage, givenImage, imageOfBytes } from "../../../media/given-image.ts";
import type { FormPart } from "../../../read-form.ts";
import { duplicate, type Fields, refuseUnknown } from "../request-fields.ts";
import { missing, requireArray, requireObject, requireString, wrongType } from "../text/check.ts";
import { invalid, openaiError } from "../text/errors.ts";

const MAX_IMAGES = 16;
const MAX_IMAGE_BYTES = 50 * 1024 * 1024;
const MAX_MASK_BYTES = 4 * 1024 * 1024;
const IMAGE_TYPES = ["image/png", "image/jpeg", "image/webp"];
/** The byte of a PNG that names its colours: grey, true colour and a palette may come without transparency. */
const COLOURS_AT = 25;
const COLOURS_WITHOUT_ALPHA = [0, 2];

function invalidImage(message: string, param: string): HostError {
  return openaiError(400, message, { type: "image_generation_user_error", param, code: "invalid_image_file" });
}

/** A file of a form. It must be called what it is: a nameless stream of octets is refused unseen. */
export function imageInFile(file: FormPart, param: string): GivenImage {
  const declared = file.mimeType.replace("image/jpg", "image/jpeg");
  if (!IMAGE_TYPES.includes(declared)) {
    throw invalid(
      `Invalid file '${param}': unsupported mimetype ('${declared}'). Supported are 'image/jpeg', 'image/png', and 'image/webp'.`,
      param,
      "unsupported_file_mimetype",
    );
  }
  if (file.bytes.length >= MAX_IMAGE_BYTES)
    throw invalidImage(`The file must be smaller than ${MAX_IMAGE_BYTES} bytes.`, param);
  const image = imageOfBytes(file.bytes);
  if (image?.mimeType !== declared) throw invalidImage("Invalid image data.", param);
  return image;
}

/** A reference of the JSON form: a URL, or the id of a file. The simulator keeps no files. */
export function imageInReference(value: Json | undefined, param: string): GivenImage {
  const reference = requireObject(value, param);
  refuseUnknown(Object.keys(reference), ["image_url", "file_id"]);
  if (reference.file_id !== undefined) {
    throw openaiError(404, `No such File object: ${requireString(reference.file_id, `${param}.file_id`)}`, {
      param: `${param}.file_id`,
    });
  }
  const image = givenImage(requireString(reference.image_url, `${param}.image_url`), ["data URL"]);
  const known = image?.mimeType === undefined || IMAGE_TYPES.includes(image.mimeType);
  if (image === undefined || !known) throw invalidImage("Invalid image data.", `${param}.image_url`);
  return image;
}

function checkMask(mask: GivenImage, first: GivenImage | undefined, param: string): void {
  if (mask.bytes === undefined) return;
  if (mask.mimeType !== "image/png") throw invalidImage("The mask must be a PNG.", param);
  if (mask.bytes.length >= MAX_MASK_BYTES) throw invalidImage("The mask must be smaller than 4 MB.", param);
  if (COLOURS_WITHOUT_ALPHA.includes(mask.bytes[COLOURS_AT] ?? 0)) {
    throw invalidImage("The mask must have an alpha channel: what is transparent in it is edited.", param);
  }
  const [own, wanted] = [mask.size, first?.size];
  if (wanted !== undefined && (own?.width !== wanted.width || own?.height !== wanted.height)) {
    throw invalidImage("The mask must have the size of the first image.", param);
  }
}

function inForm(files: ReadonlyMap<string, readonly FormPart[]>, single: boolean): GivenImage[] {
  const [one = [], several = []] = [files.get("image"), files.get("image[]")];
  if (one.length > 1) throw duplicate("image");
  if (single && several.length > 0) {
    throw invalid("This model takes one image, as 'image'.", "image[]", "invalid_value");
  }
  return [
    ...one.map((file) => imageInFile(file, "image")),
    ...several.map((file, at) => imageInFile(file, `image[${at}]`)),
  ];
}

/** The input images of an edit; the mask applies to the first. */
export function readInputs({ values, files }: Fields, single: boolean): GivenImage[] {
  const param = files === undefined ? "images" : "image";
  if (files !== undefined) {
    refuseUnknown(files.keys(), ["image", "image[]", "mask"]);
    for (const name of ["image", "image[]", "mask"]) {
      if (values[name] !== undefined) throw wrongType(values[name], "file", name);
    }
  }
  const images =
    files === undefined
      ? requireArray(values.images, param).map((one, at) => imageInReference(one, `images[${at}]`))
      : inForm(files, single);
  if (images.length === 0) throw missing(param);
  if (images.length > (single ? 1 : MAX_IMAGES)) {
    throw invalid(
      `Invalid '${param}': too many images. Expected at most ${single ? 1 : MAX_IMAGES}, but got ${images.length}.`,
      param,
      "array_above_max_length",
    );
  }
  const [mask, second] = files?.get("mask") ?? [];
  if (second !== undefined) throw duplicate("mask");
  if (mask !== undefined) checkMask(imageInFile(mask, "mask"), images[0], "mask");
  if (files === undefined && values.mask !== undefined && values.mask !== null) {
    checkMask(imageInReference(values.mask, "mask"), images[0], "mask.image_url");
  }
  return images;
}
