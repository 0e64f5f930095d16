import { expect, test } from "bun:test";
import type { CanonCall } from "../../canon/call.ts";
import { HeldRequest } from "./held-request.ts";

const media = { bytes: new Uint8Array(1), mimeType: "image/png" };

test("a retry fetches no media again", async () => {
  const request = new HeldRequest({ text: "{}", body: {} });
  let fetched = 0;
  const fetch = async () => {
    fetched++;
    return media;
  };
  await request.media("https://host.test/a.png", fetch);
  expect(await request.media("https://host.test/a.png", fetch)).toBe(media);
  await request.media("https://host.test/b.png", fetch);
  expect(fetched).toBe(2);
  request.dropMedia();
  await request.media("https://host.test/a.png", fetch);
  expect(fetched).toBe(3);
});

test("a fetch that failed is tried again", async () => {
  const request = new HeldRequest({ text: "{}", body: {} });
  await expect(request.media("https://host.test/", () => Promise.reject(new Error("down")))).rejects.toThrow("down");
  expect(await request.media("https://host.test/", async () => media)).toBe(media);
});

test("it is decoded once", () => {
  const request = new HeldRequest({ text: "{}", body: {} });
  const call = { turns: [] } as unknown as CanonCall;
  expect(request.canonical(() => call)).toBe(call);
  expect(request.canonical(() => ({ ...call }))).toBe(call);
});
