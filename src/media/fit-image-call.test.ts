import { describe, expect, test } from "bun:test";
import { GatewayError } from "../canon/error.ts";
import { fitImageCall, maxPerCall } from "./fit-image-call.ts";
import type { ImageCall } from "./image-call.ts";
import type { ImageCapabilities } from "./image-capabilities.ts";

const CAPABILITIES: ImageCapabilities = {
  maxCount: 4,
  perCall: 1,
  takes: ["seed", "negativePrompt"],
  sizes: { kind: "ratio", ratios: ["1:1", "16:9"], tiers: [] },
  maxInputs: 1,
  mask: false,
  formats: ["image/png"],
  compresses: false,
};
const IMAGE = { mimeType: "image/png", base64: "AAAA" };
const call = (fields: Partial<ImageCall> = {}): ImageCall => ({
  prompt: "a fox",
  count: 1,
  inputs: [],
  extras: {},
  ...fields,
});
const fit = (fields: Partial<ImageCall>, capabilities: Partial<ImageCapabilities> = {}) =>
  fitImageCall(call(fields), { ...CAPABILITIES, ...capabilities }, "acme/paint");
const refused = (
  fields: Partial<ImageCall>,
  capabilities: Partial<ImageCapabilities> = {},
): { path?: string | undefined; message: string } => {
  try {
    fit(fields, capabilities);
  } catch (error) {
    if (error instanceof GatewayError && error.rule.status === 400) return { path: error.path, message: error.message };
    throw error;
  }
  throw new Error("nothing was refused");
};

describe("contract 1: each model supports a subset of the parameters", () => {
  test("options that the model takes are sent; the rest are dropped and noted", () => {
    const { call: fitted, notes } = fit({
      seed: 1,
      negativePrompt: "dogs",
      guidanceScale: 3,
      quality: "high",
    });
    expect(fitted).toEqual({ ...call(), seed: 1, negativePrompt: "dogs" });
    expect(notes.map(({ field, action }) => [field, action])).toEqual([
      ["quality", "dropped"],
      ["guidanceScale", "dropped"],
    ]);
  });

  test("an option that the model meets by doing nothing needs no note", () => {
    const { call: fitted, notes } = fit({
      quality: "auto",
      background: "auto",
      moderation: "auto",
      watermark: false,
      enhancePrompt: false,
      includeRaiReason: false,
    });
    expect(fitted).toEqual(call());
    expect(notes).toEqual([]);
  });

  test("the gateway converts and compresses where the model cannot: neither is sent to it, nor noted", () => {
    const wanted = { outputMimeType: "image/webp", compression: 50 };
    expect(fit(wanted)).toEqual({ call: call(), notes: [] });
    expect(fit(wanted, { formats: ["image/png", "image/webp"], compresses: true }).call).toMatchObject(wanted);
  });

  test("the client's call is not changed, for the sake of the next offer", () => {
    const given = Object.freeze(call({ quality: "high", size: { width: 1344, height: 768 }, compression: 5 }));
    const before = structuredClone(given);
    const { call: fitted } = fitImageCall(given, CAPABILITIES, "acme/paint");
    expect(fitted).not.toHaveProperty("size");
    expect(fitted.aspectRatio).toBe("16:9");
    expect(given).toEqual(before);
  });
});

describe("contract 8: limits of a model", () => {
  test.each([1, 4, 10, 15])("images per call: at most %d", (maxCount) => {
    expect(fit({ count: maxCount }, { maxCount }).call.count).toBe(maxCount);
    const error = refused({ count: maxCount + 1 }, { maxCount });
    expect(error).toEqual({
      path: "count",
      message: `${maxCount + 1} images were requested; acme/paint generates at most ${maxCount} per request.`,
    });
  });

  test("reference images: 1 for one model, up to 8 for another, none for others", () => {
    const inputs = (length: number) => Array.from({ length }, () => IMAGE);
    expect(fit({ inputs: inputs(8) }, { maxInputs: 8 }).call.inputs).toHaveLength(8);
    expect(refused({ inputs: inputs(9) }, { maxInputs: 8 })).toMatchObject({ path: "inputs" });
    expect(refused({ inputs: inputs(1) }, { maxInputs: 0 }).message).toBe(
      "1 images were sent; acme/paint accepts no images.",
    );
  });

  test("a mask requires a model that accepts one, and an image", () => {
    expect(refused({ inputs: [IMAGE], mask: IMAGE })).toEqual({
      path: "mask",
      message: "acme/paint does not accept a mask.",
    });
    expect(refused({ mask: IMAGE }, { mask: true }).path).toBe("mask");
    expect(fit({ inputs: [IMAGE], mask: IMAGE }, { mask: true }).call.mask).toBe(IMAGE);
  });

  test("a prompt is measured in characters, not in code units", () => {
    expect(fit({ prompt: "🦊".repeat(10) }, { maxPrompt: 10 }).notes).toEqual([]);
    expect(refused({ prompt: "🦊".repeat(11) }, { maxPrompt: 10 })).toMatchObject({ path: "prompt" });
  });
});

