// https://cloud.google.com/vertex-ai/generative-ai/docs/model-reference/imagen-api

import { arrayAt, type JsonObject, stringAt } from "../../base/json.ts";
import { withoutAbsent } from "../../base/without-absent.ts";
import { GatewayError } from "../../canon/error.ts";
import type { ImageAdapter, JobState, MediaAnswer } from "../../media/adapter.ts";
import type { InlineImage, MediaLink } from "../../media/image.ts";
import type { FittedImageCall, ImageOption } from "../../media/image-call.ts";
import type { ImageCapabilities } from "../../media/image-capabilities.ts";
import type { ImageResult, UpstreamImageReply } from "../../media/image-reply.ts";
import { imageType } from "../media-adapters/image-type.ts";
import { emptyAnswer } from "../media-adapters/media-failure.ts";
import { pickExtras } from "../media-adapters/pick-extras.ts";
import { googleError } from "./errors.ts";
import { type GoogleHost, verbPath } from "./host.ts";

const RATIOS = ["1:1", "3:4", "4:3", "9:16", "16:9"];
const SHARED_WISHES: readonly ImageOption[] = [
  "guidanceScale",
  "personGeneration",
  "safetySetting",
  "includeRaiReason",
];
const VERTEX_WISHES: readonly ImageOption[] = [
  ...SHARED_WISHES,
  "negativePrompt",
  "seed",
  "watermark",
  "enhancePrompt",
];
const SEEDS = { min: 0, max: 4_294_967_295 };
const GUIDANCE = { min: 0, max: Number.MAX_SAFE_INTEGER };
const FILTERED = "The provider's safety filter blocked this image.";

/** Whether a model only edits images. */
const edits = (model: string): boolean => model.includes("capability");

/** Imagen, by `predict`. */
export function imagen(host: GoogleHost): ImageAdapter {
  return {
    serves: (model) => model.startsWith("imagen") && (host.name === "vertex" || !edits(model)),
    capabilities: (model) => (edits(model) ? EDITING : { ...GENERATING[host.name], sizes: sizesOf(model) }),
    submit: (call, context) => {
      const editing = edits(context.model);
      return {
        method: "POST",
        url: verbPath(host, context, "predict"),
        body: {
          json: {
            instances: [{ prompt: call.prompt, ...(editing ? { referenceImages: references(call) } : {}) }],
            parameters: {
              ...pickExtras(call.extras, editing ? ["language", "editConfig"] : ["language"]),
              ...parameters(call),
              ...(editing ? { editMode: call.editMode ?? defaultEditMode(call) } : {}),
            },
          },
        },
      };
    },
    readSubmit,
    error: googleError,
  };
}

const EDITING: ImageCapabilities = {
  maxCount: 4,
  perCall: 4,
  takes: [...VERTEX_WISHES.filter((option) => option !== "enhancePrompt"), "editMode"],
  seeds: SEEDS,
  seedExcludesWatermark: true,
  guidance: GUIDANCE,
  sizes: { kind: "ratio", ratios: RATIOS, tiers: [] },
  maxInputs: 1,
  imageOnly: true,
  mask: true,
  maskForm: "white",
  formats: ["image/png", "image/jpeg"],
  compresses: true,
};

const generating = (takes: readonly ImageOption[]): Omit<ImageCapabilities, "sizes"> => ({
  maxCount: 4,
  perCall: 4,
  takes,
  seeds: SEEDS,
  seedExcludesWatermark: true,
  guidance: GUIDANCE,
  maxInputs: 0,
  mask: false,
  formats: ["image/png", "image/jpeg"],
  compresses: true,
});

const GENERATING = { gemini: generating(SHARED_WISHES), vertex: generating(VERTEX_WISHES) };

const sizesOf = (model: string): ImageCapabilities["sizes"] => ({
  kind: "ratio",
  ratios: RATIOS,
  tiers: model.startsWith("imagen-3") ? [] : ["1K", "2K"],
});

function parameters(call: FittedImageCall): JsonObject {
  // A seed is refused together with the watermark, which is on by default.
  const watermark = call.watermark ?? (call.seed === undefined ? undefined : false);
  const outputOptions = {
    ...withoutAbsent({ mimeType: call.outputMimeType, compressionQuality: call.compression }),
  };
  return {
    sampleCount: call.count,
    ...withoutAbsent({
      aspectRatio: call.aspectRatio,
      sampleImageSize: call.tier,
      negativePrompt: call.negativePrompt,
      seed: call.seed,
      guidanceScale: call.guidanceScale,
      enhancePrompt: call.enhancePrompt,
      personGeneration: call.personGeneration,
      safetySetting: call.safetySetting,
      includeRaiReason: call.includeRaiReason,
      addWatermark: watermark,
    }),
    ...(Object.keys(outputOptions).length === 0 ? {} : { outputOptions }),
  };
}

function references({ inputs, mask }: FittedImageCall): JsonObject[] {
  const images = inputs.map((input, index) => ({
    referenceType: "REFERENCE_TYPE_RAW",
    referenceId: index + 1,
    referenceImage: bytes(input),
  }));
  if (!mask) return images;
  const masked = {
    referenceType: "REFERENCE_TYPE_MASK",
    referenceId: images.length + 1,
    referenceImage: bytes(mask),
    maskImageConfig: { maskMode: "MASK_MODE_USER_PROVIDED" },
  };
  return [...images, masked];
}

const bytes = ({ base64, mimeType }: InlineImage): JsonObject => ({ bytesBase64Encoded: base64, mimeType });

const defaultEditMode = ({ mask }: FittedImageCall): string =>
  mask ? "EDIT_MODE_INPAINT_INSERTION" : "EDIT_MODE_DEFAULT";

function readSubmit({ body }: MediaAnswer, call: FittedImageCall): JobState<UpstreamImageReply> {
  if (!body) throw emptyAnswer("a prediction");
  const results: ImageResult<InlineImage | MediaLink>[] = [];
  let reason = FILTERED;
  for (const prediction of arrayAt(body, "predictions")) {
    const said = stringAt(prediction, "raiFilteredReason");
    if (said !== undefined) reason = said;
    else {
      const result = readPrediction(prediction);
      if (result) results.push(result);
    }
  }
  // One reason stands for all images that were blocked; without it they are only missing.
  while (results.length < call.count) results.push({ kind: "filtered", reason });
  const images = results.filter(({ kind }) => kind === "made").length;
  return { state: "done", reply: { results, usage: { images } } };
}

/** Undefined for the item that scores the prompt, which comes after the images. */
function readPrediction(prediction: unknown): ImageResult<InlineImage> | undefined {
  const base64 = stringAt(prediction, "bytesBase64Encoded");
  if (base64 !== undefined) {
    const mimeType = imageType(base64, stringAt(prediction, "mimeType"));
    const revisedPrompt = stringAt(prediction, "prompt");
    return { kind: "made", image: { mimeType, base64 }, ...withoutAbsent({ revisedPrompt }) };
  }
  if (stringAt(prediction, "gcsUri") === undefined) return undefined;
  const error = new GatewayError(
    "upstream_failed",
    "The provider stored the image in a bucket that the gateway cannot access.",
  );
  return { kind: "failed", error };
}
