import { arrayAt } from "../../base/json.ts";
import { withoutAbsent } from "../../base/without-absent.ts";
import { Fields } from "../../canon/fields.ts";
import type { FieldNote } from "../../canon/receipt.ts";
import { refuse } from "../../dialects/reading/check.ts";
import { defineBodyCheck } from "../check-body.ts";
import type { ImageField } from "../fit-image-call.ts";
import type { ImageCall } from "../image-call.ts";
import type { ImageRequest } from "../image-request.ts";
import { Inputs } from "../inputs.ts";
import { readSize } from "../read-size.ts";
import { normalisePrediction } from "./normalise.ts";
import { readPredictImage } from "./read-image.ts";
import { NOT_IMAGES, refuseOtherTasks } from "./refuse-other-tasks.ts";
import { PredictRequest, type ReferenceImage } from "./schema.ts";
import { unreadFields } from "./unread-fields.ts";

const PASSTHROUGH = ["imageSize", "quality", "sampleImageSize"] as const;
type Passthrough = (typeof PASSTHROUGH)[number];

const check = defineBodyCheck(PredictRequest, () => {});

/** Reads the body of `:predict` (contract 2.4). */
export function decodePredict(body: unknown): ImageRequest {
  const normal = normalisePrediction(body);
  refuseEmbedding(normal);
  refuseOtherTasks(normal, NOT_IMAGES);
  const request = check(normal);
  const notes: FieldNote[] = [];
  const root = new Fields(request);
  const instance = new Fields(request.instances[0]);
  const parameters = new Fields(request.parameters);
  root.skip("instances", "parameters");
  const inputs = new Inputs();
  const { image, referenceImages = [] } = request.instances[0] ?? {};
  instance.skip("image", "referenceImages");
  if (image !== undefined) inputs.add(readPredictImage(image, "instances[0].image"), "instances[0].image");
  const otherReferences = readReferences(referenceImages, inputs, notes);
  const passed = readPassthrough(root, parameters, notes);
  noteSecondLevel(passed, notes);
  const { mask, maskPath, ...given } = inputs.done();
  const call: ImageCall = withoutAbsent({
    prompt: instance.string("prompt") ?? "",
    count: parameters.number("sampleCount") ?? 1,
    ...readOptions(parameters),
    ...readOutput(parameters, notes),
    ...sizeOf(passed),
    quality: passed.quality?.value,
    inputs: given.inputs,
    mask,
    extras: {},
  });
  Object.assign(call, unreadFields(root, instance, parameters, notes));
  if (otherReferences.length > 0) {
    call.extras = { ...call.extras, referenceImages: otherReferences };
    call.extraPaths = new Map([...(call.extraPaths ?? []), ["referenceImages", "instances[0].referenceImages"]]);
  }
  return {
    call,
    paths: pathsOf(passed, given.inputPaths, maskPath),
    inputPaths: given.inputPaths,
    links: given.links,
    edit: given.inputPaths.length > 0,
    stream: false,
    partialImages: 0,
    notes,
  };
}

/**
 * For other models, the same method generates embeddings. A client that sends such a request should not get an error about a
 * missing prompt.
 */
function refuseEmbedding(body: unknown): void {
  const [first] = arrayAt(body, "instances");
  const fields = new Fields(first);
  if (fields.take("content") === undefined || fields.take("prompt") !== undefined) return;
  refuse("instances[0].content", "requests an embedding, but this model generates images from instances[0].prompt");
}

function readOptions(parameters: Fields): Partial<ImageCall> {
  const negativePrompt = parameters.string("negativePrompt");
  const aspectRatio = parameters.string("aspectRatio");
  const seed = parameters.number("seed");
  const guidanceScale = parameters.number("guidanceScale");
  const enhancePrompt = parameters.boolean("enhancePrompt");
  const watermark = parameters.boolean("addWatermark");
  const personGeneration = parameters.string("personGeneration");
  const safetySetting = parameters.string("safetySetting");
  const includeRaiReason = parameters.boolean("includeRaiReason");
  const editMode = parameters.string("editMode");
  return withoutAbsent({
    negativePrompt,
    aspectRatio: aspectRatio?.includes(":") ? aspectRatio : undefined,
    seed,
    guidanceScale,
    enhancePrompt,
    watermark,
    personGeneration,
    safetySetting,
    includeRaiReason,
    editMode,
  });
}

/** The default of this protocol, for any model. */
const DEFAULT_TYPE = "image/png";

/** Only JPEG is compressed in this protocol, by default as little as possible. */
function readOutput(parameters: Fields, notes: FieldNote[]): Partial<ImageCall> {
  const options = new Fields(parameters.take("outputOptions"));
  const outputMimeType = options.string("mimeType");
  const compression = options.number("compressionQuality");
  for (const key of Object.keys(options.rest() ?? {})) {
    notes.push({ path: `parameters.outputOptions.${key}`, action: "dropped", reason: "unknown option" });
  }
  if (outputMimeType === "image/jpeg") return { outputMimeType, compression: compression ?? 100 };
  if (compression !== undefined) {
    const path = "parameters.outputOptions.compressionQuality";
    notes.push({ path, action: "dropped", reason: "compression applies only to image/jpeg" });
  }
  return { outputMimeType: outputMimeType ?? DEFAULT_TYPE };
}

