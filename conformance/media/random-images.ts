import fc from "fast-check";
import type { InlineImage } from "../../src/media/image.ts";
import { halfTransparent, plainPng, recoded } from "../../src/media/images.sample.ts";

/** One of the three image endpoints, and what is sent there. */
export interface RandomImageRequest {
  door: "predict" | "generations" | "edits";
  /** The settings by the door's own names; `predict` has those of `parameters`. */
  settings: Record<string, unknown>;
  prompt: string;
  inputs: readonly InlineImage[];
  mask: InlineImage | undefined;
  /** predict: images as references instead of the one source, and the passthrough settings at the root. */
  likeSdk: boolean;
}

const SIDE = 320;
const SQUARE = plainPng(SIDE, SIDE);
const WIDE = plainPng(480, 320);
const IMAGES: readonly InlineImage[] = [
  SQUARE,
  SQUARE,
  WIDE,
  await recoded(WIDE, "jpeg"),
  await recoded(SQUARE, "webp"),
  { mimeType: "image/gif", base64: gif(SIDE, SIDE) },
];
const MASK = halfTransparent(SIDE, SIDE);

/** An image of one colour: its codes never grow, because the table is cleared before they would. */
function gif(width: number, height: number): string {
  const head = Buffer.from("GIF89a\0\0\0\0\x80\0\0\xc8\x1e\x1e\0\0\0,\0\0\0\0\0\0\0\0\0\x02", "latin1");
  for (const offset of [6, 24]) {
    head.writeUInt16LE(width, offset);
    head.writeUInt16LE(height, offset + 2);
  }
  const bits: number[] = [];
  const put = (code: number) => bits.push(code & 1, (code >> 1) & 1, (code >> 2) & 1);
  for (let pixel = 0; pixel < width * height; pixel += 2) {
    put(4);
    put(0);
    put(0);
  }
  put(5);
  const codes = Buffer.alloc(Math.ceil(bits.length / 8));
  for (const [index, bit] of bits.entries()) codes[index >> 3] = (codes[index >> 3] ?? 0) | (bit << (index & 7));
  const blocks: Buffer[] = [];
  for (let at = 0; at < codes.length; at += 255) {
    const block = codes.subarray(at, at + 255);
    blocks.push(Buffer.from([block.length]), block);
  }
  return Buffer.concat([head, ...blocks, Buffer.from("\0;", "latin1")]).toString("base64");
}

const prompts = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom("a red fox", "ein Fuchs, der über die Wiese läuft", "一只红狐狸 🦊") },
  { weight: 1, arbitrary: fc.constantFrom(600, 1100, 1600, 2200, 2600).map((length) => "fox ".repeat(length / 4)) },
);
const counts = fc.oneof(
  { weight: 8, arbitrary: fc.integer({ min: 1, max: 3 }) },
  { weight: 1, arbitrary: fc.constantFrom(4, 5, 9, 10, 11, 16) },
);
const seeds = fc.constantFrom(0, 1, 7, -1, 99_999, 2_147_483_647, 2_147_483_648, 4_294_967_295, 2 ** 40);
const ratios = fc.constantFrom(
  ...["1:1", "4:3", "3:4", "16:9", "9:16", "2:3", "3:2", "21:9", "9:21", "4:5", "5:4", "2:1", "7:5", "1:4", "auto"],
);
const sizes = fc.constantFrom(
  ...["auto", "1024x1024", "1536x1024", "1024x1536", "1000x1000", "640x480", "1792x1024", "2048x1152", "256x256"],
  ...["3840x2160", "4096x4096", "1280x720", "3000x1000", "200x1600", "1K", "2K", "4k"],
);
const tiers = fc.constantFrom("1K", "2K", "4K", "1k");
const guidance = fc.constantFrom(0, 1, 3.5, 7, 12, 60, -2);
const qualities = fc.constantFrom("low", "medium", "high", "auto", "standard", "hd");
const compressions = fc.constantFrom(0, 1, 75, 100);
const words = fc.constantFrom("blur", "low quality, text", "");

