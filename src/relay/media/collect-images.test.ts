import { describe, expect, test } from "bun:test";
import { UPSTREAM_URL } from "../../../testing/harness.ts";
import type { SentCall } from "../../../testing/sent-call.ts";
import { claimedPng, plainPng, recoded } from "../../media/images.sample.ts";
import { openaiImages } from "../../providers/openai/images.ts";
import { sniffMedia } from "../../wire/sniff-media.ts";
import { finishResult, withRealSize } from "./collect-images.ts";
import { answers, ImageGateway, PNG, PRICE_NANO_USD, PROMPT, readImages, refuses } from "./image-gateway.sample.ts";

const JPEG = (await recoded(plainPng(64, 64), "jpeg")).base64;
const INPUT = { image_url: `data:image/png;base64,${PNG}` };
/** So many images, from a host of batches. */
const batchOf = (count: number, more: object = {}) =>
  answers({ data: Array.from({ length: count }, () => ({ b64_json: PNG })), ...more });

describe("contract 2.14: the size of an image is read from its bytes", () => {
  const made = (base64: string) => ({ kind: "made", image: { mimeType: "image/png", base64 } }) as const;
  const reported = { size: "1024x1536", quality: "low" };

  test("for any report of the provider", async () => {
    const size = "40x20";
    expect(await withRealSize(reported, made(plainPng(40, 20).base64))).toEqual({ size, quality: "low" });
    expect(await withRealSize(undefined, made(plainPng(40, 20).base64))).toEqual({ size });
  });

  test("the reported size stays where the bytes cannot be read, or the image is too large to be decoded", async () => {
    for (const base64 of ["iVBORw==", claimedPng(60_000, 60_000).base64])
      expect(await withRealSize(reported, made(base64))).toBe(reported);
    expect(await withRealSize(undefined, undefined)).toBeUndefined();
  });
});

const images = ImageGateway.forTests();
const mostOf = (sent: Record<string, unknown>) =>
  (sent["sequential_image_generation_options"] as { max_images: number } | undefined)?.max_images;
const ONE_BY_ONE = { model: "test/one-by-one" };
const SEEDED = "seeded";