type Passed = Partial<Record<Passthrough, { value: string; path: string }>>;

/** SDKs put these at the root, people into `parameters`. Both are read, and `parameters` takes precedence. */
function readPassthrough(root: Fields, parameters: Fields, notes: FieldNote[]): Passed {
  const passed: Passed = {};
  for (const name of PASSTHROUGH) {
    const [outer, inner] = [root.string(name), parameters.string(name)];
    const value = inner ?? outer;
    if (value === undefined) continue;
    passed[name] = { value, path: inner === undefined ? name : `parameters.${name}` };
    if (outer !== undefined && value !== outer) {
      notes.push({ path: name, action: "dropped", reason: `parameters.${name} takes precedence` });
    }
  }
  return passed;
}

/** Either field may contain a tier; the one made for it accepts precedence. */
function noteSecondLevel({ imageSize, sampleImageSize }: Passed, notes: FieldNote[]): void {
  const tier = imageSize && readSize(imageSize.value)?.tier;
  if (!imageSize || !sampleImageSize || tier === undefined || tier === sampleImageSize.value) return;
  notes.push({ path: imageSize.path, action: "dropped", reason: `${sampleImageSize.path} takes precedence` });
}

function sizeOf({ imageSize, sampleImageSize }: Passed): Partial<ImageCall> {
  const size = imageSize && readSize(imageSize.value);
  return { ...size, ...(sampleImageSize && readSize(sampleImageSize.value)) };
}

const DEFAULT_PATHS: Readonly<Record<ImageField, string>> = {
  prompt: "instances[0].prompt",
  count: "parameters.sampleCount",
  negativePrompt: "parameters.negativePrompt",
  aspectRatio: "parameters.aspectRatio",
  outputMimeType: "parameters.outputOptions.mimeType",
  compression: "parameters.outputOptions.compressionQuality",
  seed: "parameters.seed",
  enhancePrompt: "parameters.enhancePrompt",
  personGeneration: "parameters.personGeneration",
  safetySetting: "parameters.safetySetting",
  includeRaiReason: "parameters.includeRaiReason",
  watermark: "parameters.addWatermark",
  guidanceScale: "parameters.guidanceScale",
  editMode: "parameters.editMode",
  size: "parameters.imageSize",
  quality: "parameters.quality",
  tier: "parameters.sampleImageSize",
  inputs: "instances[0].referenceImages",
  mask: "instances[0].referenceImages",
  background: "parameters.background",
  moderation: "parameters.moderation",
  inputFidelity: "parameters.inputFidelity",
};

function pathsOf(passed: Passed, inputPaths: readonly string[], mask: string | undefined): ImageRequest["paths"] {
  const tier =
    passed.sampleImageSize ?? (passed.imageSize && /k$/i.test(passed.imageSize.value) ? passed.imageSize : undefined);
  return {
    ...DEFAULT_PATHS,
    ...(passed.imageSize && { size: passed.imageSize.path }),
    ...(passed.quality && { quality: passed.quality.path }),
    ...(tier && { tier: tier.path }),
    ...(inputPaths[0] === "instances[0].image" && inputPaths.length === 1 ? { inputs: "instances[0].image" } : {}),
    ...(mask === undefined ? {} : { mask }),
  };
}

const USER_PROVIDED = "MASK_MODE_USER_PROVIDED";

/** Sorts reference images into inputs and a mask. Returns the kinds that only one family of models supports. */
function readReferences(references: readonly ReferenceImage[], inputs: Inputs, notes: FieldNote[]): ReferenceImage[] {
  const others: ReferenceImage[] = [];
  for (const [index, reference] of references.entries()) {
    const path = `instances[0].referenceImages[${index}]`;
    const { referenceType, referenceImage, maskImageConfig } = reference;
    if (referenceType === "REFERENCE_TYPE_RAW") {
      inputs.add(readPredictImage(referenceImage, `${path}.referenceImage`), `${path}.referenceImage`);
    } else if (
      referenceType === "REFERENCE_TYPE_MASK" &&
      (maskImageConfig?.maskMode ?? USER_PROVIDED) === USER_PROVIDED
    ) {
      inputs.setMask(readPredictImage(referenceImage, `${path}.referenceImage`), `${path}.referenceImage`);
      if (maskImageConfig?.dilation !== undefined) {
        const reason = "the mask is sent unchanged, without dilation";
        notes.push({ path: `${path}.maskImageConfig.dilation`, action: "dropped", reason });
      }
    } else others.push(reference);
  }
  return others;
}
