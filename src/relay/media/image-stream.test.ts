import { describe, expect, spyOn, test } from "bun:test";
import type { Script } from "../../../testing/memory-network.ts";
import { plainPng } from "../../media/images.sample.ts";
import { openaiImages } from "../../providers/openai/images.ts";
import { MAX_ORPHANS } from "../attempt/watched-attempt.ts";
import {
  answers,
  BLOCKED,
  eventsIn,
  ImageGateway,
  PNG,
  PRICE_NANO_USD,
  refuses,
  SECRET,
} from "./image-gateway.sample.ts";

const images = ImageGateway.forTests();
const SMALL = plainPng(4, 4).base64;

const event = (type: string, fields: object) => `event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`;
const partial = (index: number, fields: object = {}) =>
  event("image_generation.partial_image", { b64_json: SMALL, partial_image_index: index, ...fields });
const USAGE = { input_tokens: 20, output_tokens: 100, total_tokens: 120 };
const completed = (fields: object = {}) => event("image_generation.completed", { b64_json: PNG, ...fields });

const stream = (...steps: (string | number)[]): Script => images.harness.upstream.stream(...steps);
const asked = async (body: object = {}) => {
  const answer = await images.harness.clock.until(images.generate({ stream: true, ...body }).answer);
  return { ...answer, events: answer.headers.get("content-type") === "text/event-stream" ? eventsIn(answer.text) : [] };
};
const typesOf = (events: { type: string }[]) => events.map(({ type }) => type.replace("image_generation.", ""));

