import { GatewayError } from "../canon/error.ts";
import { nearestRatio, ratioDistance, ratioOf, readRatio } from "./aspect-ratio.ts";
import type { FreeSizes, ImageAbilities, SizeRule } from "./image-abilities.ts";
import type { ImageCall } from "./image-call.ts";
import type { ImageTier, PixelSize } from "./picture.ts";

const TIER_SIDE: Readonly<Record<ImageTier, number>> = { "1K": 1024, "2K": 2048, "4K": 4096 };

/** Sides stand on a raster: so much of a difference in shape is nobody's wish that was not met. */
const SHAPE_TOLERANCE = 0.04;

/** What is told to the model about the size, and in which respects it is not what the client asked for. */
export interface SettledSize {
  pixels?: PixelSize;
  size?: "auto";
  aspectRatio?: string;
  tier?: ImageTier;
  notes: { field: "size" | "aspectRatio" | "tier"; action: "approximated" | "dropped"; reason: string }[];
}

const words = ({ width, height }: PixelSize): string => `${width}x${height}`;

/** Turns a client's size, shape and level into what the model takes (contract 2.4: imageSize, sampleImageSize, aspectRatio). */
export function settleSize(call: ImageCall, abilities: ImageAbilities): SettledSize {
  const sizes = call.inputs.length === 0 ? abilities.sizes : (abilities.sizesWithInputs ?? abilities.sizes);
  switch (sizes.kind) {
    case "none":
      return { notes: unusable(call) };
    case "ratio":
      return settleRatio(call, sizes);
    case "presets":
      return settlePreset(call, sizes, abilities.exactSizes === true);
    case "free":
      return settleFree(call, sizes, abilities.exactSizes === true);
  }
}

function unusable(call: ImageCall): SettledSize["notes"] {
  const fields = (["size", "aspectRatio", "tier"] as const).filter((field) => isAsked(call, field));
  return fields.map((field) => ({ field, action: "dropped", reason: "the size of this model's pictures is fixed" }));
}

const isAsked = (call: ImageCall, field: "size" | "aspectRatio" | "tier"): boolean =>
  call[field] !== undefined && call[field] !== "auto";

/** The shape that the client wants, by its own words or by its size. */
function wantedRatio(call: ImageCall): number | undefined {
  if (call.aspectRatio !== undefined) return readRatio(call.aspectRatio);
  return call.size === undefined || call.size === "auto" ? undefined : ratioOf(call.size);
}

function settleRatio(call: ImageCall, { ratios, tiers }: Extract<SizeRule, { kind: "ratio" }>): SettledSize {
  const settled: SettledSize = { notes: [] };
  const ratio = wantedRatio(call);
  const nearest = ratio === undefined ? undefined : nearestRatio(ratio, ratios);
  if (nearest !== undefined) settled.aspectRatio = nearest;
  if (call.aspectRatio !== undefined && nearest !== call.aspectRatio) {
    const reason =
      nearest === undefined ? "this model's shape is fixed" : `the nearest shape of this model is ${nearest}`;
    settled.notes.push({ field: "aspectRatio", action: nearest === undefined ? "dropped" : "approximated", reason });
  }
  const tier = call.tier ?? tierOf(call.size);
  const known = nearestTier(tier, tiers);
  if (known !== undefined) settled.tier = known;
  if (call.tier !== undefined && known !== call.tier) {
    const reason =
      known === undefined ? "this model has one resolution" : `the nearest level of this model is ${known}`;
    settled.notes.push({ field: "tier", action: known === undefined ? "dropped" : "approximated", reason });
  }
  if (isAsked(call, "size")) {
    const told = [nearest, known].filter((word) => word !== undefined).join(" at ");
    const reason = told === "" ? "this model is not told a size" : `this model is told a shape: ${told}`;
    settled.notes.push({ field: "size", action: told === "" ? "dropped" : "approximated", reason });
  }
  return settled;
}

/** The level that a picture of a size belongs to. */
export function tierOf(size: ImageCall["size"]): ImageTier | undefined {
  if (size === undefined || size === "auto") return undefined;
  const side = Math.sqrt(size.width * size.height);
  if (side < 1500) return "1K";
  return side < 3000 ? "2K" : "4K";
}

function nearestTier(wanted: ImageTier | undefined, tiers: readonly ImageTier[]): ImageTier | undefined {
  if (wanted === undefined || tiers.length === 0) return undefined;
  const distance = (tier: ImageTier) => ratioDistance(TIER_SIDE[tier], TIER_SIDE[wanted]);
  return tiers.reduce((best, tier) => (distance(tier) < distance(best) ? tier : best));
}

function settlePreset(call: ImageCall, rule: Extract<SizeRule, { kind: "presets" }>, exact: boolean): SettledSize {
  const settled: SettledSize = { notes: [] };
  const { size } = call;
  if (size !== undefined && size !== "auto") {
    if (rule.sizes.some((preset) => words(preset) === words(size))) return exactly(size, call);
    const problem = rule.free === undefined ? "" : sizeProblem(size, rule.free);
    if (rule.free !== undefined && problem === undefined) return exactly(size, call);
    if (exact) throw wrongSize(size, rule, problem);
  }
  const ratio = wantedRatio(call);
  if (ratio === undefined && call.tier === undefined)
    return rule.auto ? { ...settled, size: "auto" } : firstOf(rule, settled);
  const pixels = rule.free !== undefined ? freeSize(ratio ?? 1, call.tier ?? "1K", rule.free) : undefined;
  const chosen = pixels ?? nearestPreset(ratio ?? 1, call.tier, rule.sizes);
  if (chosen === undefined) return settled;
  settled.pixels = chosen;
  noteDifference(call, chosen, settled.notes);
  if (call.tier !== undefined && tierOf(chosen) !== call.tier) {
    settled.notes.push({
      field: "tier",
      action: "approximated",
      reason: `the nearest size of this model is ${words(chosen)}`,
    });
  }
  return settled;
}

