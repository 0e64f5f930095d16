import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { GatewayError } from "../canon/error.ts";
import type { PixelSize } from "./image.ts";
import type { ImageCall } from "./image-call.ts";
import type { FreeSizes, ImageCapabilities, SizeRule } from "./image-capabilities.ts";
import { settleSize, sizeProblem, tierOf } from "./image-size.ts";

const size = (width: number, height: number): PixelSize => ({ width, height });
/** Contract 8: the custom sizes of one model. */
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
const settle = (sizes: SizeRule, wanted: Partial<ImageCall>) => {
  const call: ImageCall = { prompt: "x", count: 1, inputs: [], extras: {}, ...wanted };
  const capabilities: ImageCapabilities = {
    maxCount: 1,
    perCall: 1,
    takes: [],
    sizes,
    maxInputs: 0,
    mask: false,
    formats: [],
    compresses: false,
  };
  return settleSize(call, capabilities, "acme/paint");
};
const noted = (settled: ReturnType<typeof settle>) => settled.notes.map(({ field, action }) => `${field} ${action}`);
const refusal = (act: () => unknown, path = "size"): string => {
  try {
    act();
  } catch (error) {
    if (error instanceof GatewayError && error.path === path) return error.message;
    throw error;
  }
  throw new Error("nothing was refused");
};

describe("contract 2.4: imageSize for models with presets", () => {
  test.each(SIZES)("%j is sent unchanged", (preset) => {
    expect(settle(PRESETS, { size: preset })).toEqual({ pixels: preset, notes: [] });
  });

  test("auto, requested or by default", () => {
    expect(settle(PRESETS, { size: "auto" })).toEqual({ size: "auto", notes: [] });
    expect(settle(PRESETS, {})).toEqual({ size: "auto", notes: [] });
    expect(settle({ kind: "presets", sizes: SIZES }, { size: "auto" })).toEqual({
      pixels: size(1024, 1024),
      notes: [],
    });
  });

  test("another size is rejected, and the message lists the right ones", () => {
    const message = refusal(() => settle(PRESETS, { size: size(1000, 1000) }));
    expect(message).toBe(
      "acme/paint does not generate images of 1000x1000: use 1024x1024, 1536x1024, 1024x1536 or auto.",
    );
  });

  test("an aspect ratio chooses among them, or is rejected", () => {
    expect(settle(PRESETS, { aspectRatio: "2:3" })).toEqual({ pixels: size(1024, 1536), notes: [] });
    const message = refusal(() => settle(PRESETS, { aspectRatio: "21:9" }), "aspectRatio");
    expect(message).toBe("acme/paint generates images of 1024x1024, 1536x1024 or 1024x1536; none of them is 21:9.");
  });

  test("so does a level", () => {
    expect(settle(PRESETS, { tier: "1K" }).pixels).toEqual(size(1024, 1024));
    expect(refusal(() => settle(PRESETS, { tier: "4K" }), "tier")).toContain("none of them is 4K");
  });
});

