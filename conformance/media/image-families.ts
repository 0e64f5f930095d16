/** The settings of contract 2.4 that a model may or may not have, by their names in `parameters`. */
export const SETTINGS = [
  "negativePrompt",
  "seed",
  "guidanceScale",
  "enhancePrompt",
  "personGeneration",
  "safetySetting",
  "includeRaiReason",
] as const;

export type Setting = (typeof SETTINGS)[number] | "quality" | "addWatermark";

/**
 * Expectations for one family of models. An unsupported size is `refused`. A `~` before a size means that the model
 * takes shape and level, and chooses the pixels itself, which is noted.
 */
export interface ImageFamily {
  /** The provider whose adapter it is, for the table. */
  provider: string;
  model: string;
  /** Without any options. */
  usual: string;
  /** With `aspectRatio` 16:9. */
  wide: string;
  /** With `sampleImageSize` 2K. */
  large: string;
  /** With `imageSize` 1536x1024. */
  exact: string;
  /** The settings that reach the model; others are noted as dropped, except a watermark, which is refused. */
  takes: readonly Setting[];
  /** The most images of a call, and of one call to the provider. */
  most: number;
  perCall: number;
  /** The most input images. */
  inputs: number;
  mask?: true;
  /** It requires an input image. */
  editsOnly?: true;
  /** Dollars per image, and per large image if that differs; or per million tokens. */
  price: number | { each: number; large: number } | TokenPrices;
}

interface TokenPrices {
  input: number;
  image_input: number;
  output: number;
  image_output: number;
}

const GOOGLE = ["guidanceScale", "personGeneration", "safetySetting", "includeRaiReason"] as const;
const tokens = (input: number, image_input: number, output: number, image_output: number): TokenPrices => {
  return { input, image_input, output, image_output };
};

