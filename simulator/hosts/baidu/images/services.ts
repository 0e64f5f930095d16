import { parseDrawable } from "../../../media/image-size.ts";
import type { ImageSize } from "../../../sniff-image.ts";

/** The families of image models have URLs of their own. */
export interface ImageService {
  /** How its URL ends. */
  path: string;
  model: RegExp;
  fields: readonly string[];
  maxImages: number;
  /** Of a prompt. */
  maxCharacters: number;
  /** The measures of a size; undefined where it is refused. */
  measures: (size: string) => ImageSize | undefined;
  ownSize: string;
  takesImages: boolean;
}

const ERNIE_SIZES = ["1024x1024", "848x1264", "768x1376", "896x1200", "1264x848", "1376x768", "1200x896"];
const MIN_SIDE = 512;
const MAX_SIDE = 2_048;
const GENERAL_FIELDS = ["n", "size", "steps", "seed", "guidance", "negative_prompt", "prompt_extend", "watermark"];

function withinBounds(size: string): ImageSize | undefined {
  const measures = parseDrawable(size, "x");
  if (measures === undefined) return undefined;
  const sides = [measures.width, measures.height];
  return sides.every((side) => side >= MIN_SIDE && side <= MAX_SIDE) ? measures : undefined;
}

/** The longest URL comes first, because the others are suffixes of it. */
export const SERVICES: readonly ImageService[] = [
  {
    path: "/ernie-image/images/generations",
    model: /^(standard|ernie-image-turbo)$/,
    fields: ["size", "watermark"],
    maxImages: 1,
    maxCharacters: 2_048,
    // A size that it does not know is not refused: the image has another one than was asked for.
    measures: (size) => parseDrawable(ERNIE_SIZES.includes(size) ? size : "1376x768", "x"),
    ownSize: "1024x1024",
    takesImages: false,
  },
  {
    path: "/musesteamer/images/generations",
    model: /^(standard|musesteamer-air-image)$/,
    fields: ["size", "seed", "prompt_extend", "response_format"],
    maxImages: 1,
    maxCharacters: 2_048,
    measures: withinBounds,
    ownSize: "1024x1024",
    takesImages: false,
  },
  {
    path: "/images/generations",
    model: /^(standard|qwen-image|flux\.1-[\w-]+)$/,
    fields: GENERAL_FIELDS,
    maxImages: 4,
    maxCharacters: 100_000,
    measures: withinBounds,
    ownSize: "1024x1024",
    takesImages: false,
  },
  {
    path: "/images/edits",
    model: /^(standard|qwen-image-edit|flux\.1-[\w-]+|ernie-irag-edit)$/,
    fields: [...GENERAL_FIELDS, "image"],
    maxImages: 4,
    maxCharacters: 100_000,
    measures: withinBounds,
    ownSize: "1024x1024",
    takesImages: true,
  },
];
