import { describe, expect, test } from "bun:test";
import { halfTransparent, plainPng } from "../../media/images.sample.ts";
import { ImageGateway, PNG, PROMPT } from "./image-gateway.sample.ts";

const images = ImageGateway.forTests();
const FOX = "https://web.test/fox.png";
const MASK = "https://web.test/mask.png";
const keep = (url: string, base64: string) =>
  images.harness.web.files.set(url, { bytes: Buffer.from(base64, "base64"), mimeType: "image/png" });

const edit = async (body: object) => {
  images.play(images.paints());
  images.harness.web.asked.length = 0;
  return await images.harness.post("/api/v1/images/edits", { model: "test/painter", prompt: PROMPT, ...body });
};
const errorOf = ({ text }: { text: string }) =>
  (JSON.parse(text) as { error: { message: string; param: string } }).error;
const linked = (...urls: string[]) => urls.map((image_url) => ({ image_url }));

describe("S12: images that a client gives by URL", () => {
  test("are fetched, each in its position, and the mask with them", async () => {
    keep(FOX, plainPng(8, 8).base64);
    keep(MASK, halfTransparent(8, 8).base64);
    const inline = { image_url: `data:image/png;base64,${PNG}` };
    const answer = await edit({ images: [...linked(FOX), inline], mask: { image_url: MASK } });
    expect(answer.status).toBe(200);
    expect(images.harness.web.asked).toEqual([FOX, MASK]);
    const sent = images.harness.upstream.requests[0]?.body ?? "";
    expect([...sent.matchAll(/; name="(image\[\]|mask)"/g)].map(([, name]) => name)).toEqual([
      "image[]",
      "image[]",
      "mask",
    ]);
  });

  test("that cannot be fetched are rejected by their names", async () => {
    const image = await edit({ images: linked("https://web.test/none.png") });
    expect([image.status, errorOf(image).param]).toEqual([400, "images[0]"]);
    expect(errorOf(image).message).toContain("https://web.test/none.png could not be fetched: its host returned");
    keep(FOX, plainPng(8, 8).base64);
    const mask = await edit({ images: linked(FOX), mask: { image_url: "https://web.test/none.png" } });
    expect([mask.status, errorOf(mask).param]).toEqual([400, "mask"]);
    expect(images.harness.upstream.requests).toEqual([]);
    expect(await images.rows()).toEqual([]);
  });

  test("a bug in fetching them is not a client error", async () => {
    const { fetchMedia } = images.harness.gateway;
    Object.assign(images.harness.gateway, { fetchMedia: () => Promise.reject(new Error("a bug")) });
    const answer = await edit({ images: linked(FOX) });
    Object.assign(images.harness.gateway, { fetchMedia });
    expect(answer.status).toBe(500);
  });

  test("are at most twenty", async () => {
    keep(FOX, plainPng(8, 8).base64);
    const many = (count: number) => linked(...new Array<string>(count).fill(FOX));
    const tooMany = await edit({ images: many(21) });
    expect([tooMany.status, images.harness.web.asked]).toEqual([400, []]);
    expect(errorOf(tooMany).message).toContain("at most 20 are fetched");
    // Which is more than this model takes.
    const twenty = await edit({ images: many(20) });
    expect([twenty.status, images.harness.web.asked.length]).toEqual([400, 20]);
    expect(errorOf(twenty).message).toContain("accepts at most 16");
  });
});