describe("more images than the host makes at once", () => {
  test("take several calls to it, five at a time", async () => {
    images.play(images.paints(1_000));
    const call = images.generate({ ...ONE_BY_ONE, n: 7 });
    await images.pass(500);
    expect(images.sent).toHaveLength(5);
    const { made, endMs, settings } = readImages(await images.harness.clock.until(call.answer));
    expect([made, endMs, settings.size]).toEqual([new Array(7).fill(PNG), 2_000, "8x8"]);
    expect(images.sent.map(({ n }) => n)).toEqual(new Array(7).fill(1));
    expect(await images.rows()).toMatchObject([{ usage_images: 7, cost_nano_usd: 7 * PRICE_NANO_USD }]);
  });

  test("the last call requests the rest", async () => {
    images.play((reply, request) => {
      const count = mostOf(JSON.parse(request.body) as Record<string, unknown>);
      return batchOf(count ?? 1)(reply, request);
    });
    // The host counts the images of a request and of its answer together: here 13 and at most two.
    const body = { model: "test/batch", prompt: PROMPT, n: 3, images: new Array(13).fill(INPUT) };
    const { text } = await images.harness.post("/api/v1/images/edits", body);
    expect((JSON.parse(text) as { data: unknown[] }).data).toHaveLength(3);
    expect(images.sent.map(mostOf)).toEqual([2, undefined]);
  });

  test("each call has its own seed, or all images would be the same", async () => {
    images.play(batchOf(1));
    await images.predicted(SEEDED, { sampleCount: 3, seed: 7, addWatermark: false });
    expect(images.sent.map(({ seed }) => seed)).toEqual([7, 8, 9]);
    images.play(batchOf(1));
    await images.predicted(SEEDED, { sampleCount: 2, addWatermark: false });
    expect(images.sent.map(({ seed }) => seed)).toEqual([undefined, undefined]);
  });

  test("jobs are named one by one, where there are several", async () => {
    images.play(answers({ data: [{ url: `${UPSTREAM_URL}/links/fox.png` }] }), answers(""));
    images.harness.web.files.set(`${UPSTREAM_URL}/links/fox.png`, { bytes: new Uint8Array(), mimeType: "image/png" });
    await images.generated({ model: "test/linked" });
    expect(images.sent[0]?.["request_id"]).toMatch(/^rcp_[^-]+$/);
  });

  test("usage is summed, and the settings are those of the first that reports them", async () => {
    const usage = { generated_images: 1, output_tokens: 50 };
    images.play(batchOf(1, { usage }), answers({ error: { code: "InternalError" } }, 500), batchOf(1, { usage }));
    const answer = await images.predicted(SEEDED, { sampleCount: 3, addWatermark: false });
    expect(answer.predictions?.map(({ bytesBase64Encoded }) => bytesBase64Encoded !== undefined)).toEqual([
      true,
      false,
      true,
    ]);
    // What no host reports is not known to be nothing.
    expect(await images.rows()).toMatchObject([{ usage_images: 2, usage_image_output: 100, usage_input: null }]);
    images.play(refuses(500), images.paints());
    expect((await images.generated({ ...ONE_BY_ONE, n: 2 })).settings.size).toBe("8x8");
  });

  test("a gateway that is stopped gives no half of an answer: neither between the calls nor while results are fetched", async () => {
    const stopped = async (call: SentCall, afterMs: number) => {
      await images.pass(afterMs);
      images.harness.gateway.closing = true;
      const { status, error } = readImages(await images.harness.clock.until(call.answer));
      images.harness.gateway.closing = false;
      return [status, error?.message];
    };
    const told = [503, expect.stringContaining("shutting down")];
    images.play(images.paints(1_000));
    expect(await stopped(images.generate({ ...ONE_BY_ONE, n: 10 }), 1_500)).toEqual(told);
    const url = `${UPSTREAM_URL}/batches/fox.png`;
    images.play(answers({ data: [{ b64_json: PNG }, { url }] }), () => {});
    expect(await stopped(images.generate({ model: "test/batch", n: 2 }), 1_000)).toEqual(told);
  });
});

describe("contract 2.5: images that are not made", () => {
  test("where every call fails, the first failure is the offer's, and the next offer is tried", async () => {
    images.play(refuses(503), refuses(503), refuses(503), refuses(503));
    const { status, error } = await images.generated({ ...ONE_BY_ONE, n: 2 });
    expect([status, images.sent.length]).toEqual([503, 4]);
    expect(error?.code).toBe("overloaded");
  });

  test("a host that leaves some out without a word has failed to make them", async () => {
    images.play(answers({ created: 1, data: [{ b64_json: PNG }] }));
    const { made, errors } = await images.generated({ n: 3 });
    expect(made).toEqual([PNG]);
    expect(errors).toEqual(
      [1, 2].map((index) => ({
        index,
        code: "upstream_failed",
        message: expect.stringContaining("fewer images") as string,
      })),
    );
    expect(await images.rows()).toMatchObject([{ usage_images: 1, cost_nano_usd: PRICE_NANO_USD }]);
  });

  test("extra images from a host are accepted", async () => {
    images.play(answers({ created: 1, data: [{ b64_json: PNG }, { b64_json: PNG }] }));
    const { made, errors } = await images.generated({ n: 1 });
    expect([made, errors]).toEqual([[PNG, PNG], undefined]);
  });

  test("images blocked by moderation are distinguished from failed ones", async () => {
    images.play(
      answers({ data: { image_base64: [JPEG] }, metadata: { failed_count: "2" }, base_resp: { status_code: 0 } }),
    );
    const { data, errors } = await images.generated({ model: "test/several", n: 3 });
    expect(data).toHaveLength(1);
    expect(errors?.map(({ code }) => code)).toEqual(["content_filter", "content_filter"]);
  });

  test("nothing but failures in an answer is a failure of the offer, though the host answered", async () => {
    const failed = { error: { code: "InternalServiceError", message: "broken" } };
    images.play(answers({ data: [failed, failed] }));
    const { status } = await images.generated({ model: "test/batch", n: 2 });
    expect([status, images.sent.length]).toEqual([502, 2]);
    // One that was blocked is a result: no other provider is asked.
    const blocked = { error: { code: "OutputImageSensitiveContentDetected", message: "held back" } };
    images.play(answers({ data: [failed, blocked] }));
    const mixed = await images.predicted("batch", { sampleCount: 2 });
    expect([mixed.status, images.sent.length]).toEqual([200, 1]);
    expect(mixed.predictions?.map((one) => Object.keys(one))).toEqual([["error"], ["raiFilteredReason"]]);
  });
});

