import { describe, expect, test } from "bun:test";
import { withoutAbsent } from "../base/without-absent.ts";
import { builtInModels } from "./built-in-models.ts";
import type { PriceItem, Pricings } from "./model.ts";
import { priceUsage } from "./pricing.ts";
import { pricingsOfVideo } from "./video-prices.ts";

const perSecond = (value: number, resolution?: string): PriceItem => ({
  value,
  unit: "perSecond",
  currency: "USD",
  ...withoutAbsent({ resolution }),
});

const VIDEOS: Pricings = {
  video: [perSecond(0.2), perSecond(0.4, "4k")],
  audio_and_video: [perSecond(0.4), perSecond(0.6, "4k")],
};

const price = (pricings: Pricings, resolution: string, audio: boolean, seconds = 8) =>
  priceUsage({ seconds }, pricingsOfVideo(pricings, { resolution, audio }));

describe("contract 2.9: video is the price of silent videos, audio_and_video of those with sound", () => {
  test.each([
    ["720p", false, 1_600_000_000, "video 0.2 USD/s"],
    ["720p", true, 3_200_000_000, "audio_and_video 0.4 USD/s"],
    ["4k", false, 3_200_000_000, "video 0.4 USD/s, 4k tier"],
    ["4k", true, 4_800_000_000, "audio_and_video 0.6 USD/s, 4k tier"],
  ])("%s, sound %p", (resolution, audio, costNanoUsd, rule) => {
    expect(price(VIDEOS, resolution, audio)).toEqual({ costNanoUsd, rule });
  });

  test("a model with only one of the two charges it for both, and the rule names the price", () => {
    const sound: Pricings = { audio_and_video: [perSecond(0.1), perSecond(0.15, "1080p")] };
    expect(price(sound, "720p", false).rule).toBe("audio_and_video 0.1 USD/s");
    expect(price(sound, "1080p", false).rule).toBe("audio_and_video 0.15 USD/s, 1080p tier");
    expect(price({ ...sound, video: [] }, "720p", false).rule).toBe("audio_and_video 0.1 USD/s");
    expect(price({ video: [perSecond(0.07)] }, "720p", true).rule).toBe("video 0.07 USD/s");
  });

  test("a resolution without a price of its own costs the plain price, wherever that is in the list", () => {
    expect(price(VIDEOS, "1080p", true).rule).toBe("audio_and_video 0.4 USD/s");
    const plainLast: Pricings = { video: [perSecond(0.4, "4k"), perSecond(0.2)] };
    expect(price(plainLast, "720p", false).rule).toBe("video 0.2 USD/s");
    expect(price(plainLast, "4K", false).rule).toBe("video 0.4 USD/s, 4k tier");
  });

  test("without a plain price, the last one is charged", () => {
    const pricings: Pricings = { video: [perSecond(0.1, "720p"), perSecond(0.3, "1080p")] };
    expect(price(pricings, "720p", false).rule).toBe("video 0.1 USD/s, 720p tier");
    expect(price(pricings, "4k", false).rule).toBe("video 0.3 USD/s, 1080p tier");
  });

  test("a model without prices is unpriced; other prices stay, and the list is not changed", () => {
    expect(price({}, "720p", true)).toEqual({ unpriced: ["audio_and_video"], costNanoUsd: 0, rule: "unpriced" });
    const prompt: PriceItem[] = [{ value: 1, unit: "perMTokens", currency: "USD" }];
    const before = structuredClone(VIDEOS);
    expect(pricingsOfVideo({ ...VIDEOS, prompt }, { resolution: "4k", audio: true })).toEqual({
      prompt,
      audio_and_video: [{ value: 0.6, unit: "perSecond", currency: "USD", chosenFor: "4k" }],
    });
    expect(VIDEOS).toEqual(before);
  });
});

describe("the video prices in models.json match their publishers'", () => {
  const byId = new Map(builtInModels.map((model) => [model.id, model.pricings]));

  test.each([
    ["google/veo-3.1-generate-001", "1080p", true, 3_200_000_000],
    ["google/veo-3.1-generate-001", "4k", false, 3_200_000_000],
    ["google/veo-3.1-fast-generate-001", "1080p", true, 960_000_000],
    ["google/veo-3.1-fast-generate-001", "4k", false, 2_000_000_000],
    ["google/veo-3.1-lite-generate-preview", "1080p", false, 400_000_000],
    ["openai/sora-2", "720p", true, 800_000_000],
    ["openai/sora-2-pro", "1080p", true, 4_000_000_000],
    ["klingai/kling-v3", "720p", false, 672_000_000],
    ["klingai/kling-v3", "1080p", true, 1_344_000_000],
    ["klingai/kling-v2-5-turbo", "1080p", false, 560_000_000],
    ["bytedance/doubao-seedance-1-5-pro-251215", "480p", false, 96_000_000],
    ["bytedance/doubao-seedance-1-5-pro-251215", "1080p", true, 936_000_000],
    ["minimax/minimax-h3", "768p", true, 640_000_000],
    ["minimax/minimax-h3", "2k", true, 1_040_000_000],
    ["qwen/wan2.7-i2v", "1080p", false, 1_200_000_000],
  ])("eight seconds of %s at %s, sound %p: %p nano-dollars", (id, resolution, audio, costNanoUsd) => {
    expect(price(byId.get(id) ?? {}, resolution, audio).costNanoUsd).toBe(costNanoUsd);
  });

  test("fractions of a second and several videos are charged exactly", () => {
    const kling = byId.get("klingai/kling-v3") ?? {};
    expect(price(kling, "1080p", false, 5.041667).costNanoUsd).toBe(564_666_704);
    expect(price(kling, "720p", true, 4 * 5.1).costNanoUsd).toBe(2_570_400_000);
    expect(price(VIDEOS, "4k", true, 4 * 8).costNanoUsd).toBe(4 * price(VIDEOS, "4k", true).costNanoUsd);
  });
});
