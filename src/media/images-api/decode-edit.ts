import { refuse } from "../../dialects/reading/check.ts";
import type { Form, FormEntry } from "../../wire/read-multipart.ts";
import type { ImageRequest } from "../image-request.ts";
import { Inputs } from "../inputs.ts";
import { readImageText } from "../read-image.ts";
import { decodeEditFields } from "./decode-images.ts";

type FormFile = Extract<FormEntry, { bytes: Uint8Array }>;

/** A form has only text; these fields are numbers (H12). */
const NUMBERS = ["n", "output_compression", "partial_images", "seed", "guidance_scale"];
const BOOLEANS = ["stream", "watermark"];
const NUMBER = /^-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?$/;
/** One image has the bare name, several `image[]` or, from some clients, numbered names. */
const IMAGE_NAME = /^images?(?:\[[0-9]*\])?$/;

/** Reads the form of `images/edits`, with its parts in any order. */
export function decodeEdit(form: Form): ImageRequest {
  const inputs = new Inputs();
  const fields = new Map<string, unknown>();
  for (const entry of form) {
    const { name } = entry;
    if (IMAGE_NAME.test(name)) inputs.add(sourceOf(entry), name);
    else if (name === "mask" || name === "mask[]") inputs.setMask(sourceOf(entry), name);
    else if ("bytes" in entry) refuse(name, "must be text; it is a file");
    else if (fields.has(name)) refuse(name, "is given more than once");
    else if (entry.value !== "" || name === "prompt") fields.set(name, typed(name, entry.value));
  }
  return decodeEditFields(Object.fromEntries(fields), inputs);
}

function sourceOf(entry: FormEntry) {
  return "bytes" in entry ? imageOf(entry) : readImageText(entry.value, entry.name);
}

function imageOf({ name, mimeType, bytes }: FormFile) {
  if (bytes.length === 0) refuse(name, "must be an image; the file is empty");
  return { mimeType, base64: Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("base64") };
}

/** A value that is not of its type stays text, for the check to report. */
function typed(name: string, value: string): unknown {
  if (NUMBERS.includes(name) && NUMBER.test(value)) return Number(value);
  if (BOOLEANS.includes(name) && /^(?:true|false)$/i.test(value)) return value.toLowerCase() === "true";
  return value;
}
