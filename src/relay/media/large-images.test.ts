import { describe, expect, test } from "bun:test";
import { answers, ImageGateway, PNG } from "./image-gateway.sample.ts";

const images = ImageGateway.forTests();
const padded = (bytes: number) =>
  Buffer.concat([Buffer.from(PNG, "base64"), Buffer.alloc(bytes, 1)]).toString("base64");

describe("the body of an answer", () => {
  test("a small one is sent in one piece, with its length known", async () => {
    images.play(images.paints(0));
    const { chunks, made } = await images.generated();
    expect([chunks.length, made]).toEqual([1, [PNG]]);
  });

  test("a large one is written in chunks, and is the same JSON", async () => {
    const large = [padded(900_000), padded(300_000)];
    images.play(answers({ created: 1, data: large.map((b64_json) => ({ b64_json })) }));
    const { chunks, made, status } = await images.generated({ n: 2 });
    expect([status, made]).toEqual([200, large]);
    expect(chunks.length).toBeGreaterThan(2);
  });
});