describe("contract 1: rules that depend on more than one field", () => {
  const notesOf = ({ notes }: ReturnType<typeof fit>) => notes.map(({ field, action }) => `${field} ${action}`);

  test("a setting that exists only with, or only without, an image", () => {
    const rule = { onlyWithoutInputs: ["negativePrompt"] as const };
    expect(fit({ negativePrompt: "dogs" }, rule).call.negativePrompt).toBe("dogs");
    const withImage = fit({ negativePrompt: "dogs", inputs: [IMAGE] }, rule);
    expect(withImage.call.negativePrompt).toBeUndefined();
    expect(notesOf(withImage)).toEqual(["negativePrompt dropped"]);
    expect(notesOf(fit({ seed: 1 }, { onlyWithInputs: ["seed"] }))).toEqual(["seed dropped"]);
  });

  test("a model that edits needs an image", () => {
    expect(refused({}, { imageOnly: true })).toMatchObject({ path: "inputs" });
    expect(fit({ inputs: [IMAGE] }, { imageOnly: true }).notes).toEqual([]);
  });

  test("a seed is dropped for a watermark where the model cannot do both", () => {
    const rule: Partial<ImageCapabilities> = { takes: ["seed", "watermark"], seedExcludesWatermark: true };
    const both = fit({ seed: 7, watermark: true }, rule);
    expect(both.call).toMatchObject({ watermark: true });
    expect(both.call.seed).toBeUndefined();
    expect(notesOf(both)).toEqual(["seed dropped"]);
    expect(fit({ seed: 7, watermark: false }, rule).notes).toEqual([]);
  });

  test.each([
    [0, 0, []],
    [99, 99, []],
    [-1, 99, ["seed approximated"]],
    [100, 0, ["seed approximated"]],
    [1234, 34, ["seed approximated"]],
  ])("seed %d becomes %d, which the model takes", (seed, sent, notes) => {
    const fitted = fit({ seed }, { seeds: { min: 0, max: 99 } });
    expect(fitted.call.seed).toBe(sent);
    expect(notesOf(fitted)).toEqual(notes);
  });

  test.each([
    ["hd", "hd"],
    ["high", "hd"],
    ["medium", "standard"],
    ["auto", undefined],
  ])("quality %s is %s for a model with two words of its own", (quality, word) => {
    const fitted = fit({ quality }, { takes: ["quality"], qualities: ["standard", "hd"] });
    expect(fitted.call.quality).toBe(word as string);
    expect(notesOf(fitted)).toEqual([]);
  });

  test("input and output images are counted together", () => {
    const capabilities = { ...CAPABILITIES, perCall: 15, together: 15 };
    const given = (count: number) => call({ inputs: new Array(count).fill(IMAGE) });
    expect([0, 2, 14, 15].map((count) => maxPerCall(given(count), capabilities))).toEqual([15, 13, 1, 1]);
    expect(maxPerCall(given(14), CAPABILITIES)).toBe(1);
  });
});

describe("contract 2.4, 8: an option that changes the price or the result is honoured or rejected", () => {
  const wrong: [string, Partial<ImageCall>, Partial<ImageCapabilities>, string][] = [
    [
      "guidanceScale",
      { guidanceScale: 60 },
      { takes: ["guidanceScale"], guidance: { min: 1, max: 10 } },
      "1 to 10, not 60",
    ],
    ["quality", { quality: "low" }, { takes: ["quality"], qualities: ["standard", "hd"] }, "standard or hd, not low"],
    ["watermark", { watermark: true }, {}, "does not support watermarks. Leave it out."],
    ["background", { background: "transparent" }, {}, "does not support transparent backgrounds"],
    [
      "background",
      { background: "transparent", inputs: [IMAGE] },
      { takes: ["background"], onlyWithoutInputs: ["background"] },
      "with an input image",
    ],
    ["editMode", { editMode: "EDIT_MODE_OUTPAINT", inputs: [IMAGE] }, {}, "does not support this edit mode"],
    ["personGeneration", { personGeneration: "dont_allow" }, {}, "has no setting to exclude people"],
    ["aspectRatio", { aspectRatio: "7:5" }, {}, "1:1 or 16:9, not 7:5"],
    ["tier", { tier: "4K" }, {}, "at 1K, not 4K"],
  ];
  test.each(wrong)("%s: %j at %j", (path, fields, capabilities, says) => {
    const error = refused(fields, capabilities);
    expect(error.path).toBe(path);
    expect(error.message).toContain(says);
    expect(error.message).toContain("acme/paint");
  });

  test("an option that a model meets anyway is not refused", () => {
    const mask = { inputs: [IMAGE], mask: IMAGE };
    expect(fit({ background: "opaque", watermark: false }).notes).toEqual([]);
    expect(fit({ editMode: "EDIT_MODE_DEFAULT", inputs: [IMAGE] }).notes).toEqual([]);
    expect(fit({ editMode: "EDIT_MODE_INPAINT_INSERTION", ...mask }, { mask: true }).notes).toEqual([]);
    expect(fit({ personGeneration: "allow_adult" }).notes).toHaveLength(1);
  });
});
