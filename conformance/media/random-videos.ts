import fc from "fast-check";
import type { InlineImage } from "../../src/media/image.ts";
import { plainPng, recoded } from "../../src/media/images.sample.ts";

/** A request for videos, whether or not a model can meet it. */
export interface RandomVideoRequest {
  prompt: string | undefined;
  image: InlineImage | undefined;
  lastFrame: InlineImage | undefined;
  parameters: Record<string, unknown>;
}

const LANDSCAPE = plainPng(640, 360);
const FRAMES: readonly InlineImage[] = [
  LANDSCAPE,
  plainPng(360, 640),
  await recoded(LANDSCAPE, "jpeg"),
  await recoded(LANDSCAPE, "webp"),
];

const parameters = fc.record(
  {
    aspectRatio: fc.constantFrom("16:9", "9:16", "1:1", "4:3", "3:4", "21:9", "2:3", "7:5", "auto"),
    resolution: fc.constantFrom("480p", "512p", "720p", "768p", "1080p", "2k", "4k", "1080P"),
    durationSeconds: fc.constantFrom(1, 3, 4, 5, 6, 7, 8, 9, 10, 12, 15, 20),
    generateAudio: fc.boolean(),
    negativePrompt: fc.constantFrom("blur", ""),
    enhancePrompt: fc.boolean(),
    personGeneration: fc.constantFrom("dont_allow", "allow_adult", "ALLOW_ALL"),
    sampleCount: fc.constantFrom(1, 1, 1, 2, 3, 4, 5),
    seed: fc.constantFrom(0, 7, -1, 2_147_483_647, 2_147_483_648, 4_294_967_295, 2 ** 40),
    fps: fc.constantFrom(1, 24, 25, 30, 60),
  },
  { requiredKeys: [] },
);

const frame = fc.option(fc.constantFrom(...FRAMES), { nil: undefined, freq: 2 });

export const randomVideoRequest: fc.Arbitrary<RandomVideoRequest> = fc
  .record({
    prompt: fc.oneof(
      { weight: 5, arbitrary: fc.constantFrom("a fox runs", "一只狐狸 🦊") },
      { weight: 1, arbitrary: fc.constantFrom(520, 1100, 2100, 2600).map((length) => "fox ".repeat(length / 4)) },
      { weight: 1, arbitrary: fc.constant(undefined) },
    ),
    image: frame,
    lastFrame: frame,
    parameters,
  })
  // A request needs a prompt or an image.
  .filter(({ prompt, image }) => prompt !== undefined || image !== undefined);
