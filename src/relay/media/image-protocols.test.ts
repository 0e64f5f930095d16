import { describe, expect, spyOn, test } from "bun:test";
import type { ReadAnswer } from "../../../testing/sent-call.ts";
import { halfTransparent, plainPng } from "../../media/images.sample.ts";
import {
  answers,
  BLOCKED,
  ImageGateway,
  PNG,
  PRICE_NANO_USD,
  PROMPT,
  readImages,
  refuses,
} from "./image-gateway.sample.ts";

const images = ImageGateway.forTests({
  config: { retention: { max_total_mb: 64, max_project_mb: 64 }, server: { max_body_mb: 3 } },
});

const EDITS = "/api/v1/images/edits";
const file = (base64: string, name = "fox.png", type = "image/png") =>
  new File([Buffer.from(base64, "base64")], name, { type });

function formOf(fields: Record<string, string | File | (string | File)[]>): FormData {
  const form = new FormData();
  for (const [name, value] of Object.entries({ model: "test/painter", prompt: PROMPT, ...fields })) {
    for (const one of [value].flat()) form.append(name, one);
  }
  return form;
}

const edited = async (form: FormData) =>
  readImages(await images.harness.clock.until(images.harness.sendForm(EDITS, form).answer));
const posted = async (body: string | Uint8Array<ArrayBuffer>, headers: Record<string, string>): Promise<ReadAnswer> =>
  images.harness.clock.until(images.harness.sendRaw(EDITS, body, headers).answer);

/** The parts of the form that the host got. */
const partsSent = () =>
  [...(images.harness.upstream.requests[0]?.body ?? "").matchAll(/; name="([^"]+)"/g)].map(([, name]) => name);

describe("contract 4: images/edits, a form", () => {
  test("the image and its mask are sent to the host; the response has the form of generations", async () => {
    images.play(images.paints());
    const image = file(plainPng(16, 16).base64);
    const mask = file(halfTransparent(16, 16).base64, "mask.png");
    const answer = await edited(formOf({ image, mask, n: "2", quality: "low" }));
    expect([answer.status, answer.made]).toEqual([200, [PNG, PNG]]);
    expect(images.harness.upstream.requests[0]?.url).toEndWith("/images/edits");
    expect(partsSent()).toEqual(["model", "prompt", "n", "size", "quality", "image", "mask"]);
    expect(await images.rows()).toMatchObject([{ outcome: "ok", cost_nano_usd: 2 * PRICE_NANO_USD }]);
  });

  test("several images", async () => {
    images.play(images.paints());
    const answer = await edited(formOf({ "image[]": [file(PNG), file(plainPng(4, 4).base64)] }));
    expect(answer.status).toBe(200);
    expect(partsSent().filter((name) => name === "image[]")).toHaveLength(2);
  });

  test("its fields may be in any order", async () => {
    images.play(images.paints());
    const form = new FormData();
    form.append("prompt", PROMPT);
    form.append("image", file(PNG));
    form.append("model", "test/painter");
    expect((await edited(form)).status).toBe(200);
  });

  test("a file named model does not name a model", async () => {
    images.play(images.paints());
    const form = formOf({ image: file(PNG) });
    form.delete("model");
    form.append("model", file(PNG));
    const { status, error } = await edited(form);
    expect([status, error?.message]).toEqual([400, expect.stringContaining("model")]);
    expect(images.sent).toEqual([]);
  });

  test("a mask of another size than its image is rejected by its name", async () => {
    images.play(images.paints());
    const mask = file(halfTransparent(8, 8).base64);
    const { status, error } = await edited(formOf({ image: file(plainPng(16, 16).base64), mask }));
    expect([status, error?.param]).toEqual([400, "mask"]);
    expect(images.sent).toEqual([]);
  });

  test("an upload of more than a megabyte is sent on whole, and freed here", async () => {
    images.play(images.paints());
    const large = Buffer.concat([Buffer.from(PNG, "base64"), Buffer.alloc(1_200_000, 1)]);
    const transfer = spyOn(ArrayBuffer.prototype, "transfer");
    const answer = await edited(formOf({ image: new File([large], "fox.png", { type: "image/png" }) }));
    expect([answer.status, answer.made]).toEqual([200, [PNG]]);
    expect(transfer).toHaveBeenCalledTimes(1);
    // A small one is left to the collector.
    await edited(formOf({ image: file(PNG) }));
    expect(transfer).toHaveBeenCalledTimes(1);
    transfer.mockRestore();
    expect(images.harness.upstream.requests[0]?.body.length).toBeGreaterThan(1_200_000);
  });

  test("its JSON form is read too", async () => {
    images.play(images.paints());
    const url = `data:image/png;base64,${PNG}`;
    const body = { model: "test/painter", prompt: PROMPT, images: [{ image_url: url }] };
    expect((await images.harness.post(EDITS, body)).status).toBe(200);
    expect(partsSent()).toContain("image");
    const { model: _, ...nameless } = body;
    const unnamed = await images.harness.post(EDITS, nameless);
    expect([unnamed.status, unnamed.text]).toEqual([400, expect.stringContaining("model")]);
  });
});