// biome-ignore format: a table is read in columns
export const IMAGE_FAMILIES: readonly ImageFamily[] = [
  { provider: "openai", model: "openai/gpt-image-2", usual: "png 1024x1024", wide: "1360x768", large: "2048x2048", exact: "1536x1024",
    takes: ["quality"], most: 10, perCall: 10, inputs: 16, mask: true, price: tokens(5, 8, 10, 30) },
  { provider: "openai", model: "openai/gpt-image-1.5", usual: "png 1024x1024", wide: "refused", large: "refused", exact: "1536x1024",
    takes: ["quality"], most: 10, perCall: 10, inputs: 16, mask: true, price: tokens(5, 8, 10, 32) },
  { provider: "openai", model: "own/dall-e-2", usual: "png 1024x1024", wide: "refused", large: "refused", exact: "refused",
    takes: [], most: 10, perCall: 10, inputs: 1, mask: true, price: 0.01 },
  { provider: "openai", model: "own/dall-e-3", usual: "png 1024x1024", wide: "1792x1024", large: "refused", exact: "refused",
    takes: ["quality"], most: 10, perCall: 1, inputs: 0, price: 0.01 },
  { provider: "azure-openai", model: "own/azure-image", usual: "png 1024x1024", wide: "refused", large: "refused", exact: "1536x1024",
    takes: ["quality"], most: 10, perCall: 10, inputs: 16, mask: true, price: 0.01 },
  { provider: "gemini", model: "google/gemini-2.5-flash-image:gemini", usual: "png 1024x1024", wide: "1344x768", large: "refused", exact: "~1248x832",
    takes: ["seed"], most: 4, perCall: 1, inputs: 3, price: tokens(0.3, 0.3, 2.5, 30) },
  { provider: "gemini", model: "google/gemini-3.1-flash-image:gemini", usual: "png 1024x1024", wide: "1344x768", large: "2048x2048", exact: "~1248x832",
    takes: ["seed"], most: 4, perCall: 1, inputs: 14, price: tokens(0.25, 0.25, 1.5, 60) },
  { provider: "gemini", model: "google/imagen-4.0-generate-001:gemini", usual: "png 1024x1024", wide: "1408x768", large: "2048x2048", exact: "refused",
    takes: GOOGLE, most: 4, perCall: 4, inputs: 0, price: 0.04 },
  { provider: "vertex", model: "google/gemini-3.1-flash-image:vertex", usual: "png 1024x1024", wide: "1344x768", large: "2048x2048", exact: "~1248x832",
    takes: ["seed", "personGeneration"], most: 4, perCall: 1, inputs: 14, price: tokens(0.25, 0.25, 1.5, 60) },
  { provider: "vertex", model: "google/imagen-4.0-generate-001:vertex", usual: "png 1024x1024", wide: "1408x768", large: "2048x2048", exact: "refused",
    takes: [...GOOGLE, "negativePrompt", "seed", "enhancePrompt", "addWatermark"], most: 4, perCall: 4, inputs: 0, price: 0.04 },
  { provider: "vertex", model: "google/imagen-3.0-capability-001", usual: "png 1024x1024", wide: "1408x768", large: "refused", exact: "refused",
    takes: [...GOOGLE, "negativePrompt", "seed", "addWatermark"], most: 4, perCall: 4, inputs: 1, mask: true, editsOnly: true, price: 0.04 },
  { provider: "x-ai", model: "x-ai/grok-imagine-image", usual: "jpeg 1024x1024", wide: "1824x1024", large: "2048x2048", exact: "~1536x1024",
    takes: [], most: 10, perCall: 10, inputs: 3, price: 0.02 },
  { provider: "x-ai", model: "own/imagine-2", usual: "jpeg 1024x1024", wide: "1824x1024", large: "2048x2048", exact: "~1536x1024",
    takes: ["quality"], most: 10, perCall: 10, inputs: 3, price: 0.01 },
  { provider: "z-ai", model: "own/glm-image", usual: "png 1280x1280", wide: "1728x960", large: "2048x2048", exact: "refused",
    takes: ["addWatermark"], most: 1, perCall: 1, inputs: 0, price: 0.01 },
  { provider: "z-ai", model: "own/cogview", usual: "png 1024x1024", wide: "1344x768", large: "refused", exact: "refused",
    takes: ["addWatermark", "quality"], most: 1, perCall: 1, inputs: 0, price: 0.01 },
  { provider: "baidu", model: "own/ernie", usual: "png 1024x1024", wide: "1376x768", large: "refused", exact: "refused",
    takes: ["addWatermark"], most: 1, perCall: 1, inputs: 0, price: 0.01 },
  { provider: "baidu", model: "own/musesteamer", usual: "png 1024x1024", wide: "1376x768", large: "refused", exact: "refused",
    takes: ["seed", "enhancePrompt"], most: 1, perCall: 1, inputs: 0, price: 0.01 },
  { provider: "baidu", model: "own/hosted", usual: "png 1024x1024", wide: "1360x768", large: "2048x2048", exact: "1536x1024",
    takes: ["negativePrompt", "seed", "guidanceScale", "enhancePrompt", "addWatermark"], most: 4, perCall: 4, inputs: 0, price: 0.01 },
  { provider: "minimax", model: "own/minimax", usual: "jpeg 1024x1024", wide: "1368x768", large: "2048x2048", exact: "1536x1024",
    takes: ["seed", "enhancePrompt", "addWatermark"], most: 9, perCall: 9, inputs: 1, price: 0.01 },
  { provider: "minimax", model: "own/minimax-live", usual: "jpeg 1024x1024", wide: "1280x720", large: "refused", exact: "~1248x832",
    takes: ["seed", "enhancePrompt", "addWatermark"], most: 9, perCall: 9, inputs: 1, price: 0.01 },
  { provider: "runway", model: "own/gen4", usual: "png 1024x1024", wide: "1360x768", large: "refused", exact: "refused",
    takes: ["seed"], most: 4, perCall: 1, inputs: 3, price: 0.01 },
  { provider: "luma", model: "own/photon", usual: "jpeg 1360x768", wide: "1360x768", large: "refused", exact: "refused",
    takes: [], most: 4, perCall: 1, inputs: 0, price: 0.01 },
  { provider: "volcengine", model: "own/seedream-3", usual: "jpeg 1024x1024", wide: "1360x768", large: "2048x2048", exact: "1536x1024",
    takes: ["seed", "guidanceScale", "addWatermark"], most: 15, perCall: 1, inputs: 0, price: 0.01 },
  { provider: "volcengine", model: "bytedance/doubao-seedream-4-0-250828", usual: "jpeg 2048x2048", wide: "2736x1536", large: "2048x2048", exact: "1536x1024",
    takes: ["addWatermark"], most: 15, perCall: 15, inputs: 14, price: 0.03 },
  { provider: "volcengine", model: "bytedance/doubao-seedream-5-0-pro-260628", usual: "jpeg 1024x1024", wide: "1360x768", large: "2048x2048", exact: "1536x1024",
    takes: ["addWatermark"], most: 15, perCall: 1, inputs: 10, price: { each: 0.045, large: 0.09 } },
  { provider: "qwen", model: "own/qwen-image", usual: "png 1328x1328", wide: "1664x928", large: "refused", exact: "refused",
    takes: ["negativePrompt", "seed", "enhancePrompt", "addWatermark"], most: 6, perCall: 1, inputs: 0, price: 0.01 },
  { provider: "qwen", model: "own/qwen-image-2", usual: "png 1024x1024", wide: "1360x768", large: "2048x2048", exact: "1536x1024",
    takes: ["negativePrompt", "seed", "enhancePrompt", "addWatermark"], most: 6, perCall: 6, inputs: 3, price: 0.01 },
  { provider: "qwen", model: "own/qwen-edit", usual: "png 1024x1024", wide: "1360x768", large: "2048x2048", exact: "1536x1024",
    takes: ["negativePrompt", "seed", "enhancePrompt", "addWatermark"], most: 6, perCall: 6, inputs: 3, editsOnly: true, price: 0.01 },
  { provider: "qwen", model: "own/wan-2.7", usual: "png 1024x1024", wide: "1360x768", large: "2048x2048", exact: "1536x1024",
    takes: ["seed", "enhancePrompt", "addWatermark"], most: 4, perCall: 4, inputs: 9, price: 0.01 },
  { provider: "qwen", model: "own/wan-2.5", usual: "png 1024x1024", wide: "1360x768", large: "refused", exact: "refused",
    takes: ["negativePrompt", "seed", "enhancePrompt", "addWatermark"], most: 4, perCall: 4, inputs: 0, price: 0.01 },
  { provider: "qwen", model: "own/wan-edit", usual: "png 1024x1024", wide: "1360x768", large: "refused", exact: "refused",
    takes: ["negativePrompt", "seed", "enhancePrompt", "addWatermark"], most: 4, perCall: 4, inputs: 3, editsOnly: true, price: 0.01 },
  { provider: "black-forest-labs", model: "black-forest-labs/flux-2-pro", usual: "jpeg 1024x1024", wide: "1360x768", large: "2048x2048", exact: "1536x1024",
    takes: ["seed", "enhancePrompt"], most: 1, perCall: 1, inputs: 8, price: 0.03 },
  { provider: "black-forest-labs", model: "black-forest-labs/flux-2-flex", usual: "jpeg 1024x1024", wide: "1360x768", large: "2048x2048", exact: "1536x1024",
    takes: ["seed", "enhancePrompt", "guidanceScale"], most: 1, perCall: 1, inputs: 8, price: 0.05 },
  { provider: "black-forest-labs", model: "black-forest-labs/flux-kontext-pro", usual: "jpeg 1024x1024", wide: "1360x768", large: "refused", exact: "~1248x832",
    takes: ["seed", "enhancePrompt"], most: 1, perCall: 1, inputs: 4, price: 0.04 },
  { provider: "black-forest-labs", model: "black-forest-labs/flux-pro-1.1", usual: "jpeg 1024x1024", wide: "1376x768", large: "refused", exact: "refused",
    takes: ["seed", "enhancePrompt"], most: 1, perCall: 1, inputs: 1, price: 0.04 },
  { provider: "black-forest-labs", model: "black-forest-labs/flux-pro-1.0-fill", usual: "jpeg 1024x1024", wide: "refused", large: "refused", exact: "refused",
    takes: ["seed", "enhancePrompt", "guidanceScale"], most: 1, perCall: 1, inputs: 1, mask: true, editsOnly: true, price: 0.05 },
  { provider: "kling", model: "klingai/kling-image-v3", usual: "png 1360x768", wide: "1360x768", large: "2736x1536", exact: "~1248x832",
    takes: ["negativePrompt", "addWatermark"], most: 9, perCall: 9, inputs: 1, price: 0.028 },
  { provider: "hunyuan", model: "own/hunyuan", usual: "png 1024x1024", wide: "refused", large: "refused", exact: "refused",
    takes: ["seed", "enhancePrompt", "addWatermark"], most: 1, perCall: 1, inputs: 3, price: 0.01 },
  { provider: "hunyuan", model: "own/hunyuan-lite", usual: "png 1024x1024", wide: "1280x720", large: "refused", exact: "refused",
    takes: ["negativePrompt", "seed", "addWatermark"], most: 1, perCall: 1, inputs: 0, price: 0.01 },
];
