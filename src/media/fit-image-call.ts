import { GatewayError } from "../canon/error.ts";
import type { ImageAbilities } from "./image-abilities.ts";
import type { FittedImageCall, ImageCall, ImageWish } from "./image-call.ts";
import { settleSize } from "./image-size.ts";

/** A field of the call in canonical words; whoever read the client's request knows what it is called there. */
export type ImageField =
  | ImageWish
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

const WISHES = [
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
] as const satisfies readonly ImageWish[];

/** Wishes that a model meets anyway by doing nothing about them. */
const HARMLESS: Partial<Record<ImageWish, readonly unknown[]>> = {
  quality: ["auto"],
  background: ["auto"],
  watermark: [false],
  enhancePrompt: [false],
  includeRaiReason: [false],
  moderation: ["auto"],
};

/**
 * Cuts a call to what one model takes (contract 1: "each model supports only a subset"). What it cannot honour is noted;
 * what would make another picture than the one asked for, such as too many inputs, is refused.
 */
export function fitImageCall(
  call: ImageCall,
  abilities: ImageAbilities,
  model: string,
): { call: FittedImageCall; notes: ImageNote[] } {
  refuseTooMuch(call, abilities, model);
  const notes: ImageNote[] = [];
  const { size: _size, aspectRatio: _ratio, tier: _tier, ...rest } = call;
  const fitted: FittedImageCall = rest;
  for (const wish of WISHES) {
    const value = call[wish];
    if (value === undefined || abilities.takes.includes(wish)) continue;
    delete fitted[wish];
    if (!HARMLESS[wish]?.includes(value))
      notes.push({ field: wish, action: "dropped", reason: "this model has no such setting" });
  }
  const { notes: sizeNotes, ...size } = settleSize(call, abilities);
  Object.assign(fitted, size);
  notes.push(...sizeNotes);
  if (fitted.outputMimeType !== undefined && !abilities.formats.includes(fitted.outputMimeType)) {
    delete fitted.outputMimeType;
  }
  if (!abilities.compresses) delete fitted.compression;
  return { call: fitted, notes };
}

function refuseTooMuch(call: ImageCall, abilities: ImageAbilities, model: string): void {
  const refuse = (path: ImageField, problem: string): never => {
    throw new GatewayError("invalid_request", problem, { path });
  };
  const { maxCount, maxInputs, maxPrompt } = abilities;
  if (call.count > maxCount) {
    refuse("count", `${call.count} pictures were asked for; ${model} makes at most ${maxCount} in one call.`);
  }
  if (call.inputs.length > maxInputs) {
    const most = maxInputs === 0 ? "takes no pictures" : `takes at most ${maxInputs}`;
    refuse("inputs", `${call.inputs.length} pictures were given; ${model} ${most}.`);
  }
  if (call.mask && !abilities.mask) refuse("mask", `${model} takes no mask.`);
  if (call.mask && call.inputs.length === 0) refuse("mask", "A mask needs a picture that it belongs to.");
  if (maxPrompt !== undefined && [...call.prompt].length > maxPrompt) {
    refuse("prompt", `The prompt has ${[...call.prompt].length} characters; ${model} takes at most ${maxPrompt}.`);
  }
}
