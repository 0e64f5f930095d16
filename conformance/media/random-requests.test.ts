import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import fc from "fast-check";
import { GatewayError } from "../../src/canon/error.ts";
import type { ImageRequest } from "../../src/media/image-request.ts";
import { decodeEditBody, decodeGeneration } from "../../src/media/images-api/decode-images.ts";
import { decodePredict } from "../../src/media/predict/decode-predict.ts";
import { decodeVideo } from "../../src/media/predict-long-running/decode-video.ts";
import { IMAGE_FAMILIES } from "./image-families.ts";
import { type ImageHarness, OWN_MODELS, own, startImageHarness } from "./image-harness.ts";
import { generationBody, judgeImages, predictBody } from "./judge-images.ts";
import { judgeVideos, videoBody } from "./judge-videos.ts";
import { type RandomImageRequest, randomImageRequest } from "./random-images.ts";
import { randomVideoRequest } from "./random-videos.ts";
import { type Maker, unsentImageOptions, unsentVideoOptions, upstreamModelOf } from "./unsent-options.ts";
import { startVideoHarness, type VideoHarness } from "./video-harness.ts";
import { CONFIGURED_MODELS, CONFIGURED_PRICE, VIDEO_MODELS } from "./video-models.ts";

/**
 * Random image and video requests at every family of models, through the gateway to the strict hosts of the simulator.
 * The result is what was requested, or a refusal by the gateway that names a field of the client; never the host's
 * refusal of something that could have been known. What is not honoured is noted.
 */

const RUNS = Number(process.env["TRIVIUM_FUZZ_RUNS"] ?? 4);
const QUICK_RUNS = RUNS * 10;
/** Only a bound: a picture of 4096 × 4096 pixels costs a busy machine seconds, and a request may have several. */
const TIMEOUT_MS = 120_000 + RUNS * 15_000;
const seeded = process.env["FUZZ_SEED"] === undefined ? {} : { seed: Number(process.env["FUZZ_SEED"]) };

const MORE_IMAGES = [
  own("more/gpt-image-mini", "openai", "gpt-image-1-mini"),
  own("more/imagen-3", "vertex", "imagen-3.0-generate-002"),
  own("more/seedream-4-5", "volcengine", "doubao-seedream-4-5-251128"),
  own("more/seedream-5-lite", "volcengine", "doubao-seedream-5-0-lite-260128"),
  own("more/qwen-image-edit", "qwen", "qwen-image-edit"),
  own("more/z-image", "qwen", "z-image-turbo"),
  own("more/wan-2.7-pro", "qwen", "wan2.7-image-pro"),
  own("more/flux-ultra", "black-forest-labs", "flux-pro-1.1-ultra"),
  own("more/flux-dev", "black-forest-labs", "flux-dev"),
  own("more/flux-expand", "black-forest-labs", "flux-pro-1.0-expand"),
  own("more/gen4-turbo", "runway", "gen4_image_turbo"),
];

const video = (id: string, provider: string, model: string) => ({
  id,
  output_modalities: ["video"],
  pricings: { video: [{ value: CONFIGURED_PRICE, unit: "perSecond", currency: "USD" }] },
  offers: [{ provider, model }],
});

const MORE_VIDEOS = [
  video("more/sora-pro", "openai", "sora-2-pro"),
  video("more/veo-3.0", "vertex", "veo-3.0-generate-001"),
  video("more/seedance-2", "volcengine", "doubao-seedance-2-0-260128"),
  video("more/wan-2.5", "qwen", "wan2.5-t2v-preview"),
  video("more/wan-2.2", "qwen", "wan2.2-kf2v-flash"),
  video("more/kling-2.6", "kling", "kling-v2-6"),
  video("more/hailuo-2.3", "minimax", "MiniMax-Hailuo-2.3"),
  video("more/hailuo-fast", "minimax", "MiniMax-Hailuo-2.3-Fast"),
  video("more/i2v", "minimax", "I2V-01"),
  video("more/vidu-images", "z-ai", "vidu2-start-end"),
  video("more/gen4.5", "runway", "gen4.5"),
  video("more/veo3", "runway", "veo3"),
  video("more/ray-3", "luma", "ray-3"),
];

