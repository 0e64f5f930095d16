import type { FittedImageCall, ImageCall, ImageOption } from "./image-call.ts";
import type { ImageCapabilities } from "./image-capabilities.ts";
import { settleSize } from "./image-size.ts";
import { foldSeed } from "./number-range.ts";
import { refuseExcludingPeople } from "./person-generation.ts";
import { listed, refuseField, refuseSetting } from "./refuse-field.ts";

/** A canonical field of the call; `paths` of the request has its name in the client's protocol. */
export type ImageField =
  | ImageOption
  | "count"
  | "size"
  | "aspectRatio"
  | "tier"
  | "mask"
  | "inputs"
  | "prompt"
  | "outputMimeType"
  | "compression";

export interface ImageNote {
  field: ImageField;
  action: "approximated" | "dropped";
  reason: string;
}

const OPTIONS = [
  "negativePrompt",
  "quality",
  "seed",
  "guidanceScale",
  "enhancePrompt",
  "watermark",
  "personGeneration",
  "safetySetting",
  "includeRaiReason",
  "background",
  "moderation",
  "inputFidelity",
  "editMode",
] as const satisfies readonly ImageOption[];

/** Values that need no support by the model. */
const HARMLESS: Partial<Record<ImageOption, readonly unknown[]>> = {
  negativePrompt: [""],
  quality: ["auto"],
  background: ["auto", "opaque"],
  watermark: [false],
  enhancePrompt: [false],
  includeRaiReason: [false],
  moderation: ["auto"],
  editMode: ["EDIT_MODE_DEFAULT"],
};

/** Options that are visible in the image. A model that does not support one is not called, for this reason. */
const VISIBLE: Partial<Record<ImageOption, string>> = {
  watermark: "does not support watermarks",
  background: "does not support transparent backgrounds",
  editMode: "does not support this edit mode",
};

/**
 * Reduces a call to what one model accepts (contract 1: "each model supports only a subset"). An option that changes the price or
 * the result is met or refused (contract 2.4, 8); any other that the model does not have is dropped and noted.
 */
export function fitImageCall(
  call: ImageCall,
  capabilities: ImageCapabilities,
  model: string,
): { call: FittedImageCall; notes: ImageNote[] } {
  refuseTooMuch(call, capabilities, model);
  const notes: ImageNote[] = [];
  const { size: _size, aspectRatio: _ratio, tier: _tier, ...rest } = call;
  const fitted: FittedImageCall = rest;
  for (const option of OPTIONS) {
    const value = call[option];
    const reason = value === undefined ? undefined : reasonToDrop(option, call, capabilities);
    if (reason === undefined) continue;
    delete fitted[option];
    if (HARMLESS[option]?.includes(value)) continue;
    if (option === "editMode" && value === "EDIT_MODE_INPAINT_INSERTION" && call.mask) continue;
    const seen = VISIBLE[option];
    if (seen !== undefined)
      refuseSetting(option, `${model} ${seen}${whichImages(option, capabilities)}. Leave it out.`);
    if (option === "personGeneration") refuseExcludingPeople(String(value), model);
    notes.push({ field: option, action: "dropped", reason });
  }
  if (capabilities.seedExcludesWatermark && fitted.watermark && fitted.seed !== undefined) {
    delete fitted.seed;
    notes.push({
      field: "seed",
      action: "dropped",
      reason: "this model does not support a seed together with a watermark",
    });
  }
  fitNumbers(fitted, capabilities, model, notes);
  fitQuality(fitted, capabilities, model);
  const { notes: sizeNotes, ...size } = settleSize(call, capabilities, model);
  Object.assign(fitted, size);
  notes.push(...sizeNotes);
  if (fitted.outputMimeType !== undefined && !capabilities.formats.includes(fitted.outputMimeType)) {
    delete fitted.outputMimeType;
  }
  if (!capabilities.compresses) delete fitted.compression;
  return { call: fitted, notes };
}