describe("contract 2.14: streamed images", () => {
  test("arrive as they are generated, and the last one after its receipt", async () => {
    images.play(stream(1_000, partial(0), 1_000, partial(1), 1_000, completed({ usage: USAGE })));
    const { status, headers, chunks, events } = await asked({ partial_images: 2 });
    expect([status, headers.get("content-type")]).toEqual([200, "text/event-stream"]);
    expect(typesOf(events)).toEqual(["partial_image", "partial_image", "completed"]);
    expect(chunks.filter(({ text }) => text.includes("b64_json")).map(({ ms }) => ms)).toEqual([1_000, 2_000, 3_000]);
    expect(events.map(({ b64_json, size, partial_image_index }) => [b64_json, size, partial_image_index])).toEqual([
      [SMALL, "auto", 0],
      [SMALL, "auto", 1],
      [PNG, "8x8", undefined],
    ]);
    expect(events[2]?.usage).toMatchObject(USAGE);
    expect(images.sent[0]).toMatchObject({ stream: true, partial_images: 2 });
    expect(await images.harness.receipt({ headers })).toMatchObject({
      stream: true,
      usage: { images: 1 },
      usage_source: "measured",
      cost_nano_usd: PRICE_NANO_USD,
      total_ms: 3_000,
    });
  });

  test("have the settings that the provider reports", async () => {
    const settings = { size: "1024x1536", quality: "low", background: "opaque", output_format: "webp" };
    images.play(stream(partial(0, settings), completed({ quality: "low" })));
    const { events } = await asked({ partial_images: 1 });
    // The format and the size of a finished image are read from its bytes.
    expect(events[0]).toMatchObject({ ...settings, output_format: "png" });
    expect(events[1]).toMatchObject({ quality: "low", size: "8x8", output_format: "png" });
  });

  test("the options of the call are sent to the offer that answers and reported as sent", async () => {
    images.play(stream(completed()));
    const { events } = await asked({ quality: "high", size: "1536x1024", output_format: "png" });
    expect(images.sent[0]).toMatchObject({ quality: "high", size: "1536x1024" });
    expect(events[0]).toMatchObject({ quality: "high", size: "8x8" });
  });

  test("the settings of the model are those that it got, where it knows no such option", async () => {
    images.play(answers({ created: 1, data: [{ b64_json: PNG }] }));
    const { events, headers } = await asked({ model: "test/one-by-one", background: "opaque", moderation: "low" });
    expect(events[0]).toMatchObject({ background: "auto" });
    expect(headers.get("x-trivium-dropped")).toBe("moderation");
  });

  test("several arrive one by one, the last one after the receipt, with the usage of all", async () => {
    const usage = { generated_images: 3, output_tokens: 300 };
    const made = event("image_generation.partial_succeeded", { b64_json: PNG });
    images.play(stream(1_000, made, 1_000, made, 1_000, made, 1_000, event("image_generation.completed", { usage })));
    const { events, chunks, headers } = await asked({ model: "test/batch", n: 3, output_format: "png" });
    expect(typesOf(events)).toEqual(["completed", "completed", "completed"]);
    expect(chunks.filter(({ text }) => text.includes("b64_json")).map(({ ms }) => ms)).toEqual([1_000, 2_000, 4_000]);
    expect(events.map((one) => one.usage?.["output_tokens"])).toEqual([undefined, undefined, 300]);
    expect(await images.harness.receipt({ headers })).toMatchObject({ usage: { images: 3 } });
    expect(await images.rows()).toMatchObject([{ usage_images: 3, usage_image_output: 300 }]);
  });

  test("usage of each image is added up", async () => {
    images.play(stream(completed({ usage: USAGE }), completed({ usage: USAGE })));
    const { events } = await asked({ n: 2 });
    expect(events.map((one) => one.usage?.["output_tokens"])).toEqual([100, 100]);
    expect(await images.rows()).toMatchObject([{ usage_images: 2, usage_image_output: 200 }]);
  });

  test("one more than requested is sent too", async () => {
    images.play(stream(completed(), completed()));
    const { events } = await asked({ n: 1 });
    expect(typesOf(events)).toEqual(["completed", "completed"]);
    expect(await images.rows()).toMatchObject([{ usage_images: 2, cost_nano_usd: 2 * PRICE_NANO_USD }]);
  });

  test("more than one stream can carry, and those of a host without streams, arrive at the end", async () => {
    images.play(images.paints(1_000));
    const { events, endMs } = await asked({ model: "test/one-by-one", n: 3, partial_images: 2 });
    expect([typesOf(events), endMs]).toEqual([["completed", "completed", "completed"], 1_000]);
    expect(images.sent.map(({ stream: streamed }) => streamed)).toEqual([undefined, undefined, undefined]);
    expect(await images.rows()).toMatchObject([{ usage_images: 3, cost_nano_usd: 3 * PRICE_NANO_USD }]);
  });

  test("with usage of all at the end, where the host reports it once", async () => {
    images.play(images.paints(0, PNG, { usage: USAGE }));
    const { events } = await asked({ model: "test/one-by-one", n: 1 });
    expect(events[0]?.usage).toMatchObject({ output_tokens: 100 });
    expect(images.sent[0]).not.toHaveProperty("stream");
  });

  test("an image of several megabytes is one event", async () => {
    const large = Buffer.concat([Buffer.from(PNG, "base64"), Buffer.alloc(3_000_000, 1)]).toString("base64");
    const text = completed({ b64_json: large });
    const half = text.length / 2;
    images.play(stream(text.slice(0, half), 10, text.slice(half)));
    expect((await asked()).events[0]?.b64_json === large).toBe(true);
  });

  test("more than one stream can carry with this many inputs are not streamed by the host", async () => {
    images.play(answers({ data: [{ b64_json: PNG }, { b64_json: PNG }] }), answers({ data: [{ b64_json: PNG }] }));
    const inputs = new Array(13).fill({ image_url: `data:image/png;base64,${PNG}` });
    const body = { model: "test/batch", prompt: "a fox", n: 3, stream: true, output_format: "png", images: inputs };
    const { text } = await images.harness.post("/api/v1/images/edits", body);
    expect(eventsIn(text).map(({ type }) => type)).toEqual(new Array(3).fill("image_edit.completed"));
    expect(images.sent.map((sent) => sent["stream"])).toEqual([undefined, undefined]);
  });

  test("the most that one stream can carry is streamed", async () => {
    images.play(stream(...new Array(10).fill(completed())));
    expect((await asked({ n: 10 })).events).toHaveLength(10);
    expect(images.sent[0]).toMatchObject({ stream: true, n: 10 });
  });

  test("an image that was made and not streamed is the client's all the same: no second one is paid", async () => {
    images.play(answers({ created: 1, data: [{ b64_json: PNG }], usage: USAGE }));
    const { events } = await asked();
    expect([typesOf(events), events[0]?.b64_json, events[0]?.size]).toEqual([["completed"], PNG, "8x8"]);
    expect(images.sent).toHaveLength(1);
    expect(await images.rows()).toMatchObject([{ usage_images: 1, usage_image_output: 100 }]);
  });
});

