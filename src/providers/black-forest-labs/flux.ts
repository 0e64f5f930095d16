import type { ImageAbilities } from "../../media/image-abilities.ts";

/** How a model is given the images to go by. */
export type InputField = "input_image" | "image_prompt" | "image";

export interface Flux {
  abilities: ImageAbilities;
  inputField: InputField;
  /** Fields of the host's own that a client may set. */
  extras: readonly string[];
}

const STANDARD = { width: 1024, height: 1024 };
const RATIOS = ["1:1", "4:3", "3:4", "16:9", "9:16", "3:2", "2:3", "21:9", "9:21"];

const EVERY: ImageAbilities = {
  maxCount: 1,
  perCall: 1,
  takes: ["seed", "enhancePrompt"],
  seeds: { min: 0, max: 4_294_967_295 },
  sizes: { kind: "ratio", ratios: RATIOS, tiers: [] },
  maxInputs: 1,
  mask: false,
  formats: ["image/jpeg", "image/png"],
  compresses: false,
};

const guided = (abilities: ImageAbilities): ImageAbilities => ({
  ...abilities,
  takes: ["seed", "enhancePrompt", "guidanceScale"],
  guidance: { min: 1, max: 100 },
});

const V2: Flux = {
  abilities: {
    ...EVERY,
    sizes: {
      kind: "free",
      free: { multipleOf: 16, minSide: 64, maxSide: 4096, maxPixels: 4_194_304, maxRatio: 16 },
      tiers: ["1K", "2K"],
      standard: STANDARD,
    },
    maxInputs: 8,
  },
  inputField: "input_image",
  extras: ["safety_tolerance"],
};

const V2_FLEX: Flux = { ...V2, abilities: guided(V2.abilities), extras: ["safety_tolerance", "steps"] };

const KONTEXT: Flux = {
  abilities: { ...EVERY, maxInputs: 4 },
  inputField: "input_image",
  extras: ["safety_tolerance"],
};

const ULTRA: Flux = {
  abilities: EVERY,
  inputField: "image_prompt",
  extras: ["safety_tolerance", "raw", "image_prompt_strength"],
};

const V1: Flux = {
  abilities: {
    ...EVERY,
    sizes: {
      kind: "free",
      free: { multipleOf: 32, minSide: 256, maxSide: 1440, maxRatio: 5.625 },
      tiers: ["1K"],
      standard: STANDARD,
    },
  },
  inputField: "image_prompt",
  extras: ["safety_tolerance"],
};

const DEV: Flux = { ...V1, abilities: guided(V1.abilities), extras: ["safety_tolerance", "steps"] };

const FILL: Flux = {
  // It paints where its mask is white.
  abilities: { ...guided(EVERY), sizes: { kind: "none" }, imageOnly: true, mask: true, maskForm: "white" },
  inputField: "image",
  extras: ["safety_tolerance", "steps"],
};

const EXPAND: Flux = {
  abilities: { ...FILL.abilities, mask: false },
  inputField: "image",
  extras: ["safety_tolerance", "steps", "top", "bottom", "left", "right"],
};

const FAMILIES: readonly [RegExp, Flux][] = [
  [/^flux-2-flex/, V2_FLEX],
  [/^flux-2-/, V2],
  [/^flux-kontext/, KONTEXT],
  [/-ultra/, ULTRA],
  [/-fill/, FILL],
  [/-expand/, EXPAND],
  [/^flux-dev/, DEV],
];

/** What a model of the FLUX families can do, and how it is asked. */
export function flux(model: string): Flux {
  return FAMILIES.find(([pattern]) => pattern.test(model))?.[1] ?? V1;
}
