import { describe, expect, test } from "bun:test";
import { halfTransparent, plainPng } from "../../media/images.sample.ts";
import { readPixels } from "../../media/pixels.ts";
import { answers, FLUX_URL, ImageGateway, PNG, refuses, SECRET, STRICT_KEY } from "./image-gateway.sample.ts";

const images = ImageGateway.forTests();
const EDITS = "/api/v1/images/edits";
const dataUrl = (base64: string) => ({ image_url: `data:image/png;base64,${base64}` });

describe("H09: options that a model does not have", () => {
  test("are dropped and noted", async () => {
    images.play(images.paints());
    const answer = await images.generated({ model: "test/one-by-one", moderation: "low", style: "vivid", tint: 3 });
    expect(answer.status).toBe(200);
    expect(answer.headers.get("x-trivium-dropped")).toBe("moderation,tint");
    const { fields } = await images.harness.receipt(answer);
    expect(fields).toEqual([
      { path: "moderation", action: "dropped", reason: "this model does not support this setting" },
      { path: "tint", action: "dropped", reason: "this model's provider does not support this field" },
    ]);
    expect(images.sent[0]).toMatchObject({ style: "vivid" });
    expect(images.sent[0]).not.toHaveProperty("tint");
  });

  test.each([
    ["by a header", { headers: { "x-trivium-strict": "true" } }],
    ["by its key", { key: STRICT_KEY }],
  ])("refuse a call that is strict %s, before a provider is asked", async (_, options) => {
    images.play(images.paints());
    const refused = await images.generated({ model: "test/one-by-one", moderation: "low" }, options);
    expect([refused.status, refused.error?.param, images.sent]).toEqual([400, "moderation", []]);
    expect(refused.headers.get("x-trivium-dropped")).toBe("moderation");
    expect(await images.rows()).toMatchObject([{ outcome: "unsupported_parameter", cost_nano_usd: 0 }]);
    expect((await images.generated({ model: "test/one-by-one" }, options)).status).toBe(200);
  });

  test("partial images are noted if they were requested and cannot be streamed", async () => {
    const dropped = async (body: object) =>
      (await images.harness.clock.until(images.generate({ stream: true, ...body }).answer)).headers.get(
        "x-trivium-dropped",
      );
    images.play(images.paints());
    expect(await dropped({ model: "test/one-by-one", partial_images: 2 })).toBe("partial_images");
    expect(await dropped({ model: "test/one-by-one" })).toBeNull();
    images.play(images.paints());
    expect(await dropped({ partial_images: 2 })).toBeNull();
    // A stream of finished images shows none that are not.
    images.play(answers({ data: [{ b64_json: PNG }] }));
    expect(await dropped({ model: "test/batch", partial_images: 2 })).toBe("partial_images");
  });

  test("an input of an unsupported kind is rejected, because the image would not be the requested one", async () => {
    images.play(images.paints());
    const references = [
      { referenceType: "REFERENCE_TYPE_STYLE", referenceId: 1, referenceImage: { bytesBase64Encoded: PNG } },
    ];
    const { status, error } = await images.predicted("painter", {}, { referenceImages: references });
    expect([status, images.sent]).toEqual([400, []]);
    expect(error?.message).toContain("REFERENCE_TYPE_RAW");
  });
});

describe("contract 2.4: masks", () => {
  const masked = async (model: string) => {
    const body = {
      model,
      prompt: "a hat",
      images: [dataUrl(plainPng(8, 8).base64)],
      mask: dataUrl(halfTransparent(8, 8).base64),
    };
    return await images.harness.post(EDITS, body);
  };

  test("are white where a model edits, if it takes them so", async () => {
    images.play(answers({ id: "job", polling_url: `${FLUX_URL}/get_result?id=job` }), answers({ status: "Error" }));
    await masked("test/fill");
    const mask = String(images.sent[0]?.["mask"]);
    const { bytes, offset } = await readPixels(Buffer.from(mask, "base64"));
    // The left half is transparent in the client's mask.
    expect([bytes[offset(0, 0)], bytes[offset(7, 0)]]).toEqual([255, 0]);
  });

  test("are sent unchanged to all others", async () => {
    images.play(images.paints());
    expect((await masked("test/painter")).status).toBe(200);
    const { body } = images.harness.upstream.requests[0] ?? {};
    expect(body).toContain(Buffer.from(halfTransparent(8, 8).base64, "base64").toString().slice(0, 40));
  });
});

describe("S10: a provider's message is shown without its secrets", () => {
  test("in the reason of an image that was not made", async () => {
    images.play(
      images.paints(),
      refuses(400, { message: `blocked by ${SECRET}`, code: "moderation_blocked" }),
      refuses(400, { message: `bad ${SECRET}` }),
    );
    const { errors, text } = await images.generated({ model: "test/one-by-one", n: 3 });
    expect(errors?.map(({ code }) => code)).toEqual(["content_filter", expect.any(String) as string]);
    expect(errors?.[0]?.message).toContain("blocked by");
    expect(text).not.toContain(SECRET);
  });

  test("in a blocked prompt", async () => {
    images.play(refuses(400, { message: `blocked by ${SECRET}`, code: "moderation_blocked" }));
    const { predictions, text } = await images.predicted("painter");
    expect(predictions?.[0]?.raiFilteredReason).toContain("blocked by");
    expect(text).not.toContain(SECRET);
  });
});

test("contract 2.14: an answer states the size that was sent to the model, where its bytes say nothing", async () => {
  images.play(answers({ created: 1, data: [{ b64_json: "bm8gaW1hZ2U=" }] }));
  const { settings } = await images.generated({ model: "test/one-by-one" });
  expect(settings.size).toBe("1024x1024");
  images.play(answers({ created: 1, data: [{ b64_json: "bm8gaW1hZ2U=" }] }));
  expect((await images.generated()).settings.size).toBeUndefined();
});