/** For an option that the model supports only with, or only without, an input image. */
function whichImages(option: ImageOption, { onlyWithInputs = [], onlyWithoutInputs = [] }: ImageCapabilities): string {
  if (onlyWithInputs.includes(option)) return " without an input image";
  return onlyWithoutInputs.includes(option) ? " with an input image" : "";
}

function reasonToDrop(option: ImageOption, { inputs }: ImageCall, capabilities: ImageCapabilities): string | undefined {
  const { takes, onlyWithInputs = [], onlyWithoutInputs = [] } = capabilities;
  if (!takes.includes(option)) return "this model does not support this setting";
  if (inputs.length > 0 && onlyWithoutInputs.includes(option))
    return "this model does not support this setting with an input image";
  if (inputs.length === 0 && onlyWithInputs.includes(option))
    return "this model does not support this setting without an input image";
  return undefined;
}

function fitNumbers(
  fitted: FittedImageCall,
  { seeds, guidance }: ImageCapabilities,
  model: string,
  notes: ImageNote[],
): void {
  const { seed, guidanceScale } = fitted;
  if (seed !== undefined) fitted.seed = foldSeed(seed, seeds);
  if (seeds && fitted.seed !== seed) {
    const reason = `this model's seeds range from ${seeds.min} to ${seeds.max}; ${fitted.seed} is sent`;
    notes.push({ field: "seed", action: "approximated", reason });
  }
  if (guidanceScale === undefined || guidance === undefined) return;
  const { min, max } = guidance;
  if (guidanceScale >= min && guidanceScale <= max) return;
  const takes = max === Number.MAX_SAFE_INTEGER ? `${min} or more` : `${min} to ${max}`;
  refuseField("guidanceScale", `${model} accepts ${takes}, not ${guidanceScale}.`);
}

/** Two vocabularies for the same levels. */
const LEVELS: ReadonlyMap<string, number> = new Map([
  ["low", 0],
  ["medium", 1],
  ["standard", 1],
  ["high", 2],
  ["hd", 2],
]);

/** Translates the quality to the model's own word for it. Another quality would have another price. */
function fitQuality(fitted: FittedImageCall, { qualities }: ImageCapabilities, model: string): void {
  const { quality } = fitted;
  if (quality === undefined || qualities === undefined || qualities.includes(quality)) return;
  delete fitted.quality;
  if (quality === "auto") return;
  const level = LEVELS.get(quality);
  const same = level === undefined ? undefined : qualities.find((word) => LEVELS.get(word) === level);
  fitted.quality = same ?? refuseField("quality", `${model} accepts ${listed(qualities)}, not ${quality}.`);
}

/** How many images of this call one request to the provider can generate. */
export function maxPerCall(
  { inputs }: ImageCall,
  { perCall, together = Number.POSITIVE_INFINITY }: ImageCapabilities,
): number {
  return Math.max(1, Math.min(perCall, together - inputs.length));
}

function refuseTooMuch(call: ImageCall, capabilities: ImageCapabilities, model: string): void {
  const { maxCount, maxInputs, maxPrompt } = capabilities;
  if (call.count > maxCount) {
    refuseField("count", `${call.count} images were requested; ${model} generates at most ${maxCount} per request.`);
  }
  if (call.inputs.length > maxInputs) {
    const most = maxInputs === 0 ? "accepts no images" : `accepts at most ${maxInputs}`;
    refuseField("inputs", `${call.inputs.length} images were sent; ${model} ${most}.`);
  }
  if (capabilities.imageOnly && call.inputs.length === 0) {
    refuseField("inputs", `${model} only edits images; send the image to edit.`);
  }
  if (call.mask && !capabilities.mask) refuseField("mask", `${model} does not accept a mask.`);
  if (call.mask && call.inputs.length === 0) refuseField("mask", "A mask requires an image to edit.");
  if (maxPrompt !== undefined && [...call.prompt].length > maxPrompt) {
    refuseField(
      "prompt",
      `The prompt has ${[...call.prompt].length} characters; ${model} accepts at most ${maxPrompt}.`,
    );
  }
}
