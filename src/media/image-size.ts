import { nearRatio, ratioDistance, ratioOf, readRatio, sameRatio } from "./aspect-ratio.ts";
import type { ImageTier, PixelSize } from "./image.ts";
import type { ImageCall } from "./image-call.ts";
import type { FreeSizes, ImageCapabilities, SizeRule } from "./image-capabilities.ts";
import { listed, refuseField, refuseSetting } from "./refuse-field.ts";

const TIER_SIDE: Readonly<Record<ImageTier, number>> = { "1K": 1024, "2K": 2048, "4K": 4096 };

/** Sides are multiples of a step, so that shapes this close count as equal. */
const SHAPE_TOLERANCE = 0.04;

/** The size that is sent to the model, with notes where it differs from the requested one. */
interface SettledSize {
  pixels?: PixelSize;
  size?: "auto";
  aspectRatio?: string;
  tier?: ImageTier;
  notes: { field: "size"; action: "approximated"; reason: string }[];
}

const words = ({ width, height }: PixelSize): string => `${width}x${height}`;

/**
 * Converts a client's size, aspect ratio and tier to what the model accepts (contract 2.4: imageSize, sampleImageSize,
 * aspectRatio). Aspect ratio and tier are visible in the image and its price, so they are honoured or rejected. A model that takes
 * an aspect ratio and a tier chooses the pixels itself, which is noted.
 */
export function settleSize(call: ImageCall, capabilities: ImageCapabilities, model: string): SettledSize {
  const sizes = call.inputs.length === 0 ? capabilities.sizes : (capabilities.sizesWithInputs ?? capabilities.sizes);
  const requested = { ...call, model };
  switch (sizes.kind) {
    case "none":
      return refuseAll(requested);
    case "ratio":
      return settleRatio(requested, sizes);
    case "presets":
      return settlePreset(requested, sizes);
    case "free":
      return settleFree(requested, sizes);
  }
}

type RequestedSize = Pick<ImageCall, "size" | "aspectRatio" | "tier"> & { model: string };

function refuseAll(requested: RequestedSize): SettledSize {
  const field = (["size", "aspectRatio", "tier"] as const).find((one) => isRequested(requested, one));
  if (field === undefined) return { notes: [] };
  return refuseSetting(field, `The size of ${requested.model}'s images cannot be chosen. Leave it out.`);
}

const isRequested = (requested: RequestedSize, field: "size" | "aspectRatio" | "tier"): boolean =>
  requested[field] !== undefined && requested[field] !== "auto";

const exactSize = ({ size }: RequestedSize): PixelSize | undefined => (size === "auto" ? undefined : size);

/** The shape that the client requested, by its ratio or by its size. */
function wantedRatio(requested: RequestedSize): number | undefined {
  if (requested.aspectRatio !== undefined) return readRatio(requested.aspectRatio);
  const size = exactSize(requested);
  return size && ratioOf(size);
}

function settleRatio(requested: RequestedSize, { ratios, tiers }: Extract<SizeRule, { kind: "ratio" }>): SettledSize {
  const settled: SettledSize = { notes: [] };
  const size = exactSize(requested);
  const shapes = `${requested.model} generates images in ${listed(ratios)}`;
  if (requested.aspectRatio !== undefined) {
    settled.aspectRatio =
      sameRatio(requested.aspectRatio, ratios) ??
      refuseField("aspectRatio", `${shapes}, not ${requested.aspectRatio}.`);
  }
  if (size !== undefined) {
    refuseContradiction(size, requested);
    const own = nearRatio(ratioOf(size), ratios, SHAPE_TOLERANCE);
    settled.aspectRatio ??= own ?? refuseField("size", `${shapes}, and ${words(size)} is none of them.`);
  }
  const tier = requested.tier ?? tierOf(size);
  // A model without tiers generates the smallest.
  const levels = tiers.length === 0 ? (["1K"] as const) : tiers;
  if (tier !== undefined && !levels.includes(tier)) {
    const field = requested.tier === undefined ? "size" : "tier";
    refuseField(field, `${requested.model} generates images at ${listed(levels)}, not ${tier}.`);
  }
  if (tier !== undefined && tiers.length > 0) settled.tier = tier;
  if (size !== undefined) {
    const sent = [settled.aspectRatio, settled.tier].filter((word) => word !== undefined).join(" at ");
    settled.notes.push({
      field: "size",
      action: "approximated",
      reason: `this model takes an aspect ratio instead of a size: ${sent}`,
    });
  }
  return settled;
}