describe("contract 8: custom image sizes", () => {
  const custom: SizeRule = { kind: "presets", sizes: SIZES, auto: true, free: CUSTOM };
  test.each([size(3840, 1280), size(16, 16), size(2048, 1152)])("%j is accepted", (wanted) => {
    expect(settle(custom, { size: wanted }).pixels).toEqual(wanted);
  });

  const wrong: [PixelSize, string][] = [
    [size(1000, 1024), "multiples of 16"],
    [size(3856, 2048), "at most 3840 pixels"],
    [size(3136, 1024), "at most 3 times the shorter"],
    [size(1024, 3136), "at most 3 times the shorter"],
  ];
  test.each(wrong)("%j is rejected: %s", (wanted, words) => {
    expect(refusal(() => settle(custom, { size: wanted }))).toContain(words);
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

  test("for any request, the size sent is one that the model accepts, of that aspect ratio and tier, or the request is rejected", () => {
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
        const ratio = width / height;
        try {
          const { pixels = size(0, 0) } = settle(rule, { aspectRatio: `${width}:${height}`, tier });
          expect(sizeProblem(pixels, free)).toBeUndefined();
          expect(Math.abs(Math.log(pixels.width / pixels.height / ratio))).toBeLessThanOrEqual(0.04);
          expect(tierOf(pixels)).toBe(tier);
        } catch (error) {
          if (!(error instanceof GatewayError)) throw error;
          expect(["aspectRatio", "tier"]).toContain(error.path ?? "");
        }
      }),
      { numRuns: 2000 },
    );
  });

  test("a level that the model lacks is rejected; a model without levels has the first", () => {
    expect(refusal(() => settle(RATIO, { aspectRatio: "16:9", tier: "4K" }), "tier")).toBe(
      "acme/paint generates images at 1K or 2K, not 4K.",
    );
    expect(refusal(() => settle({ ...FREE, tiers: ["1K"] }, { tier: "2K" }), "tier")).toContain("1K, not 2K");
    const plain: SizeRule = { kind: "ratio", ratios: ["1:1"], tiers: [] };
    expect(settle(plain, { tier: "1K" })).toEqual({ notes: [] });
    expect(refusal(() => settle(plain, { tier: "2K" }), "tier")).toContain("1K, not 2K");
  });

  test("a model that takes shapes gets the shape of a size, where it makes the shape and the level", () => {
    const settled = settle(RATIO, { size: size(2560, 1440) });
    expect(settled).toMatchObject({ aspectRatio: "16:9", tier: "2K" });
    expect(noted(settled)).toEqual(["size approximated"]);
    expect(settle(RATIO, { size: "auto" })).toEqual({ notes: [] });
    expect(refusal(() => settle(RATIO, { size: size(1536, 1024) }))).toContain("1536x1024 is none of them");
    expect(refusal(() => settle(RATIO, { size: size(4096, 4096) }))).toContain("1K or 2K, not 4K");
  });

  test("the default size if nothing is requested", () => {
    expect(settle(FREE, {})).toEqual({ pixels: size(1024, 1024), notes: [] });
  });

  test("a model with one size refuses any other", () => {
    const options = { size: size(1, 1), aspectRatio: "1:1", tier: "1K" } as const;
    for (const field of ["size", "aspectRatio", "tier"] as const) {
      const message = refusal(() => settle({ kind: "none" }, { [field]: options[field] }), field);
      expect(message).toBe("The size of acme/paint's images cannot be chosen. Leave it out.");
    }
    expect(settle({ kind: "none" }, { size: "auto" })).toEqual({ notes: [] });
  });
});

describe("contract 2.4: size, shape and level that contradict each other", () => {
  test("are rejected, because only one of them could be honoured", () => {
    const wanted = { size: size(1536, 1024) } as const;
    for (const rule of [PRESETS, FREE]) {
      expect(refusal(() => settle(rule, { ...wanted, aspectRatio: "9:16" }), "aspectRatio")).toContain("1536x1024");
      expect(refusal(() => settle(rule, { ...wanted, tier: "4K" }), "tier")).toContain("Leave one of them out");
    }
    expect(refusal(() => settle(RATIO, { size: size(1024, 1024), aspectRatio: "16:9" }), "aspectRatio")).toContain(
      "1024x1024",
    );
    expect(settle(FREE, { size: size(1536, 1024), aspectRatio: "3:2", tier: "1K" }).notes).toEqual([]);
  });

  test("auto leaves the shape to an aspect ratio", () => {
    expect(settle(PRESETS, { size: "auto", aspectRatio: "3:2" }).pixels).toEqual(size(1536, 1024));
    expect(settle(PRESETS, { size: "auto" })).toMatchObject({ size: "auto", notes: [] });
  });

  test("a level that the bounds of a side do not allow in this shape is rejected", () => {
    const narrow: SizeRule = { ...FREE, free: { ...FREE.free, maxSide: 2048 } };
    expect(refusal(() => settle(narrow, { tier: "2K", aspectRatio: "1:4" }), "tier")).toContain(
      "none of them is 2K and 1:4",
    );
  });
});
