import { describe, expect, test } from "bun:test";
import { crc32 } from "node:zlib";
import { GatewayError } from "../canon/error.ts";
import type { InlineImage } from "./image.ts";
import { halfTransparent, plainPng, recoded } from "./images.sample.ts";
import { inspectImage } from "./inspect-image.ts";

describe("H12: the type and size of an image are read from its bytes", () => {
  const bytesOf = async (image: InlineImage | Promise<InlineImage>) => Buffer.from((await image).base64, "base64");

  test("type, size and transparency, from base64 and from bytes", async () => {
    const plain = { mimeType: "image/png", width: 40, height: 20, alpha: false };
    expect(await inspectImage(plainPng(40, 20).base64)).toEqual(plain);
    expect(await inspectImage(await bytesOf(plainPng(40, 20)))).toEqual(plain);
    expect(await inspectImage(halfTransparent(40, 20).base64)).toEqual({ ...plain, alpha: true });
  });

  test("other formats", async () => {
    const [plain, clear] = [plainPng(16, 8), halfTransparent(16, 8)];
    const facts = async (image: Promise<{ base64: string }>) => await inspectImage((await image).base64);
    expect(await facts(recoded(plain, "jpeg"))).toEqual({ mimeType: "image/jpeg", width: 16, height: 8, alpha: false });
    expect(await facts(recoded(plain, "webp"))).toMatchObject({ mimeType: "image/webp", alpha: false });
    expect(await facts(recoded(clear, "webp"))).toMatchObject({ mimeType: "image/webp", alpha: true });
    const lossless = await new Bun.Image(Buffer.from(clear.base64, "base64")).webp({ lossless: true }).bytes();
    expect(await inspectImage(lossless)).toMatchObject({ mimeType: "image/webp", alpha: true });
    const opaque = await new Bun.Image(Buffer.from(plain.base64, "base64")).webp({ lossless: true }).bytes();
    expect(await inspectImage(opaque)).toMatchObject({ mimeType: "image/webp", alpha: false });
  });

  test("a palette with transparent entries is transparent", async () => {
    const clear = await bytesOf(halfTransparent(16, 16));
    const palette = await new Bun.Image(clear).png({ palette: true }).bytes();
    expect(palette[25]).toBe(3);
    expect(await inspectImage(palette)).toMatchObject({ mimeType: "image/png", alpha: true });
  });

  test("headers that lie beyond the first bytes are found", async () => {
    const jpeg = await bytesOf(recoded(plainPng(16, 8), "jpeg"));
    const comment = Buffer.concat([Buffer.from([0xff, 0xfe, 0xff, 0xff]), Buffer.alloc(65_533, "x")]);
    const padded = Buffer.concat([jpeg.subarray(0, 2), comment, comment, jpeg.subarray(2)]);
    expect(await inspectImage(padded.toString("base64"))).toMatchObject({ width: 16, height: 8 });
  });

  test("bytes that are not an image return undefined", async () => {
    expect(await inspectImage(Buffer.from("hello, world"))).toBeUndefined();
    expect(await inspectImage("")).toBeUndefined();
    expect(await inspectImage(Buffer.alloc(100_000, "<svg>"))).toBeUndefined();
  });

  test("a small file that claims to be huge is rejected without being decoded", async () => {
    const bomb = await bytesOf(plainPng(1, 1));
    bomb.writeUInt32BE(60_000, 16);
    bomb.writeUInt32BE(60_000, 20);
    bomb.writeUInt32BE(crc32(bomb.subarray(12, 29)), 29);
    const before = process.memoryUsage.rss();
    const error = await inspectImage(bomb).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(GatewayError);
    expect((error as GatewayError).message).toContain("60000 x 60000");
    expect(process.memoryUsage.rss() - before).toBeLessThan(200_000_000);
  });
});