function firstOf(rule: Extract<SizeRule, { kind: "presets" }>, settled: SettledSize): SettledSize {
  const [first] = rule.sizes;
  return first === undefined ? settled : { ...settled, pixels: first };
}

/** By shape first; of two as near, the one whose area is nearer to the level. */
function nearestPreset(ratio: number, tier: ImageTier | undefined, sizes: readonly PixelSize[]): PixelSize | undefined {
  const side = TIER_SIDE[tier ?? "1K"];
  const distance = (size: PixelSize) =>
    ratioDistance(ratioOf(size), ratio) * 10 + ratioDistance(size.width * size.height, side * side);
  return sizes.length === 0 ? undefined : sizes.reduce((best, size) => (distance(size) < distance(best) ? size : best));
}

function settleFree(call: ImageCall, rule: Extract<SizeRule, { kind: "free" }>, exact: boolean): SettledSize {
  const settled: SettledSize = { notes: [] };
  const { size } = call;
  if (size !== undefined && size !== "auto") {
    const problem = sizeProblem(size, rule.free);
    if (problem === undefined) return exactly(size, call);
    if (exact) throw wrongSize(size, rule, problem);
  }
  const ratio = wantedRatio(call);
  const tier = nearestTier(call.tier ?? tierOf(size), rule.tiers);
  const standardTier = nearestTier(tierOf(rule.standard), rule.tiers) ?? "1K";
  const asked = ratio !== undefined || tier !== undefined;
  settled.pixels = asked ? freeSize(ratio ?? ratioOf(rule.standard), tier ?? standardTier, rule.free) : rule.standard;
  if (call.tier !== undefined && tierOf(settled.pixels) !== call.tier) {
    const reason = `the nearest size of this model is ${words(settled.pixels)}`;
    settled.notes.push({ field: "tier", action: "approximated", reason });
  }
  noteDifference(call, settled.pixels, settled.notes);
  return settled;
}

/** A size that the model makes; a shape or level beside it that says otherwise is not heard. */
function exactly(size: PixelSize, call: ImageCall): SettledSize {
  const reason = `the size says otherwise: ${words(size)}`;
  const ratio = call.aspectRatio === undefined ? undefined : readRatio(call.aspectRatio);
  const notes: SettledSize["notes"] = [];
  if (ratio !== undefined && ratioDistance(ratioOf(size), ratio) > SHAPE_TOLERANCE) {
    notes.push({ field: "aspectRatio", action: "dropped", reason });
  }
  if (call.tier !== undefined && call.tier !== tierOf(size)) notes.push({ field: "tier", action: "dropped", reason });
  return { pixels: size, notes };
}

/** Tells of a size or shape that could not be met. A side may be off by the raster alone. */
function noteDifference(call: ImageCall, chosen: PixelSize, notes: SettledSize["notes"]): void {
  const reason = `the nearest size of this model is ${words(chosen)}`;
  if (call.size !== undefined && call.size !== "auto") notes.push({ field: "size", action: "approximated", reason });
  const ratio = call.aspectRatio === undefined ? undefined : readRatio(call.aspectRatio);
  if (ratio !== undefined && ratioDistance(ratioOf(chosen), ratio) > SHAPE_TOLERANCE) {
    notes.push({ field: "aspectRatio", action: "approximated", reason });
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
  // Rounding may step over a bound: the neighbours on the raster are tried, and the nearest in shape is taken.
  const moves = [0, -step, step, -2 * step, 2 * step];
  const around = moves.flatMap((x) => moves.map((y) => ({ width: first.width + x, height: first.height + y })));
  const good = around.filter((size) => sizeProblem(size, free) === undefined);
  const shape = ratio >= 1 ? longness : 1 / longness;
  const distance = (size: PixelSize) =>
    ratioDistance(ratioOf(size), shape) * 4 + ratioDistance(size.width * size.height, area);
  return (good.length > 0 ? good : [first]).reduce((best, size) => (distance(size) < distance(best) ? size : best));
}

/** What is wrong with an exact size; undefined where nothing is. */
export function sizeProblem({ width, height }: PixelSize, free: FreeSizes): string | undefined {
  if (width % free.multipleOf !== 0 || height % free.multipleOf !== 0) {
    return `width and height must be multiples of ${free.multipleOf}`;
  }
  if (Math.max(width, height) > free.maxSide) return `a side has at most ${free.maxSide} pixels`;
  if (Math.min(width, height) < free.minSide) return `a side has at least ${free.minSide} pixels`;
  if (Math.max(width / height, height / width) > free.maxRatio) {
    return `the longer side is at most ${free.maxRatio} times the shorter one`;
  }
  const pixels = width * height;
  if (free.minPixels !== undefined && pixels < free.minPixels) return `there are at least ${free.minPixels} pixels`;
  if (free.maxPixels !== undefined && pixels > free.maxPixels) return `there are at most ${free.maxPixels} pixels`;
  return undefined;
}

function wrongSize(size: PixelSize, rule: SizeRule, problem: string | undefined): GatewayError {
  const presets = rule.kind === "presets" ? rule.sizes.map(words) : [];
  const list = [...presets, ...(rule.kind === "presets" && rule.auto ? ["auto"] : [])].join(", ");
  const free = problem ? `${presets.length > 0 ? "; other sizes: " : ""}${problem}` : "";
  return new GatewayError(
    "invalid_request",
    `The size ${words(size)} is not one that this model makes: ${list}${free}.`,
    {
      path: "size",
    },
  );
}
