import { describe, expect, test } from "bun:test";
import { GatewayError } from "../../canon/error.ts";
import type { ImageRequest } from "../image-request.ts";
import { decodeEditBody, decodeGeneration } from "./decode-images.ts";

const MINIMAL = { model: "acme/paint", prompt: "a fox" };
const DATA_URL = "data:image/png;base64,iVBORw0KGgo=";
const IMAGE = { mimeType: "image/png", base64: "iVBORw0KGgo=" };
const refused = (
  decode: (body: unknown) => ImageRequest,
  fields: object,
): { path: string | undefined; message: string } => {
  try {
    decode({ ...MINIMAL, ...fields });
  } catch (error) {
    if (error instanceof GatewayError && error.kind === "invalid_request")
      return { path: error.path, message: error.message };
    throw error;
  }
  throw new Error("nothing was refused");
};

describe("contract 4: images/generations", () => {
  test("the smallest request", () => {
    const request = decodeGeneration({ ...MINIMAL, n: null, stream: null });
    expect(request.call).toEqual({ prompt: "a fox", count: 1, inputs: [], extras: {} });
    expect(request).toMatchObject({
      edit: false,
      stream: false,
      partialImages: 0,
      inputPaths: [],
      links: [],
      notes: [],
    });
  });

  test("every field, those of other models among them", () => {
    const request = decodeGeneration({
      ...MINIMAL,
      n: 3,
      size: "1024x1536",
      quality: "HIGH",
      background: "transparent",
      output_format: "webp",
      output_compression: 70,
      moderation: "low",
      stream: true,
      partial_images: 2,
      user: "u-1",
      style: "vivid",
      response_format: "b64_json",
      aspect_ratio: "2:3",
      seed: 7,
      negative_prompt: "dogs",
      guidance_scale: 2.5,
      watermark: false,
    });
    expect(request).toMatchObject({ stream: true, partialImages: 2, notes: [] });
    expect(request.call).toEqual({
      prompt: "a fox",
      count: 3,
      size: { width: 1024, height: 1536 },
      quality: "high",
      background: "transparent",
      outputMimeType: "image/webp",
      compression: 70,
      moderation: "low",
      aspectRatio: "2:3",
      seed: 7,
      negativePrompt: "dogs",
      guidanceScale: 2.5,
      watermark: false,
      inputs: [],
      extras: { user: "u-1", style: "vivid" },
    });
  });

  test("a size may be a level, for models that have levels", () => {
    expect(decodeGeneration({ ...MINIMAL, size: "2K" }).call).toMatchObject({ tier: "2K" });
    expect(decodeGeneration({ ...MINIMAL, size: "auto" }).call).toMatchObject({ size: "auto" });
  });

  test("fields that cannot be honoured are noted", () => {
    const fields = { response_format: "url", partial_images: 2, output_compression: 50, fallbacks: [] };
    const { notes, partialImages, call } = decodeGeneration({ ...MINIMAL, ...fields });
    expect(notes.map(({ path, action }) => [path, action])).toEqual([
      ["fallbacks", "dropped"],
      ["partial_images", "dropped"],
      ["response_format", "approximated"],
      ["output_compression", "dropped"],
    ]);
    expect(partialImages).toBe(0);
    expect(call.extras).toEqual({});
  });

  test("images by data URL and by URL", () => {
    const request = decodeGeneration({ ...MINIMAL, image: [DATA_URL, "https://example.com/b.jpg", DATA_URL] });
    expect(request.call.inputs).toEqual([IMAGE, IMAGE]);
    expect(request.links).toEqual([{ url: "https://example.com/b.jpg", position: 1 }]);
    expect(request.inputPaths).toEqual(["image[0]", "image[1]", "image[2]"]);
    expect(request.edit).toBe(false);
  });

  test("H12: a mask is read here too, by data URL and by URL", () => {
    const request = decodeGeneration({ ...MINIMAL, image: DATA_URL, mask: { image_url: DATA_URL } });
    expect(request).toMatchObject({ edit: false, call: { inputs: [IMAGE], mask: IMAGE, extras: {} } });
    const linked = decodeGeneration({ ...MINIMAL, image: DATA_URL, mask: "https://example.com/m.png" });
    expect(linked.links).toEqual([{ url: "https://example.com/m.png", position: "mask" }]);
  });

  const wrong: [object, string, string][] = [
    [{ prompt: "" }, "prompt", "a non-empty string"],
    [{ model: undefined }, "model", "missing"],
    [{ n: 0 }, "n", "at least 1; it is 0"],
    [{ n: "2" }, "n", "an integer"],
    [{ size: "large" }, "size", '"1536x1024"; it is "large"'],
    [{ quality: "best" }, "quality", '"low"'],
    [{ background: "green" }, "background", '"transparent", "opaque", "auto"'],
    [{ output_format: "gif" }, "output_format", '"png", "jpeg", "webp"; it is "gif"'],
    [{ output_compression: 101 }, "output_compression", "from 0 to 100"],
    [{ partial_images: 4 }, "partial_images", "from 0 to 3; it is 4"],
    [{ stream: "true" }, "stream", "true or false"],
    [{ response_format: "xml" }, "response_format", '"b64_json", "url"'],
    [{ background: "transparent", output_format: "jpeg" }, "background", "png"],
    [{ image: "data:image/png,abc" }, "image", "base64"],
    [{ image: "not an image!" }, "image", "base64"],
    [{ image: 5 }, "image", "data URL"],
    [{ image: DATA_URL, mask: 12 }, "mask", "a data URL of an image, or an https URL; it is 12"],
    [{ image: DATA_URL, mask: [DATA_URL] }, "mask", "a data URL of an image"],
    [{ image: DATA_URL, mask: "???" }, "mask", "base64"],
  ];
  test.each(wrong)("%j is rejected in words", (fields, path, words) => {
    const error = refused(decodeGeneration, fields);
    expect(error.path).toBe(path);
    expect(error.message).toContain(words);
  });
});

describe("contract 4: images/edits as JSON", () => {
  test("images and a mask by data URL", () => {
    const request = decodeEditBody({
      ...MINIMAL,
      images: [{ image_url: DATA_URL }, { image_url: "https://example.com/b.png" }],
      mask: { image_url: DATA_URL },
      input_fidelity: "high",
    });
    expect(request).toMatchObject({ edit: true, inputPaths: ["images[0]", "images[1]"] });
    expect(request.call).toMatchObject({ inputs: [IMAGE], mask: IMAGE, inputFidelity: "high", extras: {} });
    expect(request.links).toEqual([{ url: "https://example.com/b.png", position: 1 }]);
  });

  const wrong: [object, string, string][] = [
    [{}, "image", "missing"],
    [{ images: [{}] }, "images[0].image_url", "missing"],
    [{ image: DATA_URL, mask: "???" }, "mask", "base64"],
  ];
  test.each(wrong)("%j is rejected in words", (fields, path, words) => {
    const error = refused(decodeEditBody, fields);
    expect(error.path).toBe(path);
    expect(error.message).toContain(words);
  });
});
