import type { ImageCapabilities } from "../../media/image-capabilities.ts";

/** The field for a model's input images. */
type InputField = "input_image" | "image_prompt" | "image";

interface Flux {
  capabilities: ImageCapabilities;
  inputField: InputField;
  /** Host-specific fields that a client may set. */
  extras: readonly string[];
}

const STANDARD = { width: 1024, height: 1024 };
const RATIOS = ["1:1", "4:3", "3:4", "16:9", "9:16", "3:2", "2:3", "21:9", "9:21"];

const EVERY: ImageCapabilities = {
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

const guided = (capabilities: ImageCapabilities): ImageCapabilities => ({
  ...capabilities,
  takes: ["seed", "enhancePrompt", "guidanceScale"],
  guidance: { min: 1, max: 100 },
});

const V2: Flux = {
  capabilities: {
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

const V2_FLEX: Flux = { ...V2, capabilities: guided(V2.capabilities), extras: ["safety_tolerance", "steps"] };

const KONTEXT: Flux = {
  capabilities: { ...EVERY, maxInputs: 4 },
  inputField: "input_image",
  extras: ["safety_tolerance"],
};

const ULTRA: Flux = {
  capabilities: EVERY,
  inputField: "image_prompt",
  extras: ["safety_tolerance", "raw", "image_prompt_strength"],
};

const V1: Flux = {
  capabilities: {
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

const DEV: Flux = { ...V1, capabilities: guided(V1.capabilities), extras: ["safety_tolerance", "steps"] };

const FILL: Flux = {
  // It edits where its mask is white.
  capabilities: { ...guided(EVERY), sizes: { kind: "none" }, imageOnly: true, mask: true, maskForm: "white" },
  inputField: "image",
  extras: ["safety_tolerance", "steps"],
};

const EXPAND: Flux = {
  capabilities: { ...FILL.capabilities, mask: false },
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

/** What a model of the FLUX families can do, and the fields of its requests. */
export function flux(model: string): Flux {
  return FAMILIES.find(([pattern]) => pattern.test(model))?.[1] ?? V1;
}
