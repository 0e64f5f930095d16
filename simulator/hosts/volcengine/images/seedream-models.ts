import type { ImageSize } from "../../../sniff-image.ts";

/** What one generation of the image models takes. */
export interface SeedreamModel {
  name: RegExp;
  /** By name, the length of a square's side. */
  tiers: Readonly<Record<string, number>>;
  /** Whether a custom size is accepted. */
  takes: (size: ImageSize) => boolean;
  defaultSize: ImageSize;
  maxReferences: number;
  batch: boolean;
  stream: boolean;
  formats: readonly ("png" | "jpeg")[];
  /** The parameters that not every generation has. */
  extras: readonly string[];
}

const square = (side: number): ImageSize => ({ width: side, height: side });
const pixels = ({ width, height }: ImageSize): number => width * height;
const sidesWithin =
  (min: number, max: number) =>
  ({ width, height }: ImageSize): boolean =>
    Math.min(width, height) >= min && Math.max(width, height) <= max;
const ONE_FORMAT = ["jpeg"] as const;
const BOTH_FORMATS = ["png", "jpeg"] as const;

/** What the models of the fourth generation share. */
const FOURTH = {
  defaultSize: square(2048),
  maxReferences: 14,
  batch: true,
  stream: true,
  formats: ONE_FORMAT,
  extras: [],
} as const;

const MODELS: readonly SeedreamModel[] = [
  {
    name: /^(doubao-)?seedream-5-0-pro(-\d{6})?$/,
    tiers: { "1K": 1024, "1.5K": 1536, "2K": 2048 },
    takes: (size) => pixels(size) >= 921_600 && pixels(size) <= 4_624_220,
    defaultSize: square(2048),
    maxReferences: 10,
    batch: false,
    stream: false,
    formats: BOTH_FORMATS,
    extras: ["output_format", "background", "layer_decomposition"],
  },
  {
    name: /^(doubao-seedream-5-0-lite|seedream-5-0-lite|seedream-5-0)(-\d{6})?$/,
    tiers: { "2K": 2048, "3K": 3072, "4K": 4096 },
    takes: (size) => pixels(size) >= 3_686_400,
    defaultSize: square(2048),
    maxReferences: 14,
    batch: true,
    stream: true,
    formats: BOTH_FORMATS,
    extras: ["output_format", "tools"],
  },
  {
    name: /^(doubao-)?seedream-4-5(-\d{6})?$/,
    ...FOURTH,
    tiers: { "2K": 2048, "4K": 4096 },
    takes: () => true,
  },
  {
    name: /^(doubao-)?seedream-4-0(-\d{6})?$/,
    ...FOURTH,
    tiers: { "1K": 1024, "2K": 2048, "4K": 4096 },
    takes: ({ width, height }) => width <= height * 16 && height <= width * 16,
  },
  {
    name: /^(doubao-)?seedream-3-0-t2i(-\d{6})?$/,
    tiers: {},
    takes: sidesWithin(512, 2048),
    defaultSize: square(1024),
    maxReferences: 0,
    batch: false,
    stream: false,
    formats: ONE_FORMAT,
    extras: ["seed", "guidance_scale"],
  },
  {
    // A deployment may hold any of them, and `standard` is one that takes everything.
    name: /^(standard|ep-[\w-]+)$/,
    tiers: { "1K": 1024, "1.5K": 1536, "2K": 2048, "3K": 3072, "4K": 4096 },
    takes: () => true,
    defaultSize: square(1024),
    maxReferences: 14,
    batch: true,
    stream: true,
    formats: BOTH_FORMATS,
    extras: ["output_format", "tools", "background", "layer_decomposition", "seed", "guidance_scale"],
  },
];

export function seedreamModel(name: string): SeedreamModel | undefined {
  return MODELS.find((model) => model.name.test(name));
}