/** The level that an image of a size belongs to. */
export function tierOf(size: ImageCall["size"]): ImageTier | undefined {
  if (size === undefined || size === "auto") return undefined;
  const side = Math.sqrt(size.width * size.height);
  if (side < 1500) return "1K";
  return side < 3000 ? "2K" : "4K";
}

function settlePreset(requested: RequestedSize, rule: Extract<SizeRule, { kind: "presets" }>): SettledSize {
  const size = exactSize(requested);
  if (size !== undefined) {
    const problem = rule.free === undefined ? "" : sizeProblem(size, rule.free);
    if (problem === undefined || rule.sizes.some((preset) => words(preset) === words(size)))
      return exactly(size, requested);
    return wrongSize(size, rule, problem, requested.model);
  }
  const ratio = wantedRatio(requested);
  if (ratio === undefined && requested.tier === undefined) {
    const [first] = rule.sizes;
    if (rule.auto) return { size: "auto", notes: [] };
    return first === undefined ? { notes: [] } : { pixels: first, notes: [] };
  }
  const chosen =
    rule.free === undefined
      ? nearestPreset(ratio ?? 1, requested.tier, rule.sizes)
      : freeSize(ratio ?? 1, requested.tier ?? "1K", rule.free);
  return chosen === undefined ? { notes: [] } : met(chosen, requested, `of ${listed(rule.sizes.map(words))}`);
}

/** By shape first; of two as near, the one whose area is nearer to the level. */
function nearestPreset(ratio: number, tier: ImageTier | undefined, sizes: readonly PixelSize[]): PixelSize | undefined {
  const side = TIER_SIDE[tier ?? "1K"];
  const distance = (size: PixelSize) =>
    ratioDistance(ratioOf(size), ratio) * 10 + ratioDistance(size.width * size.height, side * side);
  return sizes.length === 0 ? undefined : sizes.reduce((best, size) => (distance(size) < distance(best) ? size : best));
}

function settleFree(requested: RequestedSize, rule: Extract<SizeRule, { kind: "free" }>): SettledSize {
  const size = exactSize(requested);
  if (size !== undefined) {
    const problem = sizeProblem(size, rule.free);
    if (problem === undefined) return exactly(size, requested);
    return wrongSize(size, rule, problem, requested.model);
  }
  const { aspectRatio, tier, model } = requested;
  if (tier !== undefined && !rule.tiers.includes(tier)) {
    refuseField("tier", `${model} generates images at ${listed(rule.tiers)}, not ${tier}.`);
  }
  const ratio = aspectRatio === undefined ? undefined : readRatio(aspectRatio);
  if (ratio === undefined && tier === undefined) return { pixels: rule.standard, notes: [] };
  const standard = tierOf(rule.standard) ?? "1K";
  const level = rule.tiers.includes(standard) ? standard : (rule.tiers[0] ?? "1K");
  const chosen = freeSize(ratio ?? ratioOf(rule.standard), tier ?? level, rule.free);
  const { minSide, maxSide, maxRatio } = rule.free;
  return met(
    chosen,
    requested,
    `with sides of ${minSide} to ${maxSide} pixels, the longer at most ${maxRatio} times the shorter`,
  );
}

/** A size that was computed, where it is of the shape and level asked for. A side may be off by the raster alone. */
function met(chosen: PixelSize, { aspectRatio, tier, model }: RequestedSize, makes: string): SettledSize {
  const ratio = aspectRatio === undefined ? undefined : readRatio(aspectRatio);
  if (ratio !== undefined && ratioDistance(ratioOf(chosen), ratio) > SHAPE_TOLERANCE) {
    refuseField("aspectRatio", `${model} generates images ${makes}; none of them is ${aspectRatio}.`);
  }
  if (tier !== undefined && tierOf(chosen) !== tier) {
    const shape = aspectRatio === undefined ? "" : ` and ${aspectRatio}`;
    refuseField("tier", `${model} generates images ${makes}; none of them is ${tier}${shape}.`);
  }
  return { pixels: chosen, notes: [] };
}

