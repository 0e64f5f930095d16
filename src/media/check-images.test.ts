import { describe, expect, test } from "bun:test";
import { GatewayError } from "../canon/error.ts";
import { checkFrames, checkImages } from "./check-images.ts";
import type { InlineImage } from "./image.ts";
import { halfTransparent, plainPng, recoded } from "./images.sample.ts";
import { decodeEditBody } from "./images-api/decode-images.ts";
import { decodeVideo } from "./predict-long-running/decode-video.ts";

const ONE_PIXEL_GIF = "R0lGODlhAQABAIAAAMgeHgAAACwAAAAAAQABAAACAkQBADs=";

const url = ({ base64 }: InlineImage) => `data:image/png;base64,${base64}`;
const edit = (image: InlineImage[], mask?: InlineImage) =>
  decodeEditBody({ model: "a/b", prompt: "x", image: image.map(url), ...(mask ? { mask: url(mask) } : {}) });
const refused = async (promise: Promise<unknown>): Promise<GatewayError> => {
  const error = await promise.catch((thrown: unknown) => thrown);
  if (!(error instanceof GatewayError)) throw new Error("nothing was refused");
  return error;
};

describe("contract 2.4: the type of an image is checked", () => {
  test("the bytes decide the type, not the declared one", async () => {
    const [png, jpeg] = [plainPng(16, 8), await recoded(plainPng(16, 8), "jpeg")];
    const { call } = await checkImages(edit([jpeg, png], halfTransparent(16, 8)));
    expect(call.inputs.map(({ mimeType }) => mimeType)).toEqual(["image/jpeg", "image/png"]);
    expect(call.mask?.mimeType).toBe("image/png");
  });

  test("a GIF becomes a PNG, which every host takes", async () => {
    const { call } = await checkImages(edit([{ mimeType: "image/gif", base64: ONE_PIXEL_GIF }]));
    expect(call.inputs.map(({ mimeType }) => mimeType)).toEqual(["image/png"]);
    expect(call.inputs[0]?.base64).toStartWith("iVBORw0KGgo");
  });

  test("bytes that are not an image are rejected with their path", async () => {
    const text = { mimeType: "image/png", base64: Buffer.from("hello, world").toString("base64") };
    const error = await refused(checkImages(edit([plainPng(4, 4), text])));
    expect(error.path).toBe("image[1]");
    expect(error.message).toContain("PNG, JPEG, WebP or GIF");
    const bitmap = Buffer.alloc(58);
    bitmap.write("BM");
    for (const [at, value] of [
      [2, 58],
      [10, 54],
      [14, 40],
      [18, 1],
      [22, 1],
    ] as const)
      bitmap.writeUInt32LE(value, at);
    bitmap.writeUInt16LE(1, 26);
    bitmap.writeUInt16LE(24, 28);
    const found = await refused(checkImages(edit([{ mimeType: "image/png", base64: bitmap.toString("base64") }])));
    expect(found.message).toContain("it is image/bmp");
  });

  test("a mask has the size of the first image, and an alpha channel", async () => {
    const image = plainPng(16, 8);
    const opaque = await refused(checkImages(edit([image], image)));
    expect(opaque.path).toBe("mask");
    expect(opaque.message).toContain("alpha channel");
    const small = await refused(checkImages(edit([image, plainPng(8, 8)], halfTransparent(8, 8))));
    expect(small.message).toContain("the same size as the first image, 16x8; it is 8x8");
  });

  test("contract 2.1: so are the frames of videos", async () => {
    const { base64 } = await recoded(plainPng(16, 8), "webp");
    const instance = { image: { bytesBase64Encoded: base64, mimeType: "image/png" } };
    const { call } = await checkFrames(decodeVideo({ instances: [instance] }));
    expect(call.image?.mimeType).toBe("image/webp");
    const broken = { ...instance, lastFrame: { bytesBase64Encoded: "AAAA" } };
    expect((await refused(checkFrames(decodeVideo({ instances: [broken] })))).path).toBe("instances[0].lastFrame");
  });
});
