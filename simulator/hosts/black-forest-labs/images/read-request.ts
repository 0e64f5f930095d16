import { isObject, type Json, type JsonObject } from "../../../json.ts";
import { faultIn } from "../../../media/field-rules.ts";
import { givenImage } from "../../../media/given-image.ts";
import { parseSize, sizeOfArea } from "../../../media/image-size.ts";
import { seedOf } from "../../../media/seed-of.ts";
import type { ImageSize } from "../../../sniff-image.ts";
import { detailError, unprocessable } from "../errors.ts";
import { type FluxModel, fluxModel, INPUT_FIELDS } from "./models.ts";

export interface FluxRequest {
  model: string;
  prompt: string;
  size: ImageSize;
  seed: number;
  format: "jpeg" | "png";
  inputs: number;
  /** Megapixels of the input images. */
  inputMegapixels: number;
}

const IMAGE_FIELDS = [...INPUT_FIELDS, "image", "mask", "image_prompt"];

const amount = (value: Json | undefined): number => (typeof value === "number" ? value : 0);

function readSize(body: JsonObject, model: FluxModel, given: readonly ImageSize[]): ImageSize {
  const own = sizeOfArea(given[0] ?? { width: 1, height: 1 }, model.pixels);
  if (body["image"] !== undefined && given[0] !== undefined) {
    const width = given[0].width + amount(body["left"]) + amount(body["right"]);
    const height = given[0].height + amount(body["top"]) + amount(body["bottom"]);
    return { width: Math.min(4096, Math.max(64, width)), height: Math.min(4096, Math.max(64, height)) };
  }
  const shape = parseSize(String(body["aspect_ratio"] ?? ""), ":");
  if (shape !== undefined) return sizeOfArea(shape, model.pixels);
  return { width: amount(body["width"]) || own.width, height: amount(body["height"]) || own.height };
}

/** What is asked for, or the refusal of it. */
export function readRequest(name: string, body: Json | undefined): FluxRequest {
  const model = fluxModel(name);
  if (model === undefined) throw detailError(404, "Not Found");
  if (!isObject(body)) throw unprocessable({ field: "", kind: "wrong", message: "The body must be a JSON object." });
  const fault = faultIn(body, model.rules, model.required);
  if (fault !== undefined) throw unprocessable(fault);
  const images = IMAGE_FIELDS.flatMap((field) => {
    const given = body[field];
    return typeof given === "string" ? [givenImage(given, ["bare base64", "data URL"])] : [];
  });
  const sizes = images.flatMap((image) => (image?.size === undefined ? [] : [image.size]));
  const prompt = typeof body["prompt"] === "string" ? body["prompt"] : "";
  return {
    model: name,
    prompt,
    size: readSize(body, model, sizes),
    seed: typeof body["seed"] === "number" ? body["seed"] : seedOf(prompt),
    format: body["output_format"] === "png" ? "png" : "jpeg",
    inputs: images.length,
    inputMegapixels: sizes.reduce((sum, { width, height }) => sum + (width * height) / 1_000_000, 0),
  };
}
