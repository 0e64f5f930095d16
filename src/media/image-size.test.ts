import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { GatewayError } from "../canon/error.ts";
import type { FreeSizes, ImageAbilities, SizeRule } from "./image-abilities.ts";
import type { ImageCall } from "./image-call.ts";
import { settleSize, sizeProblem } from "./image-size.ts";
import type { PixelSize } from "./picture.ts";

const size = (width: number, height: number): PixelSize => ({ width, height });
/** Contract §8: the custom sizes of one model. */
const CUSTOM: FreeSizes = { multipleOf: 16, minSide: 16, maxSide: 3840, maxRatio: 3 };
const SIZES = [size(1024, 1024), size(1536, 1024), size(1024, 1536)];
const PRESETS: SizeRule = { kind: "presets", sizes: SIZES, auto: true };
const FREE: Extract<SizeRule, { kind: "free" }> = {
  kind: "free",
  free: { multipleOf: 8, minSide: 256, maxSide: 4096, minPixels: 512 * 512, maxPixels: 4096 * 4096, maxRatio: 4 },
  tiers: ["1K", "2K", "4K"],
  standard: size(1024, 1024),
};
const RATIO: SizeRule = { kind: "ratio", ratios: ["1:1", "3:4", "4:3", "9:16", "16:9"], tiers: ["1K", "2K"] };
const settle = (sizes: SizeRule, wanted: Partial<ImageCall>, exactSizes?: true) => {
  const call: ImageCall = { prompt: "x", count: 1, inputs: [], extras: {}, ...wanted };
  const abilities: ImageAbilities = {
    maxCount: 1,
    perCall: 1,
    takes: [],
    sizes,
    maxInputs: 0,
    mask: false,
    formats: [],
    compresses: false,
    ...(exactSizes ? { exactSizes } : {}),
  };
  return settleSize(call, abilities);
};
const noted = (settled: ReturnType<typeof settle>) => settled.notes.map(({ field, action }) => `${field} ${action}`);
const refusal = (act: () => unknown): string => {
  try {
    act();
  } catch (error) {
    if (error instanceof GatewayError && error.path === "size") return error.message;
    throw error;
  }
  throw new Error("nothing was refused");
};

describe("contract 2.4: imageSize for models with presets", () => {
  test.each(SIZES)("%j goes on unchanged", (preset) => {
    expect(settle(PRESETS, { size: preset }, true)).toEqual({ pixels: preset, notes: [] });
  });

  test("auto, asked for or by default", () => {
    expect(settle(PRESETS, { size: "auto" }, true)).toEqual({ size: "auto", notes: [] });
    expect(settle(PRESETS, {}, true)).toEqual({ size: "auto", notes: [] });
    expect(settle({ kind: "presets", sizes: SIZES }, { size: "auto" })).toEqual({
      pixels: size(1024, 1024),
      notes: [],
    });
  });

  test("another size is the client's mistake where the model is exact, and the message lists the right ones", () => {
    const message = refusal(() => settle(PRESETS, { size: size(1000, 1000) }, true));
    expect(message).toBe("The size 1000x1000 is not one that this model makes: 1024x1024, 1536x1024, 1024x1536, auto.");
  });

  test("elsewhere it is the nearest in shape, and noted", () => {
    const settled = settle(PRESETS, { size: size(1920, 1080) });
    expect(settled.pixels).toEqual(size(1536, 1024));
    expect(noted(settled)).toEqual(["size approximated"]);
  });

  test("an aspect ratio chooses among them", () => {
    expect(settle(PRESETS, { aspectRatio: "2:3" })).toEqual({ pixels: size(1024, 1536), notes: [] });
    const wide = settle(PRESETS, { aspectRatio: "21:9" });
    expect(wide.pixels).toEqual(size(1536, 1024));
    expect(noted(wide)).toEqual(["aspectRatio approximated"]);
  });
});

describe("contract §8: custom image sizes", () => {
  const custom: SizeRule = { kind: "presets", sizes: SIZES, auto: true, free: CUSTOM };
  test.each([size(3840, 1280), size(16, 16), size(2048, 1152)])("%j is taken", (wanted) => {
    expect(settle(custom, { size: wanted }, true).pixels).toEqual(wanted);
  });

  const wrong: [PixelSize, string][] = [
    [size(1000, 1024), "multiples of 16"],
    [size(3856, 2048), "at most 3840 pixels"],
    [size(3136, 1024), "at most 3 times the shorter"],
    [size(1024, 3136), "at most 3 times the shorter"],
  ];
  test.each(wrong)("%j is refused: %s", (wanted, words) => {
    expect(refusal(() => settle(custom, { size: wanted }, true))).toContain(words);
  });
});

