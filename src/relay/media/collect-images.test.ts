import { describe, expect, test } from "bun:test";
import { crc32 } from "node:zlib";
import { plainPng } from "../../media/images.sample.ts";
import { withRealSize } from "./collect-images.ts";

describe("contract 2.14: the size of an image is read from its bytes", () => {
  const made = (base64: string) => ({ kind: "made", image: { mimeType: "image/png", base64 } }) as const;
  const reported = { size: "1024x1536", quality: "low" };

  test("whatever the provider says of it", async () => {
    const size = "40x20";
    expect(await withRealSize(reported, made(plainPng(40, 20).base64))).toEqual({ size, quality: "low" });
    expect(await withRealSize(undefined, made(plainPng(40, 20).base64))).toEqual({ size });
  });

  test("the reported size stays where the bytes cannot be read, or the image is too large to be decoded", async () => {
    const huge = Buffer.from(plainPng(1, 1).base64, "base64");
    huge.writeUInt32BE(60_000, 16);
    huge.writeUInt32BE(60_000, 20);
    huge.writeUInt32BE(crc32(huge.subarray(12, 29)), 29);
    for (const base64 of ["iVBORw==", huge.toString("base64")])
      expect(await withRealSize(reported, made(base64))).toBe(reported);
    expect(await withRealSize(undefined, undefined)).toBeUndefined();
  });
});
