import { describe, expect, test } from "bun:test";
import { GatewayError } from "../canon/error.ts";
import { convertImage } from "./convert-image.ts";
import { withDecodeSlot } from "./decode-slots.ts";
import type { InlineImage } from "./image.ts";
import { halfTransparent, plainPng, recoded } from "./images.sample.ts";
import { inspectImage } from "./inspect-image.ts";
import { readPixels } from "./pixels.ts";
import { whiteMask } from "./white-mask.ts";

/** One pixel, as the runtime's codec reads it. */
async function pixel({ base64 }: InlineImage, x: number, y: number): Promise<number[]> {
  const { bytes, offset } = await readPixels(Buffer.from(base64, "base64"));
  return [...bytes.subarray(offset(x, y), offset(x, y) + 4)];
}

describe("contract 2.4: outputOptions", () => {
  const types = ["image/png", "image/jpeg", "image/webp"] as const;
  test.each(types.flatMap((from) => types.map((to) => [from, to] as const)))("%s becomes %s", async (from, to) => {
    const png = plainPng(16, 8);
    const source = from === "image/png" ? png : await recoded(png, from === "image/jpeg" ? "jpeg" : "webp");
    const converted = await convertImage(source, to, 50);
    expect(converted.mimeType).toBe(to);
    expect(await inspectImage(converted.base64)).toMatchObject({ mimeType: to, width: 16, height: 8 });
    const [red = 0, green = 0] = await pixel(converted, 8, 4);
    expect(red).toBeGreaterThan(180);
    expect(green).toBeLessThan(60);
  });

  test("an image of the same type at full quality is not converted", async () => {
    const jpeg = await recoded(plainPng(16, 8), "jpeg");
    expect(await convertImage(jpeg, "image/jpeg")).toBe(jpeg);
    expect(await convertImage(jpeg, "image/jpeg", 100)).toBe(jpeg);
    expect(await convertImage(jpeg, "image/jpeg", 99)).not.toBe(jpeg);
  });

  test("quality 0 makes the smallest file", async () => {
    const noisy = await new Bun.Image(Buffer.from(halfTransparent(64, 64).base64, "base64"))
      .resize(256, 256)
      .png()
      .buffer();
    const source = { mimeType: "image/png", base64: noisy.toString("base64") };
    const [least, most] = [await convertImage(source, "image/jpeg", 0), await convertImage(source, "image/jpeg", 100)];
    expect(least.base64.length).toBeLessThan(most.base64.length);
  });

  test("transparent pixels are white in a JPEG", async () => {
    const clear = halfTransparent(32, 16);
    for (const source of [clear, await recoded(clear, "webp")]) {
      const jpeg = await convertImage(source, "image/jpeg");
      for (const channel of (await pixel(jpeg, 2, 8)).slice(0, 3)) expect(channel).toBeGreaterThan(250);
      expect((await pixel(jpeg, 30, 8))[1]).toBeLessThan(60);
    }
  });

  test("a broken image is the provider's fault", async () => {
    const broken = { mimeType: "image/png", base64: plainPng(64, 64).base64.slice(0, 48) };
    const error = await convertImage(broken, "image/jpeg").catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(GatewayError);
    expect((error as GatewayError).kind).toBe("upstream_failed");
  });
});

describe("contract 2.4: masks", () => {
  test("transparent becomes white, the rest black", async () => {
    const mask = await whiteMask(halfTransparent(32, 16));
    expect(await inspectImage(mask.base64)).toEqual({ mimeType: "image/png", width: 32, height: 16, alpha: false });
    expect(await pixel(mask, 0, 0)).toEqual([255, 255, 255, 255]);
    expect(await pixel(mask, 15, 15)).toEqual([255, 255, 255, 255]);
    expect(await pixel(mask, 16, 0)).toEqual([0, 0, 0, 255]);
  });

  test("a mask of another format", async () => {
    const mask = await whiteMask(await recoded(halfTransparent(32, 16), "webp"));
    expect([await pixel(mask, 4, 4), await pixel(mask, 28, 4)]).toEqual([
      [255, 255, 255, 255],
      [0, 0, 0, 255],
    ]);
  });
});

describe("choices 15: image work is bounded", () => {
  test("two at a time, the others in order, and a failure frees its slot", async () => {
    let [running, most] = [0, 0];
    const order: number[] = [];
    const work = (number: number) =>
      withDecodeSlot(async () => {
        most = Math.max(most, ++running);
        await Bun.sleep(0);
        running--;
        order.push(number);
        if (number === 1) throw new Error("one fails");
      });
    const results = await Promise.allSettled(Array.from({ length: 8 }, (_, number) => work(number)));
    expect(most).toBe(2);
    expect(order).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
    expect(results.filter(({ status }) => status === "rejected")).toHaveLength(1);
  });

  test("too many are rejected", async () => {
    const results = await Promise.allSettled(Array.from({ length: 70 }, () => withDecodeSlot(() => Bun.sleep(0))));
    const refused = results.flatMap((result) => (result.status === "rejected" ? [result.reason as GatewayError] : []));
    expect(refused.map(({ kind }) => kind)).toEqual(["overloaded", "overloaded", "overloaded", "overloaded"]);
  });
});