/** The request as its endpoint reads it; throws if it is refused there. */
function requestOf(model: string, request: RandomImageRequest): ImageRequest {
  if (request.door === "predict") return decodePredict(predictBody(request));
  const body = generationBody(model, request);
  if (request.door === "generations") return decodeGeneration(body);
  return decodeEditBody({ ...body, ...(request.mask && { mask: `data:image/png;base64,${request.mask.base64}` }) });
}

/** Refusals are judged elsewhere; here they only mean that nothing was sent. */
function unlessRefused(unsent: () => string[]): string[] {
  try {
    return unsent();
  } catch (error) {
    if (error instanceof GatewayError) return [];
    throw error;
  }
}

describe("images", () => {
  let harness: ImageHarness;
  beforeAll(async () => {
    harness = await startImageHarness(MORE_IMAGES);
  });
  afterAll(() => harness.stop());

  const families: readonly { model: string; provider: string }[] = [
    ...IMAGE_FAMILIES,
    ...MORE_IMAGES.map(({ id, offers: [offer] }) => ({ model: id, provider: offer?.provider ?? "" })),
  ];
  for (const { model, provider } of families) {
    test(
      `contract 2.4, 4: ${model} makes what was requested and not noted, or the gateway refuses`,
      async () => {
        const property = fc.asyncProperty(randomImageRequest, async (request) => {
          expect(await judgeImages(harness, model, request)).toEqual([]);
        });
        await fc.assert(property, { numRuns: RUNS, ...seeded });
      },
      TIMEOUT_MS,
    );

    test(`H09: ${model} gets every option that is not noted`, () => {
      const upstreamModel = upstreamModelOf(model, [...OWN_MODELS, ...MORE_IMAGES]);
      const property = fc.property(randomImageRequest, (request) => {
        const unsent = unlessRefused(() =>
          unsentImageOptions(requestOf(model, request), { kind: provider, upstreamModel }),
        );
        expect(unsent).toEqual([]);
      });
      fc.assert(property, { numRuns: QUICK_RUNS, ...seeded });
    });
  }
});

describe("videos", () => {
  let harness: VideoHarness;
  beforeAll(async () => {
    // Only submits are judged: no video is ever finished.
    harness = await startVideoHarness({
      models: [...CONFIGURED_MODELS, ...MORE_VIDEOS],
      jobMs: 3_600_000,
      timings: { mediaPollFactor: 100 },
    });
  });
  afterAll(() => harness.stop());

  const configured = [...CONFIGURED_MODELS, ...MORE_VIDEOS];
  const models = [...VIDEO_MODELS.map(({ id }) => id), ...MORE_VIDEOS.map(({ id }) => id)];
  for (const model of models) {
    test(
      `contract 2.1: ${model} is submitted as requested, or the gateway refuses`,
      async () => {
        const property = fc.asyncProperty(randomVideoRequest, async (request) => {
          expect(await judgeVideos(harness, model, request)).toEqual([]);
        });
        await fc.assert(property, { numRuns: RUNS * 3, ...seeded });
      },
      TIMEOUT_MS,
    );

    if (model !== "sim/video")
      test(`H09: ${model} gets every option that is not noted`, () => {
        const maker = makerOf(model);
        const property = fc.property(randomVideoRequest, (request) => {
          expect(unlessRefused(() => unsentVideoOptions(decodeVideo(videoBody(request)), maker))).toEqual([]);
        });
        fc.assert(property, { numRuns: QUICK_RUNS, ...seeded });
      });
  }

  /** The provider of the videos: as configured, as the client specifies, or by the publisher's name. */
  function makerOf(model: string): Maker {
    const [id = "", named] = model.split(":");
    const publishers: Readonly<Record<string, string>> = { bytedance: "volcengine", klingai: "kling" };
    const publisher = id.split("/")[0] ?? "";
    const offer = configured.find((one) => one.id === id)?.offers[0];
    const kind = offer?.provider ?? named ?? publishers[publisher] ?? publisher;
    return { kind, upstreamModel: upstreamModelOf(model, configured) };
  }
});
