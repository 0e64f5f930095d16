import type { Exchange } from "../../exchange.ts";
import { isObject, type Json, type JsonObject } from "../../json.ts";
import { Fields } from "../../media/fields.ts";
import { isPublicUrl } from "../../media/given-image.ts";
import { parseSize, sizeOfArea, sizeOfShortSide } from "../../media/image-size.ts";
import { names } from "../../names.ts";
import type { ImageSize } from "../../sniff-image.ts";
import { LUMA_REFUSALS } from "./refusals.ts";

const VIDEO_MODELS = /^(?:standard|ray-1-6|ray-2|ray-flash-2|ray-3(?:[.-][\w-]+)?|ray-flash-3)$/;
const IMAGE_MODELS = /^(?:standard|photon-1|photon-flash-1)$/;
const VIDEO = names(
  "generation_type prompt model resolution duration aspect_ratio loop keyframes concepts callback_url",
);
const IMAGE = names(
  "generation_type prompt model aspect_ratio format image_ref style_ref character_ref modify_image_ref callback_url",
);
const RATIOS = ["1:1", "16:9", "9:16", "4:3", "3:4", "21:9", "9:21"] as const;
const SHORT_SIDES = { "540p": 540, "720p": 720, "1080": 1080, "1080p": 1080, "4k": 2160 } as const;
const RESOLUTIONS = Object.keys(SHORT_SIDES) as (keyof typeof SHORT_SIDES)[];
const SECONDS = { "5s": 5, "9s": 9, "10s": 10 } as const;
const DURATIONS = Object.keys(SECONDS) as (keyof typeof SECONDS)[];
const MAX_REFERENCES = 4;
const WIDE = { width: 16, height: 9 };

export interface Generation extends ImageSize {
  kind: "video" | "image";
  prompt: string;
  model: string;
  /** Of a video. */
  seconds: number;
  format: "jpeg" | "png";
  inputs: number;
  /** The original request, which every response repeats. */
  original: JsonObject;
}

/** Only what lies on the public web: bytes in the request are refused. */
function checkUrl(holder: Fields): void {
  if (!isPublicUrl(holder.requiredText("url"))) throw holder.refuse("url", "a public URL");
}

function checkReferences(body: Fields, name: string): number {
  const references = body.list(name, MAX_REFERENCES);
  for (const [at, value] of references.entries()) {
    const reference = new Fields(value, `${name}[${at}]`, names("url weight"), LUMA_REFUSALS);
    checkUrl(reference);
    reference.number("weight", 0, 1);
  }
  return references.length;
}

function checkCharacters(body: Fields): number {
  const value = body.value("character_ref");
  if (value === undefined) return 0;
  if (!isObject(value)) throw body.refuse("character_ref", "an object of identities");
  let count = 0;
  for (const [name, member] of Object.entries(value)) {
    const identity = new Fields(member, `character_ref.${name}`, names("images"), LUMA_REFUSALS);
    const images = identity.list("images", MAX_REFERENCES);
    if (!images.every((image) => typeof image === "string" && isPublicUrl(image))) {
      throw identity.refuse("images", "a list of public URLs");
    }
    count += images.length;
  }
  return count;
}

function checkKeyframes(body: Fields): number {
  const keyframes = body.object("keyframes", names("frame0 frame1"));
  let count = 0;
  for (const name of ["frame0", "frame1"]) {
    const frame = keyframes?.object(name, names("type url id"));
    if (frame === undefined) continue;
    count += 1;
    const type = frame.choice("type", ["image", "generation"]);
    if (type === undefined) throw LUMA_REFUSALS.missing(`keyframes.${name}.type`);
    if (type === "image") checkUrl(frame);
    else frame.requiredText("id");
  }
  return count;
}

function ratioOf(body: Fields): ImageSize {
  return parseSize(body.choice("aspect_ratio", RATIOS) ?? "16:9", ":") ?? WIDE;
}

function readModel(body: Fields, exchange: Exchange, models: RegExp): string {
  const model = body.requiredText("model");
  exchange.countModel(model);
  if (!models.test(model)) throw body.refuse("model", "a model of this endpoint");
  return model;
}

function originalOf(body: Json | undefined): JsonObject {
  return isObject(body) ? body : {};
}

export function readVideo(exchange: Exchange): Generation {
  const body = new Fields(exchange.body, "", VIDEO, LUMA_REFUSALS);
  const model = readModel(body, exchange, VIDEO_MODELS);
  body.choice("generation_type", ["video"]);
  const inputs = checkKeyframes(body);
  const prompt = inputs === 0 ? body.requiredText("prompt") : (body.text("prompt") ?? "");
  body.flag("loop");
  body.text("callback_url");
  for (const [at, concept] of body.list("concepts").entries()) {
    new Fields(concept, `concepts[${at}]`, names("key"), LUMA_REFUSALS).requiredText("key");
  }
  return {
    kind: "video",
    prompt,
    model,
    ...sizeOfShortSide(ratioOf(body), SHORT_SIDES[body.choice("resolution", RESOLUTIONS) ?? "720p"]),
    seconds: SECONDS[body.choice("duration", DURATIONS) ?? "5s"],
    format: "jpeg",
    inputs,
    original: originalOf(exchange.body),
  };
}

export function readImage(exchange: Exchange): Generation {
  const body = new Fields(exchange.body, "", IMAGE, LUMA_REFUSALS);
  const model = readModel(body, exchange, IMAGE_MODELS);
  body.choice("generation_type", ["image"]);
  body.text("callback_url");
  const references = checkReferences(body, "image_ref") + checkReferences(body, "style_ref") + checkCharacters(body);
  const modified = body.object("modify_image_ref", names("url weight"));
  if (modified !== undefined) checkUrl(modified);
  modified?.number("weight", 0, 1);
  return {
    kind: "image",
    prompt: body.requiredText("prompt"),
    model,
    ...sizeOfArea(ratioOf(body), 1_048_576),
    seconds: 0,
    format: body.choice("format", ["jpg", "png"]) === "png" ? "png" : "jpeg",
    inputs: references + (modified === undefined ? 0 : 1),
    original: originalOf(exchange.body),
  };
}