/** A size that the model makes. */
function exactly(size: PixelSize, requested: RequestedSize): SettledSize {
  refuseContradiction(size, requested);
  return { pixels: size, notes: [] };
}

/** Refuses a shape or level that contradicts the size: only one of them could be met. */
function refuseContradiction(size: PixelSize, { aspectRatio, tier }: RequestedSize): void {
  const ratio = aspectRatio === undefined ? undefined : readRatio(aspectRatio);
  if (ratio !== undefined && ratioDistance(ratioOf(size), ratio) > SHAPE_TOLERANCE) {
    refuseField(
      "aspectRatio",
      `The size ${words(size)} does not have the aspect ratio ${aspectRatio}. Leave one of them out.`,
    );
  }
  if (tier !== undefined && tier !== tierOf(size)) {
    refuseField("tier", `The size ${words(size)} does not match the resolution ${tier}. Leave one of them out.`);
  }
}

/** The size of a shape at a level, on the raster and within the bounds. */
function freeSize(ratio: number, tier: ImageTier, free: FreeSizes): PixelSize {
  const { minSide, maxSide, minPixels = 0, maxPixels = Number.POSITIVE_INFINITY, multipleOf: step } = free;
  const longness = Math.min(free.maxRatio, Math.max(ratio, 1 / ratio));
  const area = Math.min(maxPixels, Math.max(minPixels, TIER_SIDE[tier] ** 2));
  let long = Math.sqrt(area * longness);
  let short = Math.sqrt(area / longness);
  if (short < minSide) {
    short = minSide;
    long = Math.min(short * longness, maxPixels / short);
  }
  if (long > maxSide) {
    long = maxSide;
    short = Math.max(long / longness, minSide, minPixels / long);
  }
  const near = (side: number) => Math.round(side / step) * step;
  const first = ratio >= 1 ? { width: near(long), height: near(short) } : { width: near(short), height: near(long) };
  // Rounding may step over a bound: the next multiples of the step are tried, and the nearest in shape wins.
  const moves = [0, -step, step, -2 * step, 2 * step];
  const around = moves.flatMap((x) => moves.map((y) => ({ width: first.width + x, height: first.height + y })));
  const good = around.filter((size) => sizeProblem(size, free) === undefined);
  const shape = ratio >= 1 ? longness : 1 / longness;
  const distance = (size: PixelSize) =>
    ratioDistance(ratioOf(size), shape) * 4 + ratioDistance(size.width * size.height, area);
  return (good.length > 0 ? good : [first]).reduce((best, size) => (distance(size) < distance(best) ? size : best));
}

/** What is wrong with an exact size; undefined if nothing is. */
export function sizeProblem({ width, height }: PixelSize, free: FreeSizes): string | undefined {
  if (width % free.multipleOf !== 0 || height % free.multipleOf !== 0) {
    return `width and height must be multiples of ${free.multipleOf}`;
  }
  if (Math.max(width, height) > free.maxSide) return `each side must have at most ${free.maxSide} pixels`;
  if (Math.min(width, height) < free.minSide) return `each side must have at least ${free.minSide} pixels`;
  if (Math.max(width / height, height / width) > free.maxRatio) {
    return `the longer side must be at most ${free.maxRatio} times the shorter one`;
  }
  const pixels = width * height;
  if (free.minPixels !== undefined && pixels < free.minPixels)
    return `the image must have at least ${free.minPixels} pixels`;
  if (free.maxPixels !== undefined && pixels > free.maxPixels)
    return `the image must have at most ${free.maxPixels} pixels`;
  return undefined;
}

function wrongSize(size: PixelSize, rule: SizeRule, problem: string | undefined, model: string): never {
  const presets = rule.kind === "presets" ? [...rule.sizes.map(words), ...(rule.auto ? ["auto"] : [])] : [];
  const use = presets.length > 0 ? `use ${listed(presets)}` : "";
  const free = problem ? `${presets.length > 0 ? "; for other sizes, " : ""}${problem}` : "";
  const message = `${model} does not generate images of ${words(size)}: ${use}${free}.`;
  return refuseField("size", message);
}
