import { afterEach, beforeAll, describe, expect, test } from "bun:test";
import { Harness, UPSTREAM_URL } from "../../testing/harness.ts";
import type { Script } from "../../testing/memory-network.ts";
import { errorIn } from "../../testing/sent-call.ts";

/** One pixel. */
const PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const PROMPT = "a red fox in the snow";

let harness: Harness;
beforeAll(async () => {
  const provider = (path: string) => ({
    kind: "openai",
    base_url: `${UPSTREAM_URL}/${path}`,
    api_key: "upstream-secret",
  });
  const model = (id: string, ...providers: string[]) => ({
    id,
    output_modalities: ["image"],
    pricings: { image: [{ value: 0.04, unit: "perCount", currency: "USD" }] },
    offers: providers.map((name) => ({ provider: name, model: "gpt-image-1" })),
  });
  harness = await Harness.start({
    config: {
      providers: { one: provider("one"), two: provider("two") },
      models: [model("test/painter", "one"), model("test/two", "one", "two")],
    },
  });
});

const NOTHING_LEFT = { runningCalls: 0, orphanedTexts: 0, orphanedImages: 0, heldBytes: 0, openUpstreams: 0 };
afterEach(() => expect(harness.leftovers()).toEqual(NOTHING_LEFT));

const images = (count: number) => ({ created: 1, data: Array.from({ length: count }, () => ({ b64_json: PNG })) });
/** Makes what it was asked for, after a second. */
const paints: Script = async (reply, { body }) => {
  await harness.clock.sleep(1_000);
  const { n = 1 } = JSON.parse(body) as { n?: number };
  await harness.upstream.json(images(n))(reply, { url: "", headers: {}, body, atMs: 0 });
};
const refuses =
  (status: number, error: object = { message: "no", type: "server_error" }): Script =>
  (...asked) =>
    harness.upstream.json({ error }, status)(...asked);

const ask = (body: object = {}, model = "test/painter") =>
  harness.sendPost("/api/v1/images/generations", { model, prompt: PROMPT, ...body });
const answered = async (body: object = {}, model?: string) => {
  const answer = await harness.clock.until(ask(body, model).answer);
  const { data } = JSON.parse(answer.text) as { data?: { b64_json?: string }[] };
  return { ...answer, made: data?.map(({ b64_json }) => b64_json) };
};

describe("images", () => {
  test("are made, answered, and billed by their number", async () => {
    harness.upstream.play(paints);
    const answer = await answered({ n: 2 });
    expect([answer.status, answer.made, answer.endMs]).toEqual([200, [PNG, PNG], 1_000]);
    expect(JSON.parse(harness.upstream.requests[0]?.body ?? "")).toMatchObject({ prompt: PROMPT, n: 2 });
    expect(await harness.receipt(answer)).toMatchObject({
      model: "test/painter",
      provider: "one",
      usage: { images: 2 },
      cost_nano_usd: 80_000_000,
      offers: [{ provider: "one", outcome: "answered", ms: 1_000 }],
      total_ms: 1_000,
    });
  });

  test("another offer makes them where one fails, and both are in the receipt", async () => {
    harness.upstream.play(refuses(429), paints);
    const answer = await answered({}, "test/two");
    expect([answer.status, answer.made]).toEqual([200, [PNG]]);
    const { offers, provider } = await harness.receipt(answer);
    expect([provider, offers.at(0)?.outcome, offers.at(-1)?.outcome]).toEqual(["two", "failed", "answered"]);
  });

  test("a prompt that is refused is nobody's fault but the prompt's, and costs nothing", async () => {
    const moderation = {
      message: "Your request was rejected",
      type: "image_generation_user_error",
      code: "moderation_blocked",
    };
    harness.upstream.play(refuses(400, moderation));
    const answer = await answered({}, "test/two");
    expect([answer.status, harness.upstream.requests.length]).toEqual([400, 1]);
    expect(await harness.receipt(answer)).toMatchObject({ cost_nano_usd: 0 });
  });

  test("H28: a host that never answers is given up", async () => {
    harness.upstream.play(() => {});
    const answer = await answered();
    expect(answer.status).toBe(504);
    expect(answer.endMs).toBe(600_000);
    expect(errorIn(answer).message).toContain("did not answer within 600000 ms");
    expect(harness.upstream.requests).toHaveLength(1);
  });

  test("H26: a client that leaves pays for what is made all the same", async () => {
    harness.upstream.play(paints);
    const call = ask();
    await harness.clock.pass(500);
    call.disconnect();
    await harness.clock.pass(0);
    expect(harness.gateway.orphanedImages).toBe(1);
    await harness.clock.pass(1_000);
    expect((await harness.receipts()).at(-1)).toMatchObject({ usage: { images: 1 }, cost_nano_usd: 40_000_000 });
  });

  test("an image that takes minutes is waited for", async () => {
    harness.upstream.play(async (reply) => {
      await harness.clock.sleep(100_000);
      await harness.upstream.json(images(1))(reply, harness.upstream.requests[0] as never);
    });
    const answer = await answered();
    expect([answer.status, answer.made, answer.endMs]).toEqual([200, [PNG], 100_000]);
  });

  test.each([
    [{ n: 11 }, "n"],
    [{ prompt: "" }, "prompt"],
    [{ size: "1x1" }, "size"],
  ])("what cannot be made is refused by its name, before anybody is asked: %p", async (body, path) => {
    harness.upstream.play(paints);
    const answer = await answered(body);
    expect([answer.status, harness.upstream.requests.length]).toEqual([400, 0]);
    expect(errorIn(answer).message).toContain(path);
  });
});

