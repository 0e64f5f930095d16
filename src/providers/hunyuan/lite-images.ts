import { objectAt, stringAt } from "../../base/json.ts";
import type { ImageAdapter } from "../../media/adapter.ts";
import type { ImageCapabilities } from "../../media/image-capabilities.ts";
import { imageType } from "../media-adapters/image-type.ts";
import { emptyAnswer } from "../media-adapters/media-failure.ts";
import { pickExtras } from "../media-adapters/pick-extras.ts";
import { action, SEEDS } from "./action.ts";
import { readError, readRefusal } from "./errors.ts";

const NAME = "TextToImageLite";

const CAPABILITIES: ImageCapabilities = {
  maxCount: 1,
  perCall: 1,
  takes: ["negativePrompt", "seed", "watermark"],
  seeds: SEEDS,
  sizes: {
    kind: "presets",
    sizes: [
      { width: 1024, height: 1024 },
      { width: 768, height: 1024 },
      { width: 1024, height: 768 },
      { width: 720, height: 1280 },
      { width: 1280, height: 720 },
      { width: 768, height: 1280 },
      { width: 1280, height: 768 },
      { width: 768, height: 768 },
    ],
  },
  maxInputs: 0,
  mask: false,
  formats: ["image/jpeg"],
  compresses: false,
  maxPrompt: 1024,
};

/** The lite model, which answers with the image itself. */
export const liteImages: ImageAdapter = {
  serves: (model) => model === NAME,
  capabilities: () => CAPABILITIES,
  submit: (call, context) => {
    const { pixels, negativePrompt, seed } = call;
    const json = {
      ...pickExtras(call.extras, ["LogoParam"]),
      Prompt: call.prompt,
      LogoAdd: call.watermark ? 1 : 0,
      RspImgType: "base64",
      ...(pixels && { Resolution: `${pixels.width}:${pixels.height}` }),
      ...(negativePrompt !== undefined && { NegativePrompt: negativePrompt }),
      ...(seed !== undefined && { Seed: seed }),
    };
    return action(NAME, json, context);
  },
  readSubmit: ({ body }) => {
    const base64 = stringAt(objectAt(body, "Response"), "ResultImage");
    if (!base64) throw readRefusal(body) ?? emptyAnswer("an image");
    const image = { mimeType: imageType(base64, "image/jpeg"), base64 };
    return { state: "done", reply: { results: [{ kind: "made", image }] } };
  },
  error: readError,
};