describe("contract 2.14: streamed images that fail", () => {
  test("a host that fails before its first event is a failure with its own status", async () => {
    images.play(refuses(400, { message: "Unknown parameter", type: "invalid_request_error", param: "size" }));
    const { status, text } = await asked();
    expect([status, text]).toEqual([400, expect.stringContaining("Unknown parameter")]);
    expect(await images.rows()).toMatchObject([{ outcome: "invalid_request", stream: 1 }]);
  });

  test("another offer answers where one fails before its first event", async () => {
    images.play(refuses(429), stream(completed()));
    const { events, headers } = await asked({ model: "test/two" });
    expect(typesOf(events)).toEqual(["completed"]);
    expect(await images.harness.receipt({ headers })).toMatchObject({ provider: "two" });
  });

  test("H16: a host that ends before an image is finished has failed, and nothing is billed", async () => {
    images.play(stream(1_000, partial(0)));
    const { events } = await asked({ partial_images: 1 });
    expect(typesOf(events)).toEqual(["partial_image", "error"]);
    expect(events[1]?.error?.message).toContain("closed the stream in the middle of its response");
    expect(await images.rows()).toMatchObject([
      { outcome: "upstream_failed", usage_images: null, usage_source: "partial", cost_nano_usd: 0 },
    ]);
  });

  test("H16: a connection that breaks after an image was finished: the image is billed as far as is known", async () => {
    images.play(images.harness.upstream.brokenStream(completed({ usage: USAGE }), 1_000));
    const { events } = await asked({ n: 2 });
    expect(typesOf(events)).toEqual(["completed", "error"]);
    expect(await images.rows()).toMatchObject([
      { outcome: "upstream_failed", usage_images: 1, usage_source: "partial", cost_nano_usd: PRICE_NANO_USD },
    ]);
  });

  test("an error in the stream is in the client's protocol, without the provider's secrets", async () => {
    const error = { ...BLOCKED, message: `blocked for ${SECRET}` };
    images.play(stream(partial(0), event("error", { error })));
    const { events } = await asked({ partial_images: 1 });
    expect(events[1]?.error).toMatchObject({ code: "content_filter", message: expect.stringContaining("blocked for") });
    expect(JSON.stringify(events)).not.toContain(SECRET);
    expect(await images.rows()).toMatchObject([{ outcome: "content_blocked", cost_nano_usd: 0 }]);
  });

  test("generated images precede the error of those that failed", async () => {
    const failed = event("image_generation.partial_failed", {
      error: { code: "InternalServiceError", message: "broken" },
    });
    const made = event("image_generation.partial_succeeded", { b64_json: PNG });
    images.play(stream(failed, made, made, event("image_generation.completed", {})));
    const { events } = await asked({ model: "test/batch", n: 3, output_format: "png" });
    expect(typesOf(events)).toEqual(["completed", "completed", "error"]);
    expect(events[2]?.error?.message).toContain("broken");
    expect(await images.rows()).toMatchObject([{ outcome: "ok", usage_images: 2, cost_nano_usd: 2 * PRICE_NANO_USD }]);
  });

  test("nothing but failures is an error, and nothing is billed", async () => {
    const held = event("image_generation.partial_failed", {
      error: { code: "OutputImageSensitiveContentDetected", message: "held back" },
    });
    images.play(stream(held, event("image_generation.completed", {})));
    const { events } = await asked({ model: "test/batch" });
    expect(typesOf(events)).toEqual(["error"]);
    expect(events[0]?.error).toMatchObject({ code: "content_filter" });
    expect(await images.rows()).toMatchObject([{ outcome: "content_blocked", cost_nano_usd: 0 }]);
  });

  test("those that a host leaves out without a word have failed", async () => {
    images.play(stream(completed()));
    const { events } = await asked({ n: 3 });
    expect(typesOf(events)).toEqual(["completed", "error"]);
    expect(events[1]?.error?.message).toContain("fewer images");
  });

  test("an event that is not JSON is a failure, and ends the request to the host", async () => {
    images.play(images.harness.upstream.openStream("data: {oops\n\n"));
    const { status } = await asked();
    expect(status).toBe(502);
    expect(images.harness.upstream.replies[0]?.closedAtMs).toBeDefined();
  });

  test("the same after an event that was sent on", async () => {
    images.play(images.harness.upstream.openStream(partial(0), 1_000, "data: {oops\n\n"));
    const { events } = await asked({ partial_images: 1 });
    expect(typesOf(events)).toEqual(["partial_image", "error"]);
    expect(images.harness.upstream.replies[0]?.closedAtMs).toBeDefined();
  });

  test("comments, the end mark and other events are not images", async () => {
    images.play(stream(": hello\n\n", event("keepalive", {}), completed(), "data: [DONE]\n\n"));
    expect(typesOf((await asked()).events)).toEqual(["completed"]);
  });

  test("a host whose streams break off is known to fail, though they had begun", async () => {
    images.play(images.harness.upstream.brokenStream(partial(0), 1_000));
    const { health } = images.harness.gateway;
    const failed = spyOn(health, "failed");
    await asked({ partial_images: 1 });
    expect(failed.mock.calls.map(([target, , error]) => [target.offer.provider, error.kind])).toEqual([
      ["one", "upstream_failed"],
    ]);
    failed.mockRestore();
  });

  test("a last event without its blank line counts", async () => {
    images.play(stream(completed().trimEnd()));
    expect(typesOf((await asked()).events)).toEqual(["completed"]);
    images.play(stream(completed(), "\n"));
    expect(typesOf((await asked()).events)).toEqual(["completed"]);
  });

  test("a job in place of a stream is a failure", async () => {
    images.play(answers("not json"));
    expect((await asked()).status).toBe(502);
  });

  test("a bug of ours is in the log, and not in the answer", async () => {
    images.play(stream(partial(0), 1_000, completed()));
    await images.logged("");
    const call = images.generate({ stream: true, partial_images: 1 });
    await images.pass(500);
    const { stream: adapter } = openaiImages;
    if (!adapter) throw new Error("this adapter streams");
    const read = spyOn(adapter, "read").mockImplementation(() => {
      throw new Error("a bug");
    });
    const { text } = await images.harness.clock.until(call.answer);
    read.mockRestore();
    expect(typesOf(eventsIn(text))).toEqual(["partial_image", "error"]);
    expect(text).not.toContain("a bug");
    const logged = await images.logged("internal error in a stream");
    expect([logged.length, logged[0]?.includes("a bug")]).toEqual([1, true]);
    expect(await images.rows()).toMatchObject([{ outcome: "internal", cost_nano_usd: 0 }]);
  });

  test("a failing provider and a disconnected client are not logged as internal errors", async () => {
    await images.logged("");
    images.play(stream(partial(0)));
    await asked({ partial_images: 1 });
    images.harness.gateway.orphanedImages += MAX_ORPHANS.orphanedImages;
    images.play(stream(partial(0), 10_000, completed()));
    const call = images.generate({ stream: true, partial_images: 1 });
    await images.pass(1_000);
    call.disconnect();
    await images.pass(10_000);
    images.harness.gateway.orphanedImages -= MAX_ORPHANS.orphanedImages;
    expect(await images.logged("internal error")).toEqual([]);
  });
});