describe("contract 2.4: sampleImageSize and aspectRatio compute the dimensions", () => {
  const known: [string, "1K" | "2K" | "4K", PixelSize][] = [
    ["1:1", "1K", size(1024, 1024)],
    ["1:1", "2K", size(2048, 2048)],
    ["1:1", "4K", size(4096, 4096)],
    ["16:9", "1K", size(1368, 768)],
    ["9:16", "2K", size(1536, 2728)],
  ];
  test.each(known)("%s at %s", (aspectRatio, tier, { width, height }) => {
    const { pixels = size(0, 0), notes } = settle(FREE, { aspectRatio, tier });
    expect(notes).toEqual([]);
    expect(Math.abs(pixels.width - width)).toBeLessThanOrEqual(8);
    expect(Math.abs(pixels.height - height)).toBeLessThanOrEqual(8);
  });

  test("whatever is asked for, the size that is told is one that the model takes", () => {
    const side = fc.integer({ min: 1, max: 21 });
    const bounds: fc.Arbitrary<FreeSizes> = fc.record({
      multipleOf: fc.constantFrom(1, 8, 16, 32, 64),
      minSide: fc.constantFrom(256, 512),
      maxSide: fc.constantFrom(1440, 2048, 4096),
      maxRatio: fc.constantFrom(2, 3, 4, 16),
    });
    fc.assert(
      fc.property(side, side, fc.constantFrom("1K", "2K", "4K"), bounds, (width, height, tier, free) => {
        const rule: SizeRule = { kind: "free", free, tiers: ["1K", "2K", "4K"], standard: size(1024, 1024) };
        const { pixels } = settle(rule, { aspectRatio: `${width}:${height}`, tier });
        expect(pixels && sizeProblem(pixels, free)).toBeUndefined();
        expect(pixels).toBeDefined();
      }),
      { numRuns: 2000 },
    );
  });

  test("a level that the model lacks becomes the nearest", () => {
    const settled = settle(RATIO, { aspectRatio: "16:9", tier: "4K" });
    expect(settled).toMatchObject({ aspectRatio: "16:9", tier: "2K" });
    expect(noted(settled)).toEqual(["tier approximated"]);
  });

  test("a model that is told shapes is told that of a size", () => {
    const settled = settle(RATIO, { size: size(2560, 1440) });
    expect(settled).toMatchObject({ aspectRatio: "16:9", tier: "2K" });
    expect(noted(settled)).toEqual(["size approximated"]);
    expect(settle(RATIO, { size: "auto" })).toEqual({ notes: [] });
  });

  test("the standard size where nothing is asked for", () => {
    expect(settle(FREE, {})).toEqual({ pixels: size(1024, 1024), notes: [] });
  });

  test("a model of one size drops every wish, and says so", () => {
    const settled = settle({ kind: "none" }, { size: size(1, 1), aspectRatio: "1:1", tier: "1K" });
    expect(noted(settled)).toEqual(["size dropped", "aspectRatio dropped", "tier dropped"]);
    expect(settle({ kind: "none" }, { size: "auto" })).toEqual({ notes: [] });
  });
});

describe("contract 2.4: size, shape and level that contradict each other", () => {
  test("an exact size wins, and the others are noted", () => {
    const wanted = { size: size(1536, 1024), aspectRatio: "9:16", tier: "4K" } as const;
    for (const rule of [PRESETS, FREE]) {
      const { notes, pixels } = settle(rule, wanted);
      expect(pixels).toEqual(wanted.size);
      expect(notes.map(({ field, action }) => `${field} ${action}`)).toEqual(["aspectRatio dropped", "tier dropped"]);
    }
    expect(settle(FREE, { size: size(1536, 1024), aspectRatio: "3:2", tier: "1K" }).notes).toEqual([]);
  });

  test("auto leaves the shape to a ratio beside it", () => {
    expect(settle(PRESETS, { size: "auto", aspectRatio: "3:2" }).pixels).toEqual(size(1536, 1024));
    expect(settle(PRESETS, { size: "auto" })).toMatchObject({ size: "auto", notes: [] });
  });

  test("a level that the bounds of a side do not allow in this shape is noted", () => {
    const narrow: SizeRule = { ...FREE, free: { ...FREE.free, maxSide: 2048 } };
    const { notes } = settle(narrow, { tier: "2K", aspectRatio: "1:4" });
    expect(notes.map(({ field }) => field)).toEqual(["tier"]);
  });
});
