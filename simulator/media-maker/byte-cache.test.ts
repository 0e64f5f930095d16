import { expect, test } from "bun:test";
import { ByteCache } from "./byte-cache.ts";
import { drawImage } from "./draw-image.ts";

test("the least recently used entry is evicted first, and only when the cache is full", () => {
  const cache = new ByteCache(30);
  for (const key of ["a", "b", "c"]) cache.keep(key, new Uint8Array(10).fill(key.charCodeAt(0)));
  expect(cache.get("a")?.[0]).toBe(97);
  cache.keep("d", new Uint8Array(15));
  expect(["a", "b", "c", "d"].map((key) => cache.get(key)?.length)).toEqual([10, undefined, undefined, 15]);
  // The same key again takes the space once.
  cache.keep("d", new Uint8Array(20));
  expect(["a", "d"].map((key) => cache.get(key)?.length)).toEqual([10, 20]);
});

test("an image is cached, and its bytes cannot be changed through a result", async () => {
  const options = { prompt: "a fox", width: 64, height: 64, seed: 1, format: "png" } as const;
  const first = await drawImage(options);
  const copy = first.slice();
  first.fill(0);
  (await drawImage(options)).fill(1);
  expect(Buffer.from(await drawImage({ ...options })).equals(copy)).toBe(true);
  expect(Buffer.from(await drawImage({ ...options, seed: 2 })).equals(copy)).toBe(false);
});