const eventOf = (type: string, index?: number, usage?: object) =>
  `event: ${type}\ndata: ${JSON.stringify({ type, b64_json: PNG, ...(index === undefined ? {} : { partial_image_index: index }), ...(usage === undefined ? {} : { usage }) })}\n\n`;
const partial = (index: number) => eventOf("image_generation.partial_image", index);
const completed = eventOf("image_generation.completed", undefined, {
  input_tokens: 20,
  output_tokens: 100,
  total_tokens: 120,
});

describe("streamed images (contract 2.14)", () => {
  const typesIn = (text: string) => [...text.matchAll(/^event: (\S+)$/gm)].map(([, type]) => type);
  const stream = async (...steps: (string | number)[]) => {
    harness.upstream.play(harness.upstream.stream(...steps));
    return await harness.clock.until(ask({ stream: true, partial_images: 2 }).answer);
  };

  test("come as they are made, and the last of them after its receipt", async () => {
    const { text, chunks, status, headers } = await stream(1_000, partial(0), 1_000, partial(1), 1_000, completed);
    expect(status).toBe(200);
    expect(typesIn(text)).toEqual([
      "image_generation.partial_image",
      "image_generation.partial_image",
      "image_generation.completed",
    ]);
    expect(chunks.filter((chunk) => chunk.text.includes(PNG)).map(({ ms }) => ms)).toEqual([1_000, 2_000, 3_000]);
    expect(JSON.parse(harness.upstream.requests[0]?.body ?? "")).toMatchObject({ stream: true, partial_images: 2 });
    expect(await harness.receipt({ headers })).toMatchObject({ stream: true, usage: { images: 1 }, total_ms: 3_000 });
  });

  test("H16: a host that ends before an image is finished has failed, and nothing is billed", async () => {
    const { text, headers } = await stream(1_000, partial(0));
    expect(typesIn(text)).toEqual(["image_generation.partial_image", "error"]);
    expect(text).toContain("closed the stream in the middle of its answer");
    expect(await harness.receipt({ headers })).toMatchObject({ usage: { images: null } });
  });

  test("a host that fails before its first event is a failure with a status of its own", async () => {
    harness.upstream.play(refuses(400, { message: "Unknown parameter", type: "invalid_request_error", param: "size" }));
    const answer = await harness.clock.until(ask({ stream: true }).answer);
    expect(answer.status).toBe(400);
  });

  test("an image that was made and not streamed is the client's all the same", async () => {
    harness.upstream.play(paints);
    const { text } = await harness.clock.until(ask({ stream: true }).answer);
    expect(typesIn(text)).toEqual(["image_generation.completed"]);
    expect(harness.upstream.requests).toHaveLength(1);
  });

  test("H15: after ten seconds the headers leave with a keep-alive, and the image follows", async () => {
    const { text, headMs, chunks } = await stream(40_000, completed);
    expect(headMs).toBeWithin(10_000, 10_200);
    expect(text).toStartWith(": keep-alive\n\n");
    expect(chunks.filter((chunk) => chunk.text.startsWith(": keep-alive")).length).toBeWithin(2, 4);
    expect(typesIn(text)).toEqual(["image_generation.completed"]);
  });

  test("H26: a client that leaves pays for what is made all the same", async () => {
    harness.upstream.play(harness.upstream.stream(1_000, partial(0), 5_000, completed));
    const call = ask({ stream: true, partial_images: 1 });
    await harness.clock.pass(2_000);
    call.disconnect();
    await harness.clock.pass(10_000);
    expect((await harness.receipts()).at(-1)).toMatchObject({ usage: { images: 1 }, stream: true });
  });

  test("several come one by one", async () => {
    harness.upstream.play(paints);
    const { text, headers } = await harness.clock.until(ask({ stream: true, n: 3 }).answer);
    expect(typesIn(text)).toEqual(Array.from({ length: 3 }, () => "image_generation.completed"));
    expect(await harness.receipt({ headers })).toMatchObject({ usage: { images: 3 } });
  });
});

describe("images in a conversation", () => {
  test("are the answer's, and billed by their number", async () => {
    harness.upstream.play(paints);
    const answer = await harness.call("chat", { model: "test/painter" });
    expect(answer.status).toBe(200);
    expect(answer.text).toContain(PNG.slice(0, 60));
    expect(await harness.receipt(answer)).toMatchObject({ usage: { images: 1 }, cost_nano_usd: 40_000_000 });
  });

  test("may be streamed to a client that waits", async () => {
    harness.upstream.play(paints);
    const answer = await harness.call("chat", { model: "test/painter", stream: true });
    expect(answer.text).toContain(PNG.slice(0, 60));
    expect(answer.text).toEndWith("data: [DONE]\n\n");
    expect(await harness.receipt(answer)).toMatchObject({ usage: { images: 1 }, stream: true });
  });

  test("a host that fails is told in the client's own protocol", async () => {
    harness.upstream.play(refuses(500));
    const answer = await harness.call("messages", { model: "test/painter" });
    expect(answer.status).toBe(502);
    expect(errorIn(answer).type).toBe("api_error");
  });
});
