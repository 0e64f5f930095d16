import { invalid, modelNotFound } from "../text/errors.ts";

/** What the image models differ in. */
export interface ImageFamily {
  /** GPT image models answer with the bytes, stream, and know formats; the older ones have links and styles. */
  gpt: boolean;
  sizes: readonly string[];
  /** Any size within bounds, in addition to the named ones. */
  freeSizes: boolean;
  qualities: readonly string[];
  maxImages: number;
  maxPromptCharacters: number;
  /** The fields that only this family knows. */
  ownFields: readonly string[];
  edits: boolean;
  inputFidelity: boolean;
}

const GPT: ImageFamily = {
  gpt: true,
  sizes: ["1024x1024", "1536x1024", "1024x1536", "auto"],
  freeSizes: false,
  qualities: ["low", "medium", "high", "auto"],
  maxImages: 10,
  maxPromptCharacters: 32_000,
  ownFields: ["background", "output_format", "output_compression", "moderation", "stream", "partial_images"],
  edits: true,
  inputFidelity: true,
};

const DALL_E_2: ImageFamily = {
  gpt: false,
  sizes: ["256x256", "512x512", "1024x1024"],
  freeSizes: false,
  qualities: ["standard"],
  maxImages: 10,
  maxPromptCharacters: 1_000,
  ownFields: ["response_format"],
  edits: true,
  inputFidelity: false,
};

const DALL_E_3: ImageFamily = {
  ...DALL_E_2,
  sizes: ["1024x1024", "1792x1024", "1024x1792"],
  qualities: ["standard", "hd"],
  maxImages: 1,
  maxPromptCharacters: 4_000,
  ownFields: ["response_format", "style"],
  edits: false,
};

const FAMILIES: Readonly<Record<string, ImageFamily>> = {
  standard: { ...GPT, freeSizes: true },
  "gpt-image-2": { ...GPT, freeSizes: true },
  "gpt-image-2-2026-04-21": { ...GPT, freeSizes: true },
  "gpt-image-1.5": GPT,
  "gpt-image-1": GPT,
  "gpt-image-1-mini": { ...GPT, inputFidelity: false },
  "chatgpt-image-latest": GPT,
  "dall-e-2": DALL_E_2,
  "dall-e-3": DALL_E_3,
};

export function imageFamilyOf(model: string): ImageFamily {
  const family = Object.hasOwn(FAMILIES, model) ? FAMILIES[model] : undefined;
  if (family === undefined) throw modelNotFound(model);
  return family;
}

const MAX_SIDE = 3_840;
const MAX_PIXELS = 3_840 * 2_160;
/** The simulator's painter has no smaller canvas. */
const SHORTEST_SIDE = 64;

/** Width and height of a size that the family takes; undefined for `auto`. */
export function measuresOf(size: string, family: ImageFamily): { width: number; height: number } | undefined {
  if (size === "auto" && family.gpt) return undefined;
  const [, first = "", second = ""] = /^(\d{1,5})x(\d{1,5})$/.exec(size) ?? [];
  const [width, height] = [Number(first), Number(second)];
  if (family.sizes.includes(size)) return { width, height };
  if (!family.freeSizes || first === "") {
    const list = family.sizes.map((one) => `'${one}'`).join(", ");
    throw invalid(`Invalid value: '${size}'. Supported values are: ${list}.`, "size", "invalid_value");
  }
  const [long, short] = [Math.max(width, height), Math.min(width, height)];
  const wrong =
    (width % 16 !== 0 || height % 16 !== 0 ? "width and height must both be divisible by 16" : undefined) ??
    (long > short * 3 ? "the ratio of the longer side to the shorter must not exceed 3:1" : undefined) ??
    (long > MAX_SIDE || width * height > MAX_PIXELS ? "the largest size is 3840x2160" : undefined) ??
    (short < SHORTEST_SIDE ? `the shortest side is ${SHORTEST_SIDE}` : undefined);
  if (wrong !== undefined) throw invalid(`Invalid size '${size}': ${wrong}.`, "size", "invalid_value");
  return { width, height };
}
