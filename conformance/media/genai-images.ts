import * as Genai2 from "@google/genai";
import * as Genai1 from "genai-1";
import type { GenaiSetup } from "../sdk/genai-clients.ts";
import type { ErrorClass } from "../sdk/support.ts";

/** What the scenarios use of both generations of the package. */
export interface ImageConfig {
  numberOfImages?: number;
  negativePrompt?: string;
  aspectRatio?: string;
  guidanceScale?: number;
  seed?: number;
  includeRaiReason?: boolean;
  outputMimeType?: string;
  outputCompressionQuality?: number;
  addWatermark?: boolean;
  enhancePrompt?: boolean;
  imageSize?: string;
  abortSignal?: AbortSignal;
  /** The two settings that are enumerations, of which each generation has its own. */
  people?: "adults";
  filter?: "high only";
  httpOptions?: { headers?: Record<string, string>; extraBody?: Record<string, unknown> };
}

export interface GivenImage {
  imageBytes: string;
  mimeType: string;
}

export interface ImageAnswer {
  generatedImages?: {
    image?: { imageBytes?: string; mimeType?: string; gcsUri?: string };
    raiFilteredReason?: string;
    enhancedPrompt?: string;
  }[];
  sdkHttpResponse?: { headers?: Record<string, string> };
}

export interface GenaiImages {
  version: string;
  error: ErrorClass & (abstract new (...parameters: never[]) => { status: number });
  connect(setup: GenaiSetup): {
    generate(model: string, prompt: string, config?: ImageConfig): Promise<ImageAnswer>;
    edit(
      model: string,
      prompt: string,
      images: { inputs: readonly GivenImage[]; mask?: GivenImage },
      config?: ImageConfig,
    ): Promise<ImageAnswer>;
  };
}

function config2({ people, filter, ...config }: ImageConfig): Genai2.GenerateImagesConfig & { seed?: number } {
  return {
    ...config,
    ...(people && { personGeneration: Genai2.PersonGeneration.ALLOW_ADULT }),
    ...(filter && { safetyFilterLevel: Genai2.SafetyFilterLevel.BLOCK_ONLY_HIGH }),
  };
}

function config1({ people, filter, ...config }: ImageConfig): Genai1.GenerateImagesConfig & { seed?: number } {
  return {
    ...config,
    ...(people && { personGeneration: Genai1.PersonGeneration.ALLOW_ADULT }),
    ...(filter && { safetyFilterLevel: Genai1.SafetyFilterLevel.BLOCK_ONLY_HIGH }),
  };
}

/** Fills instances of that generation's classes: the package accepts no plain objects. */
function references<Raw extends object, Mask extends object>(
  { inputs, mask }: { inputs: readonly GivenImage[]; mask?: GivenImage },
  raw: Raw[],
  masked: () => Mask,
  maskMode: unknown,
): (Raw | Mask)[] {
  const filled = raw.map((one, index) => Object.assign(one, { referenceId: index + 1, referenceImage: inputs[index] }));
  if (mask === undefined) return filled;
  return [
    ...filled,
    Object.assign(masked(), { referenceId: inputs.length + 1, referenceImage: mask, config: { maskMode } }),
  ];
}

export const GENAI_IMAGES: readonly GenaiImages[] = [
  {
    version: "2",
    error: Genai2.ApiError,
    connect: (setup) => {
      const { models } = new Genai2.GoogleGenAI(setup);
      return {
        generate: (model, prompt, config = {}) => models.generateImages({ model, prompt, config: config2(config) }),
        edit: (model, prompt, images, config = {}) =>
          models.editImage({
            model,
            prompt,
            config: config2(config),
            referenceImages: references(
              images,
              images.inputs.map(() => new Genai2.RawReferenceImage()),
              () => new Genai2.MaskReferenceImage(),
              Genai2.MaskReferenceMode.MASK_MODE_USER_PROVIDED,
            ),
          }),
      };
    },
  },
  {
    version: "1",
    error: Genai1.ApiError,
    connect: (setup) => {
      const { models } = new Genai1.GoogleGenAI(setup);
      return {
        generate: (model, prompt, config = {}) => models.generateImages({ model, prompt, config: config1(config) }),
        edit: (model, prompt, images, config = {}) =>
          models.editImage({
            model,
            prompt,
            config: config1(config),
            referenceImages: references(
              images,
              images.inputs.map(() => new Genai1.RawReferenceImage()),
              () => new Genai1.MaskReferenceImage(),
              Genai1.MaskReferenceMode.MASK_MODE_USER_PROVIDED,
            ),
          }),
      };
    },
  },
];

/** The two ways to configure the package: the contract's own, and with only a host. */
export const contractDoor = (gatewayUrl: string, apiKey: string): GenaiSetup => ({
  vertexai: true,
  apiKey,
  httpOptions: { baseUrl: `${gatewayUrl}/api/genai`, apiVersion: "v1" },
});

export const dropInDoor = (gatewayUrl: string, apiKey: string): GenaiSetup => ({
  vertexai: false,
  apiKey,
  httpOptions: { baseUrl: gatewayUrl },
});