describe("contract 4: bodies that are not a form", () => {
  test.each([
    ["text/plain", "it is text/plain"],
    ["", "none was sent"],
  ])("the content type %p is rejected", async (type, told) => {
    images.play(images.paints());
    const { status, text } = await posted(new Uint8Array([1]), type === "" ? {} : { "content-type": type });
    expect([status, text]).toEqual([415, expect.stringContaining(told)]);
    expect(text).toContain("multipart/form-data or application/json");
  });

  test.each([
    ["application/json", 200],
    ["application/vnd.own+json; charset=utf-8", 200],
  ])("%s is read as JSON", async (type, status) => {
    images.play(images.paints());
    const body = { model: "test/painter", prompt: PROMPT, images: [{ image_url: `data:image/png;base64,${PNG}` }] };
    expect((await posted(JSON.stringify(body), { "content-type": type })).status).toBe(status);
  });

  test.each([
    ["an empty body", "", 400, "must be a multipart form"],
    ["a body that breaks off", '--b\r\ncontent-disposition: form-data; name="prompt"\r\n\r\nfox', 400, ""],
  ])("%s", async (_, body, status, told) => {
    images.play(images.paints());
    const answer = await posted(body, { "content-type": "multipart/form-data; boundary=b" });
    expect([answer.status, answer.text]).toEqual([status, expect.stringContaining(told)]);
    expect(images.sent).toEqual([]);
  });

  test("a field of more than 256 KB is too large, and named; a shorter one is a prompt that is too long", async () => {
    images.play(images.paints());
    const { status, error } = await edited(formOf({ image: file(PNG), user: "x".repeat(257 * 1024) }));
    expect([status, error?.param]).toEqual([413, "user"]);
    const long = await edited(formOf({ image: file(PNG), user: "x".repeat(200 * 1024) }));
    expect(long.status).toBe(200);
  });

  test("more than 64 parts are too many", async () => {
    images.play(images.paints());
    const { status } = await edited(formOf({ image: Array.from({ length: 70 }, () => file(PNG)) }));
    expect(status).toBe(413);
  });
});

test("contract 4: images/generations names its model in the body", async () => {
  images.play(images.paints());
  const { status, error } = await images.generated({ model: undefined });
  expect([status, error?.message]).toEqual([400, expect.stringContaining("model")]);
  expect((await images.generated({ model: "test/no-such" })).status).toBe(404);
});