const predictSettings = fc.record(
  {
    sampleCount: counts,
    negativePrompt: words,
    aspectRatio: ratios,
    outputOptions: fc.record(
      { mimeType: fc.constantFrom("image/png", "image/jpeg"), compressionQuality: compressions },
      { requiredKeys: [] },
    ),
    seed: seeds,
    enhancePrompt: fc.boolean(),
    personGeneration: fc.constantFrom("dont_allow", "allow_adult", "ALLOW_ADULT", "allow_all"),
    safetySetting: fc.constantFrom("block_only_high", "BLOCK_LOW_AND_ABOVE", "block_medium_and_above", "block_none"),
    includeRaiReason: fc.boolean(),
    addWatermark: fc.boolean(),
    guidanceScale: guidance,
    imageSize: sizes,
    quality: qualities,
    sampleImageSize: tiers,
  },
  { requiredKeys: [] },
);

const imagesSettings = {
  n: counts,
  size: sizes,
  quality: qualities,
  background: fc.constantFrom("transparent", "opaque", "auto"),
  output_format: fc.constantFrom("png", "jpeg", "webp"),
  output_compression: compressions,
  response_format: fc.constantFrom("b64_json", "url"),
  user: fc.constant("somebody"),
  aspect_ratio: ratios,
  seed: seeds,
  negative_prompt: words,
  guidance_scale: guidance,
  watermark: fc.boolean(),
  moderation: fc.constantFrom("auto", "low"),
};

const streaming = {
  stream: fc.boolean(),
  partial_images: fc.integer({ min: 0, max: 3 }),
};

const generationSettings = fc.record({ ...imagesSettings, ...streaming }, { requiredKeys: [] });
const editSettings = fc.record(
  { ...imagesSettings, ...streaming, input_fidelity: fc.constantFrom("high", "low") },
  { requiredKeys: [] },
);

/** Most keys of a random record are removed again: with all of them nearly every request would be refused. */
const few = <T extends Record<string, unknown>>(settings: fc.Arbitrary<T>): fc.Arbitrary<Record<string, unknown>> =>
  fc.tuple(settings, fc.infiniteStream(fc.integer({ min: 0, max: 3 })), fc.boolean()).map(([all, dice, whole]) => {
    const kept = Object.entries(all).filter(() => whole || dice.next().value === 0);
    return Object.fromEntries(kept);
  });

const images = (least: number) =>
  fc.oneof(
    { weight: 5, arbitrary: fc.array(fc.constantFrom(...IMAGES), { minLength: least, maxLength: 3 }) },
    { weight: 1, arbitrary: fc.constantFrom(4, 8, 9, 14, 15).map((count) => Array<InlineImage>(count).fill(SQUARE)) },
  );

const masked = fc.constantFrom(true, false, false);

const requestAt = (door: RandomImageRequest["door"], settings: fc.Arbitrary<Record<string, unknown>>, least: number) =>
  fc
    .record({ settings, prompt: prompts, inputs: images(least), given: fc.boolean(), masked, likeSdk: fc.boolean() })
    .map(({ inputs: drawn, given, masked: withMask, ...rest }): RandomImageRequest => {
      const inputs = given || least > 0 ? drawn : [];
      const mask = withMask && door !== "generations" && inputs.length > 0;
      // A mask is as large as the image that it belongs to.
      return { ...rest, door, inputs: mask ? [SQUARE, ...inputs.slice(1)] : inputs, mask: mask ? MASK : undefined };
    });

/** Requests that are valid at their endpoint, whether or not a model can meet them. */
export const randomImageRequest: fc.Arbitrary<RandomImageRequest> = fc.oneof(
  { weight: 3, arbitrary: requestAt("predict", few(predictSettings), 0) },
  { weight: 2, arbitrary: requestAt("generations", few(generationSettings), 0) },
  { weight: 2, arbitrary: requestAt("edits", few(editSettings), 1) },
);
