import { describe, expect, test } from "bun:test";
import { sniffImage } from "../sniff-image.ts";
import { type ImageOptions, paintImage } from "./paint-image.ts";
import { decodePng } from "./png.ts";
import { wrapText } from "./wrap-text.ts";

const options: ImageOptions = { prompt: "A lighthouse at dusk", width: 320, height: 200, seed: 7, format: "png" };

function differs(one: Uint8Array, other: Uint8Array): boolean {
  return !Buffer.from(one).equals(other);
}

/** Another decoder's view of an image, as pixels. */
async function pixels(image: Uint8Array) {
  return decodePng(await new Bun.Image(image).png().bytes());
}

describe("contract 2.5: images of the simulator are real", () => {
  const sizes = [
    [64, 64],
    [64, 4096],
    [1792, 1024],
    [333, 777],
  ] as const;
  for (const format of ["png", "jpeg", "webp"] as const) {
    test(`${format} has the asked size for another decoder`, async () => {
      for (const [width, height] of sizes) {
        const image = await paintImage({ ...options, width, height, format });
        expect(await new Bun.Image(image).metadata()).toEqual({ width, height, format });
        expect(sniffImage(image)).toEqual({ mimeType: `image/${format}`, size: { width, height } });
        // Every pixel is decoded here, not only the header.
        expect((await pixels(image)).bytes.length).toBe(width * height * 4);
      }
    });
  }

  test("the same options give the same bytes, in every format", async () => {
    for (const format of ["png", "jpeg", "webp"] as const) {
      expect(differs(await paintImage({ ...options, format }), await paintImage({ ...options, format }))).toBe(false);
    }
  });

  test("seed, prompt, note, inputs and transparency each change the image", async () => {
    const plain = await paintImage(options);
    for (const change of [
      { seed: 8 },
      { prompt: "A harbour" },
      { note: "standard" },
      { inputs: 2 },
      { transparent: true },
    ]) {
      expect(differs(plain, await paintImage({ ...options, ...change }))).toBe(true);
    }
  });

  test("prompts that differ only where they are cut look different", async () => {
    const long = "word ".repeat(2000);
    const one = await paintImage({ ...options, prompt: `${long}one` });
    expect(differs(one, await paintImage({ ...options, prompt: `${long}two` }))).toBe(true);
  });

  test("only the seed decides what is behind the text", async () => {
    const top = async (change: Partial<ImageOptions>) =>
      (await pixels(await paintImage({ ...options, ...change }))).bytes.subarray(0, options.width * 4 * 40);
    expect(differs(await top({}), await top({ prompt: "A harbour" }))).toBe(false);
    expect(differs(await top({}), await top({ seed: 8 }))).toBe(true);
  });

  test("a transparent image has pixels that are seen through; a jpeg never", async () => {
    const opacities = async (format: ImageOptions["format"]) => {
      const { bytes } = await pixels(await paintImage({ ...options, format, transparent: true }));
      return new Set(bytes.filter((_, index) => index % 4 === 3));
    };
    expect(await opacities("png")).toEqual(new Set([0, 255]));
    expect(await opacities("webp")).toEqual(new Set([0, 255]));
    expect(await opacities("jpeg")).toEqual(new Set([255]));
  });

  test("a lower quality makes a smaller file", async () => {
    for (const format of ["jpeg", "webp"] as const) {
      const coarse = await paintImage({ ...options, format, quality: 10 });
      expect(coarse.length).toBeLessThan((await paintImage({ ...options, format, quality: 95 })).length);
    }
  });

  test("an error names the side that cannot be drawn", async () => {
    await expect(paintImage({ ...options, width: 63 })).rejects.toThrow(
      "width must be a whole number from 64 to 16384, not 63",
    );
    await expect(paintImage({ ...options, height: 16_385 })).rejects.toThrow("height must be");
    await expect(paintImage({ ...options, width: 4096, height: 4097 })).rejects.toThrow("at most 16777216 pixels");
  });

  test("characters that the font does not have become a box", async () => {
    const box = await paintImage({ ...options, prompt: "灯", seed: 1 });
    const letter = await paintImage({ ...options, prompt: "A", seed: 1 });
    expect(differs(box, letter)).toBe(true);
    expect(wrapText("灯台守 🗼🗼", 3, 5)).toEqual(["灯台守", "🗼🗼"]);
  });
});

describe("text of an image", () => {
  test("breaks between words, inside words that are too long, and is cut visibly", () => {
    expect(wrapText("one two  three\nfour", 9, 5)).toEqual(["one two", "three", "four"]);
    expect(wrapText("abcdefghij k", 4, 5)).toEqual(["abcd", "efgh", "ij k"]);
    expect(wrapText("one two three four five", 9, 2)).toEqual(["one two", "three ..."]);
    expect(wrapText("", 9, 2)).toEqual([]);
  });
});