describe("H15: a client that waits for its first image", () => {
  test("after ten seconds the headers leave with a keep-alive, and the image follows", async () => {
    images.play(stream(40_000, completed()));
    const { events, text, headMs, chunks } = await asked();
    expect(headMs).toBeWithin(10_000, 10_200);
    expect(text).toStartWith(": keep-alive\n\n");
    expect(chunks.filter((chunk) => chunk.text.startsWith(": keep-alive")).length).toBeWithin(2, 4);
    expect(typesOf(events)).toEqual(["completed"]);
  });

  test("a failure after that is reported in the stream, without the provider's secrets", async () => {
    images.play(async (reply, request) => {
      await images.harness.clock.sleep(20_000);
      return refuses(400, { message: `key ${SECRET} has no access`, type: "x", param: "size" })(reply, request);
    });
    const { status, events, text } = await asked();
    expect([status, typesOf(events)]).toEqual([200, ["error"]]);
    expect(text).not.toContain(SECRET);
    expect(events[0]?.error?.param).toBe("size");
    expect(await images.rows()).toMatchObject([{ outcome: "invalid_request", cost_nano_usd: 0 }]);
  });

  test("the headers of an image that is there earlier leave with it", async () => {
    images.play(stream(5_000, completed()));
    const { headMs, text } = await asked();
    expect(headMs).toBe(5_000);
    expect(text).not.toContain("keep-alive");
  });
});