describe("contract 2.4 outputOptions: images of another type than requested", () => {
  const typeOf = (base64 = "") => sniffMedia(Buffer.from(base64, "base64"));

  test("are converted", async () => {
    images.play(answers({ created: 1, data: [{ b64_json: PNG }] }));
    const { made, settings } = await images.generated({ output_format: "jpeg" });
    expect([typeOf(made?.[0]), settings.output_format, settings.size]).toEqual(["image/jpeg", "jpeg", "8x8"]);
  });

  test("are not converted if they have that type", async () => {
    images.play(answers({ created: 1, data: [{ b64_json: JPEG }] }));
    expect((await images.generated({ output_format: "jpeg" })).made).toEqual([JPEG]);
  });

  test("are compressed here where the host cannot, and by the host where it can", async () => {
    images.play(answers({ data: { image_base64: [JPEG] }, base_resp: { status_code: 0 } }));
    const options = { outputOptions: { mimeType: "image/jpeg", compressionQuality: 10 } };
    const [own] = (await images.predicted("several", options)).predictions ?? [];
    expect(own?.bytesBase64Encoded).not.toBe(JPEG);
    expect(typeOf(own?.bytesBase64Encoded)).toBe("image/jpeg");
    images.play(answers({ created: 1, data: [{ b64_json: JPEG }] }));
    const [theirs] = (await images.predicted("painter", options)).predictions ?? [];
    expect([theirs?.bytesBase64Encoded, images.sent[0]?.["output_compression"]]).toEqual([JPEG, 10]);
  });

  test("a PNG is never compressed", async () => {
    images.play(answers({ data: { image_base64: [PNG] }, base_resp: { status_code: 0 } }));
    const options = { outputOptions: { mimeType: "image/png", compressionQuality: 10 } };
    expect((await images.predicted("several", options)).predictions?.[0]?.bytesBase64Encoded).toBe(PNG);
  });

  test("a type that the gateway cannot make is a fault, and no image of another type", async () => {
    const { clock, send, streamMedia, snapshot } = images.harness.gateway;
    const provider = snapshot.providers.get("one")?.[0];
    if (!provider) throw new Error("no such provider");
    const asked = { prompt: PROMPT, count: 1, inputs: [], extras: {}, outputMimeType: "image/tiff" };
    const notes: unknown[] = [];
    const note = (one: unknown) => void notes.push(one);
    const { signal } = new AbortController();
    const finishing = { clock, send, streamMedia, provider, signal, asked, note, adapter: openaiImages };
    const made = { kind: "made", image: { mimeType: "image/png", base64: PNG } } as const;
    const result = await finishResult(made, { ...finishing, upstreamModel: "gpt-image-1" });
    expect(result).toMatchObject({ kind: "failed", error: { kind: "internal" } });
    expect(notes).toEqual([]);
  });

  test("are returned unchanged if they cannot be converted, and the receipt notes it", async () => {
    const odd = Buffer.from("this is no image").toString("base64");
    images.play(answers({ created: 1, data: [{ b64_json: odd }] }));
    const answer = await images.generated({ output_format: "webp" });
    expect([answer.status, answer.made]).toEqual([200, [odd]]);
    const { fields } = await images.harness.receipt(answer);
    expect(fields).toEqual([
      { path: "output_format", action: "dropped", reason: "the provider's image/png image could not be converted" },
    ]);
    expect(await images.rows()).toMatchObject([{ cost_nano_usd: PRICE_NANO_USD }]);
  });
});
