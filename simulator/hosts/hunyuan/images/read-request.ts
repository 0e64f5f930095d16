import type { JsonObject } from "../../../json.ts";
import {
  anyText,
  type FieldRule,
  type FieldRules,
  faultIn,
  listOf,
  oneOf,
  recordOf,
  text,
  wholeIn,
} from "../../../media/field-rules.ts";
import { givenImage } from "../../../media/given-image.ts";
import { parseSize } from "../../../media/image-size.ts";
import { seedOf } from "../../../media/seed-of.ts";
import type { ImageSize } from "../../../sniff-image.ts";
import { tencentError } from "../errors.ts";

export interface HunyuanRequest {
  action: string;
  prompt: string;
  size: ImageSize;
  seed: number;
  count: number;
  inputs: number;
  logo: boolean;
  revised: boolean;
  encoded: boolean;
}

const MIN_SIDE = 640;
const MAX_SIDE = 1408;
const isWithin = (pixels: number): boolean => pixels >= MIN_SIDE && pixels <= MAX_SIDE;

const resolution: FieldRule = (value, path) => {
  const size = typeof value === "string" ? parseSize(value, ":") : undefined;
  return size !== undefined && isWithin(size.width) && isWithin(size.height)
    ? undefined
    : `${path} must be such as 1024:1024, with sides from ${MIN_SIDE} to ${MAX_SIDE}.`;
};

const image: FieldRule = (value, path) =>
  typeof value === "string" && givenImage(value, ["bare base64", "data URL"]) !== undefined
    ? undefined
    : `${path} must be an image.`;

const yesOrNo = oneOf(0, 1);
const SHARED: FieldRules = {
  Prompt: text(1024),
  Resolution: resolution,
  Seed: wholeIn(1, 4_294_967_295),
  LogoAdd: yesOrNo,
  LogoParam: (value, path) => (typeof value === "object" && value !== null ? undefined : `${path} must be an object.`),
};

/** By the action that asks for images. */
const ASKING: Readonly<Record<string, FieldRules>> = {
  SubmitTextToImageJob: { ...SHARED, Revise: yesOrNo, Images: listOf(image, 1, 3) },
  TextToImageLite: { ...SHARED, NegativePrompt: anyText, RspImgType: oneOf("base64", "url") },
  SubmitHunyuanImageJob: {
    ...SHARED,
    Revise: yesOrNo,
    NegativePrompt: anyText,
    Style: anyText,
    Num: wholeIn(1, 4),
    Clarity: oneOf("x2", "x4"),
    ContentImage: recordOf({ ImageUrl: image, ImageBase64: image }),
  },
};

/** What is asked for, or the refusal of it. */
export function readRequest(action: string, body: JsonObject): HunyuanRequest {
  const fault = faultIn(body, ASKING[action] ?? {}, ["Prompt"]);
  if (fault !== undefined) {
    const codes = { missing: "MissingParameter", unknown: "UnknownParameter", wrong: "InvalidParameterValue" };
    throw tencentError(codes[fault.kind], fault.message);
  }
  const prompt = String(body["Prompt"]);
  const revised = action !== "TextToImageLite" && body["Revise"] !== 0;
  const { Seed: seed, Num: count, Images: images } = body;
  return {
    action,
    prompt,
    size: parseSize(String(body["Resolution"] ?? ""), ":") ?? { width: 1024, height: 1024 },
    // A prompt that is rewritten makes the seed worthless, and the host leaves it out.
    seed: typeof seed === "number" && !revised ? seed : seedOf(prompt),
    count: typeof count === "number" ? count : 1,
    inputs: Array.isArray(images) ? images.length : body["ContentImage"] === undefined ? 0 : 1,
    logo: body["LogoAdd"] !== 0,
    revised,
    encoded: body["RspImgType"] !== "url",
  };
}
