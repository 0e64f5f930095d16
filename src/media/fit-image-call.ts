import { GatewayError } from "../canon/error.ts";
import type { ImageAbilities } from "./image-abilities.ts";
import type { FittedImageCall, ImageCall, ImageWish } from "./image-call.ts";
import { settleSize } from "./image-size.ts";
import { clampTo, foldSeed } from "./number-range.ts";

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
  negativePrompt: [""],
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
    const reason = value === undefined ? undefined : reasonToDrop(wish, call, abilities);
    if (reason === undefined) continue;
    delete fitted[wish];
    if (!HARMLESS[wish]?.includes(value)) notes.push({ field: wish, action: "dropped", reason });
  }
  if (abilities.seedExcludesWatermark && fitted.watermark && fitted.seed !== undefined) {
    delete fitted.seed;
    notes.push({ field: "seed", action: "dropped", reason: "this model takes no seed together with a watermark" });
  }
  fitNumbers(fitted, abilities, notes);
  fitQuality(fitted, abilities, notes);
  const { notes: sizeNotes, ...size } = settleSize(call, abilities);
  Object.assign(fitted, size);
  notes.push(...sizeNotes);
  if (fitted.outputMimeType !== undefined && !abilities.formats.includes(fitted.outputMimeType)) {
    delete fitted.outputMimeType;
  }
  if (!abilities.compresses) delete fitted.compression;
  return { call: fitted, notes };
}

function reasonToDrop(wish: ImageWish, { inputs }: ImageCall, abilities: ImageAbilities): string | undefined {
  const { takes, onlyWithInputs = [], onlyWithoutInputs = [] } = abilities;
  if (!takes.includes(wish)) return "this model has no such setting";
  if (inputs.length > 0 && onlyWithoutInputs.includes(wish)) return "this model has no such setting beside a picture";
  if (inputs.length === 0 && onlyWithInputs.includes(wish)) return "this model has no such setting without a picture";
  return undefined;
}

function fitNumbers(fitted: FittedImageCall, { seeds, guidance }: ImageAbilities, notes: ImageNote[]): void {
  const { seed, guidanceScale } = fitted;
  if (seed !== undefined) fitted.seed = foldSeed(seed, seeds);
  if (seeds && fitted.seed !== seed) {
    const reason = `the seeds of this model are ${seeds.min} to ${seeds.max}; it is told ${fitted.seed}`;
    notes.push({ field: "seed", action: "approximated", reason });
  }
  if (guidanceScale === undefined || guidance === undefined) return;
  fitted.guidanceScale = clampTo(guidanceScale, guidance);
  if (fitted.guidanceScale === guidanceScale) return;
  const reason = `the nearest value that this model takes is ${fitted.guidanceScale}`;
  notes.push({ field: "guidanceScale", action: "approximated", reason });
}

/** Two families of words mean the same by others. */
const LEVELS: ReadonlyMap<string, number> = new Map([
  ["low", 0],
  ["medium", 1],
  ["standard", 1],
  ["high", 2],
  ["hd", 2],
]);

function fitQuality(fitted: FittedImageCall, { qualities }: ImageAbilities, notes: ImageNote[]): void {
  const { quality } = fitted;
  if (quality === undefined || qualities === undefined || qualities.includes(quality)) return;
  delete fitted.quality;
  const wanted = LEVELS.get(quality);
  if (wanted === undefined) return;
  const distance = (word: string) => Math.abs((LEVELS.get(word) ?? Number.POSITIVE_INFINITY) - wanted);
  const nearest = qualities.reduce((best, word) => (distance(word) < distance(best) ? word : best));
  fitted.quality = nearest;
  if (distance(nearest) > 0) {
    notes.push({ field: "quality", action: "approximated", reason: `the nearest quality of this model is ${nearest}` });
  }
}

/** Most pictures of this call that one call to the provider makes. */
export function mostPerCall(
  { inputs }: ImageCall,
  { perCall, together = Number.POSITIVE_INFINITY }: ImageAbilities,
): number {
  return Math.max(1, Math.min(perCall, together - inputs.length));
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
  if (abilities.imageOnly && call.inputs.length === 0) {
    refuse("inputs", `${model} edits pictures: the one to be edited is needed.`);
  }
  if (call.mask && !abilities.mask) refuse("mask", `${model} takes no mask.`);
  if (call.mask && call.inputs.length === 0) refuse("mask", "A mask needs a picture that it belongs to.");
  if (maxPrompt !== undefined && [...call.prompt].length > maxPrompt) {
    refuse("prompt", `The prompt has ${[...call.prompt].length} characters; ${model} takes at most ${maxPrompt}.`);
  }
}
