import type { Exchange } from "../../../exchange.ts";
import { decodeBase64 } from "../../../inspect-media.ts";
import { isObject, type Json } from "../../../json.ts";
import { Fields } from "../../../media/fields.ts";
import { imageOfBytes } from "../../../media/given-image.ts";
import { seedOf } from "../../../media/seed-of.ts";
import { names } from "../../../names.ts";
import type { ImageSize } from "../../../sniff-image.ts";
import { countTokens } from "../../../text/tokens.ts";
import { jsonBody } from "../read-envelope.ts";
import { GOOGLE_REFUSALS, unsupported } from "../refusals.ts";
import { type GoogleHost, invalid } from "../text/errors.ts";
import { readContents } from "../text/read-contents.ts";
import { REQUEST_FIELDS } from "../text/read-request.ts";

const GENERATION = names(
  `temperature topP topK candidateCount maxOutputTokens stopSequences presencePenalty frequencyPenalty seed responseMimeType
  responseModalities thinkingConfig mediaResolution imageConfig`,
);
const IMAGE_CONFIG = {
  gemini: names("aspectRatio imageSize"),
  vertex: names(
    "aspectRatio imageSize personGeneration prominentPeople outputMimeType outputCompressionQuality imageOutputOptions",
  ),
} as const;
const MAX_SIDE = 4096;
/** The widths and heights of 1K. */
const SIZES = {
  "1:1": [1024, 1024],
  "2:3": [832, 1248],
  "3:2": [1248, 832],
  "3:4": [864, 1184],
  "4:3": [1184, 864],
  "4:5": [896, 1152],
  "5:4": [1152, 896],
  "9:16": [768, 1344],
  "16:9": [1344, 768],
  "21:9": [1536, 672],
} as const;
const RATIOS = Object.keys(SIZES) as (keyof typeof SIZES)[];
const TIERS = { "1K": 1, "2K": 2, "4K": 4 } as const;

export interface ImageCall extends ImageSize {
  prompt: string;
  seed: number;
  format: "png" | "jpeg" | "webp";
  quality?: number;
  inputs: number;
  writes: boolean;
  draws: boolean;
  showsThoughts: boolean;
  tier: keyof typeof TIERS;
  textTokens: number;
  imageTokens: number;
}

/** The size of the last input image, which is the default ratio of the result. */
function lastSize(contents: Json | undefined): ImageSize | undefined {
  const parts = (Array.isArray(contents) ? contents : []).flatMap((content) =>
    isObject(content) && Array.isArray(content.parts) ? content.parts : [],
  );
  const sizes = parts.map((part) => {
    const data = isObject(part) && isObject(part.inlineData) ? part.inlineData.data : undefined;
    return typeof data === "string" ? imageOfBytes(decodeBase64(data))?.size : undefined;
  });
  return sizes.findLast((size) => size !== undefined);
}

function nearestRatio(size: ImageSize): keyof typeof SIZES {
  const distance = (ratio: keyof typeof SIZES): number => {
    const [width, height] = SIZES[ratio];
    return Math.abs(Math.log((width * size.height) / (height * size.width)));
  };
  return RATIOS.reduce((best, ratio) => (distance(ratio) < distance(best) ? ratio : best));
}

function readOutput(config: Fields | undefined): Pick<ImageCall, "format" | "quality"> {
  const options = config?.object("imageOutputOptions", names("mimeType compressionQuality"));
  const types = ["image/png", "image/jpeg", "image/webp"] as const;
  const type = options?.choice("mimeType", types) ?? config?.choice("outputMimeType", types) ?? "image/png";
  const quality =
    options?.whole("compressionQuality", 0, 100) ?? config?.whole("outputCompressionQuality", 0, 100) ?? undefined;
  const format = type === "image/png" ? "png" : type === "image/jpeg" ? "jpeg" : "webp";
  return { format, ...(quality === undefined ? {} : { quality: Math.max(1, quality) }) };
}

function readSize(
  config: Fields | undefined,
  model: string,
  contents: Json | undefined,
): ImageSize & Pick<ImageCall, "tier"> {
  const asked = config?.choice("imageSize", Object.keys(TIERS) as (keyof typeof TIERS)[]);
  if (asked !== undefined && model.startsWith("gemini-2")) throw unsupported("imageSize", model);
  const given = lastSize(contents);
  const [width, height] = SIZES[config?.choice("aspectRatio", RATIOS) ?? (given ? nearestRatio(given) : "1:1")];
  const tier = asked ?? "1K";
  // Where the host's largest images are larger than can be drawn, they keep their ratio.
  const scale = Math.min(TIERS[tier], MAX_SIDE / Math.max(width, height));
  return { width: Math.round(width * scale), height: Math.round(height * scale), tier };
}

function readModalities(generation: Fields): { writes: boolean; draws: boolean } {
  const asked = generation.list("responseModalities");
  const unable = asked.find((one) => one !== "TEXT" && one !== "IMAGE");
  if (unable !== undefined) {
    throw invalid(`This model does not support the requested response modality: ${String(unable)}`);
  }
  const isOpen = asked.length === 0;
  return { writes: isOpen || asked.includes("TEXT"), draws: isOpen || asked.includes("IMAGE") };
}

function readThinking(generation: Fields): boolean {
  const thinking = generation.object("thinkingConfig", names("thinkingBudget thinkingLevel includeThoughts"));
  const level = thinking?.text("thinkingLevel");
  if (level !== undefined && !["MINIMAL", "LOW", "MEDIUM", "HIGH"].includes(level.toUpperCase())) {
    throw GOOGLE_REFUSALS.invalid("generationConfig.thinkingConfig.thinkingLevel", "ThinkingLevel", level);
  }
  if (level !== undefined && thinking?.has("thinkingBudget")) {
    throw invalid("Thinking level and thinking budget cannot be set together.");
  }
  return thinking?.flag("includeThoughts") ?? false;
}

/** Reads a generateContent call of a model that draws. */
export function readImageCall(exchange: Exchange, host: GoogleHost, model: string): ImageCall {
  const body = new Fields(jsonBody(exchange), "", REQUEST_FIELDS[host], GOOGLE_REFUSALS);
  const contents = body.value("contents");
  const turns = readContents(contents);
  const generation = new Fields(body.value("generationConfig") ?? {}, "generationConfig", GENERATION, GOOGLE_REFUSALS);
  if ((generation.whole("candidateCount", 1, 8) ?? 1) > 1) {
    throw invalid("Multiple candidates is not enabled for this model");
  }
  const config = generation.object("imageConfig", IMAGE_CONFIG[host]);
  config?.choice("personGeneration", ["ALLOW_ALL", "ALLOW_ADULT", "ALLOW_NONE"]);
  const asked = turns.findLast((turn) => turn.role === "user")?.parts ?? [];
  const prompt = asked.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n");
  const media = turns.flatMap((turn) => turn.parts.flatMap((part) => (part.type === "media" ? [part.media] : [])));
  const words = turns.flatMap((turn) => turn.parts.flatMap((part) => (part.type === "text" ? [part.text] : [])));
  return {
    prompt,
    seed: generation.whole("seed", -(2 ** 31), 2 ** 31 - 1) ?? seedOf(prompt),
    ...readOutput(config),
    ...readSize(config, model, contents),
    ...readModalities(generation),
    inputs: media.filter((one) => one.modality === "IMAGE").length,
    showsThoughts: readThinking(generation),
    textTokens: words.reduce((sum, text) => sum + countTokens(text), 0),
    imageTokens: media.reduce((sum, one) => sum + one.tokens, 0),
  };
}