describe("contract 2.4, 7: `:predict` reports each image separately", () => {
  test("the images, with their types", async () => {
    images.play(images.paints());
    const { status, predictions } = await images.predicted("painter", { sampleCount: 2 });
    const image = { bytesBase64Encoded: PNG, mimeType: "image/png" };
    expect([status, predictions]).toEqual([200, [image, image]]);
    expect(await images.rows()).toMatchObject([{ outcome: "ok", cost_nano_usd: 2 * PRICE_NANO_USD }]);
  });

  test("a blocked prompt is an answer: each of its images is blocked, and costs nothing", async () => {
    images.play(refuses(400, BLOCKED));
    const { status, predictions } = await images.predicted("painter", { sampleCount: 3 });
    expect(status).toBe(200);
    expect(predictions).toEqual(new Array(3).fill({ raiFilteredReason: BLOCKED.message }));
    expect(await images.rows()).toMatchObject([{ outcome: "ok", usage_images: null, cost_nano_usd: 0 }]);
  });

  test("one that failed among others is an element with its error", async () => {
    images.play(images.paints(), refuses(500), images.paints());
    const { status, predictions } = await images.predicted("one-by-one", { sampleCount: 3 });
    expect(status).toBe(200);
    expect(predictions?.map(({ bytesBase64Encoded, error }) => bytesBase64Encoded ?? error?.code)).toEqual([
      PNG,
      502,
      PNG,
    ]);
    expect(await images.rows()).toMatchObject([{ outcome: "ok", usage_images: 2, cost_nano_usd: 2 * PRICE_NANO_USD }]);
  });

  test("any other failure of all of them is an error", async () => {
    images.play(refuses(500));
    const { status, error } = await images.predicted("one-by-one", { sampleCount: 2 });
    expect([status, error?.status]).toEqual([502, "UNAVAILABLE"]);
  });
});

describe("contract 4: images/generations of which some were not made", () => {
  test("lists their errors next to the others", async () => {
    images.play(images.paints(), refuses(400, BLOCKED), refuses(500), images.paints());
    const { status, made, errors } = await images.generated({ model: "test/one-by-one", n: 4 });
    expect([status, made]).toEqual([200, [PNG, PNG]]);
    expect(errors).toEqual([
      { index: 1, code: "content_filter", message: BLOCKED.message },
      { index: 2, code: "upstream_failed", message: expect.any(String) as string },
    ]);
  });

  test("if none was generated and moderation blocked some, it is an error with the reason", async () => {
    images.play(refuses(400, BLOCKED), refuses(500), refuses(400, BLOCKED));
    const { status, error } = await images.generated({ model: "test/one-by-one", n: 2 });
    expect([status, error?.code]).toEqual([400, "content_filter"]);
    expect(await images.rows()).toMatchObject([{ outcome: "content_blocked", cost_nano_usd: 0 }]);
  });
});

describe("an image of more than 28 MiB of base64", () => {
  const LIMIT = 28 * 1024 * 1024;
  /** A PNG with a long tail, which is not read. */
  const large = (characters: number) => {
    const bytes = Buffer.alloc((characters / 4) * 3, 1);
    Buffer.from(PNG, "base64").copy(bytes);
    return bytes.toString("base64");
  };
  const answerWith = (base64: string) => answers({ created: 1, data: [{ b64_json: base64 }] });

  test("is stored and returned by URL; one that just fits is returned inline", async () => {
    images.play(answerWith(large(LIMIT + 4)), answerWith(large(LIMIT)));
    const { status, data } = await images.generated();
    expect([status, data?.length, data?.[0]?.b64_json]).toEqual([200, 1, undefined]);
    const stored = await images.harness.get(data?.[0]?.url ?? "");
    expect([stored.status, stored.headers.get("content-type")]).toEqual([200, "image/png"]);
    const inline = await images.generated();
    expect([inline.data?.[0]?.url, inline.data?.[0]?.b64_json?.length]).toEqual([undefined, LIMIT]);
  });

  test("decision 0019: was generated and billed, so it is returned inline if the store is full", async () => {
    await images.fillStore(63);
    images.play(answerWith(large(LIMIT + 4)));
    const { status, data } = await images.generated();
    expect([status, data?.[0]?.url, data?.[0]?.b64_json?.length]).toEqual([200, undefined, LIMIT + 4]);
    expect(await images.rows()).toMatchObject([{ outcome: "ok", cost_nano_usd: PRICE_NANO_USD }]);
  });

  test("any other fault of the store is an error, and the image is billed", async () => {
    images.play(answerWith(large(LIMIT + 4)));
    await images.emptyStore();
    const { files } = images.harness.gateway;
    const keep = files.keep.bind(files);
    files.keep = () => Promise.reject(new Error("the disk is gone"));
    const { status } = await images.generated();
    files.keep = keep;
    expect(status).toBe(500);
    expect(await images.rows()).toMatchObject([
      { outcome: "internal", usage_source: "measured", cost_nano_usd: PRICE_NANO_USD },
    ]);
  });
});
