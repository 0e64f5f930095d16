import { describe, expect, test } from "bun:test";
import { NANO_USD_PER_TOKEN, POOR_KEY, ServiceGateway } from "./service-gateway.sample.ts";

const services = ServiceGateway.forTests();
const texts = (count: number) => Array.from({ length: count }, (_, index) => "x".repeat((index % 9) + 1));
/** What the sample's host says of each text. */
const lengths = (input: readonly string[]) => input.map((text) => text.length);
const firsts = (data: readonly { embedding: number[] | string }[] = []) => data.map(({ embedding }) => embedding[0]);

describe("a batch beyond a host's limit", () => {
  test("is sent in several requests, five at a time, and put in order", async () => {
    const input = texts(2000);
    services.play(services.embeds(100));
    const before = services.harness.clock.nowMs();
    const { body } = await services.embedded({ model: "test/many", input });
    expect(services.sent.map((sent) => (sent["input"] as string[]).length)).toEqual([...Array(7).fill(256), 208]);
    expect(firsts(body.data) as number[]).toEqual(lengths(input));
    expect(body.data?.map(({ index }) => index)).toEqual(input.map((_, index) => index));
    expect(services.harness.clock.nowMs() - before).toBe(200);
  });

  test("usage and price are the sums of all requests, to the token", async () => {
    services.play(services.embeds(0, 7));
    const answer = await services.embedded({ model: "test/many", input: texts(600) });
    expect(answer.body.usage).toEqual({ prompt_tokens: 4200, total_tokens: 4200 });
    expect(await services.harness.receipt(answer)).toMatchObject({
      usage: { input: 4200 },
      usage_source: "measured",
      cost_nano_usd: 4200 * NANO_USD_PER_TOKEN,
    });
  });

  test("only a failed part is requested again; everything is billed once", async () => {
    const input = texts(700);
    services.play(services.embeds(), services.refuses(503), services.embeds());
    const answer = await services.embedded({ model: "test/many", input });
    expect(answer.status).toBe(200);
    expect(firsts(answer.body.data) as number[]).toEqual(lengths(input));
    expect(services.sent.map((sent) => (sent["input"] as string[]).length)).toEqual([256, 256, 188, 256]);
    expect(answer.body.usage?.total_tokens).toBe(2100);
    expect(await services.harness.receipt(answer)).toMatchObject({
      usage: { input: 2100 },
      cost_nano_usd: 2100 * NANO_USD_PER_TOKEN,
    });
  });

  test("H14: the work of a failed offer is billed although another answers; vectors of two offers are not mixed", async () => {
    const input = texts(300);
    const refused = services.refuses(400, { message: "overloaded", code: "x" });
    services.play(services.embeds(0, 5), services.refuses(503), services.refuses(503), services.embeds(0, 2));
    const answer = await services.embedded({ model: "test/many-or-one", input });
    expect([answer.status, answer.body.usage?.total_tokens]).toEqual([200, 600]);
    expect(await services.harness.receipt(answer)).toMatchObject({
      provider: "one",
      usage: { input: 256 * 5 + 600 },
      usage_source: "partial",
      cost_nano_usd: (256 * 5 + 600) * NANO_USD_PER_TOKEN,
    });
    services.play(services.embeds(0, 5), refused);
    const failed = await services.embedded({ model: "test/many", input });
    expect(failed.status).toBe(400);
    expect(await services.harness.receipt(failed)).toMatchObject({ usage: { input: 256 * 5 } });
  });
});

describe("encodings", () => {
  test("base64 is requested if the host supports it, and converted to numbers only if the client requests them", async () => {
    const vector = Buffer.from(Float32Array.from([0.25, -1.5]).buffer).toString("base64");
    services.play(
      services.harness.upstream.json({ data: [{ index: 0, embedding: vector }], usage: { prompt_tokens: 1 } }),
    );
    const numbers = await services.embedded();
    expect([numbers.body.data?.[0]?.embedding, services.sent[0]?.["encoding_format"]]).toEqual([
      [0.25, -1.5],
      "base64",
    ]);
    const text = await services.embedded({ encoding_format: "base64" });
    expect(text.body.data?.[0]?.embedding).toBe(vector);
  });

  test("a host that supports only numbers serves clients that request base64", async () => {
    services.play(services.harness.upstream.json({ data: [{ index: 0, embedding: [0.25, -1.5] }] }));
    const { body } = await services.embedded({ model: "test/many", encoding_format: "base64" });
    const bytes = Buffer.from(String(body.data?.[0]?.embedding), "base64");
    expect([bytes.length, bytes.readFloatLE(0), bytes.readFloatLE(4)]).toEqual([8, 0.25, -1.5]);
  });
});

describe("missing or invalid values from a host", () => {
  test("missing usage is estimated and marked as such", async () => {
    for (const usage of [undefined, { prompt_tokens: 0, total_tokens: 0 }]) {
      services.play(services.harness.upstream.json({ data: [{ index: 0, embedding: [1] }], usage }));
      const answer = await services.embedded({ input: "eight characters of text" });
      expect(answer.body.usage?.total_tokens).toBe(6);
      expect(await services.harness.receipt(answer)).toMatchObject({ usage: { input: 6 }, usage_source: "estimated" });
    }
  });

  test.each([
    ["a vector too few", [{ index: 0, embedding: [1] }], "1 vectors for 2 inputs"],
    ["no vector", [{ index: 0, embedding: [1] }, { index: 1 }], "something other than a vector"],
    [
      "null among its numbers",
      [
        { index: 0, embedding: [1] },
        { index: 1, embedding: [1, null] },
      ],
      "something other than a vector",
    ],
    [
      "the same place twice",
      [
        { index: 1, embedding: [1] },
        { index: 1, embedding: [2] },
      ],
      "something other than a vector",
    ],
    [
      "a place far away",
      [
        { index: 0, embedding: [1] },
        { index: 4_000_000_000, embedding: [2] },
      ],
      "something other than a vector",
    ],
    [
      "a place beyond the end",
      [
        { index: 0, embedding: [1] },
        { index: 9, embedding: [2] },
      ],
      "something other than a vector",
    ],
    [
      "half a number in base64",
      [
        { index: 0, embedding: "AAAA" },
        { index: 1, embedding: "AAA=" },
      ],
      "something other than a vector",
    ],
  ])("%s is a failure of the provider, and paid", async (_, data, problem) => {
    services.play(services.harness.upstream.json({ data, usage: { prompt_tokens: 8 } }));
    const answer = await services.embedded({ input: ["a", "b"] });
    expect([answer.status, answer.body.error?.message]).toEqual([502, expect.stringContaining(problem)]);
    const { usage } = await services.harness.receipt(answer);
    expect(usage.input).toBe(16);
  });

  test("vectors of another size than requested are a failure, because they fit no index", async () => {
    services.play(services.embeds());
    const answer = await services.embedded({ dimensions: 3 });
    expect([answer.status, answer.body.error?.message]).toEqual([
      502,
      expect.stringContaining("vectors with 2 dimensions instead of 3"),
    ]);
  });

  test("a page of HTML with status 200 is a failure", async () => {
    services.play(services.harness.upstream.stream("<html>"));
    expect((await services.embedded()).status).toBe(502);
  });
});

test("S23: an answer counts against the memory of all calls while it is held", async () => {
  services.play(async (reply) => {
    reply.head(200);
    void reply.write(`{"data":[{"index":0,"embedding":[${"1,".repeat(500_000)}`);
    await services.harness.clock.sleep(1_000);
    void reply.write('1]}],"usage":{"prompt_tokens":1}}');
    reply.end();
  });
  const call = services.embed();
  await services.harness.clock.pass(500);
  expect(services.harness.gateway.memory.held).toBeGreaterThan(1_000_000);
  expect((await services.harness.clock.until(call.answer)).status).toBe(200);
});

test("a large answer is sent in chunks, and is the same JSON", async () => {
  services.play(async (reply) => {
    const data = Array.from({ length: 200 }, (_, index) => ({ index, embedding: Array(1000).fill(0.123) }));
    reply.head(200);
    void reply.write(JSON.stringify({ data, usage: { prompt_tokens: 200 } }));
    reply.end();
  });
  const { body, chunks } = await services.embedded({ input: texts(200) });
  expect(chunks.length).toBeGreaterThan(2);
  expect(body.data?.map(({ embedding }) => embedding.length)).toEqual(Array(200).fill(1000));
});

describe("H27: the usage that a host reports", () => {
  const LONG = "word".repeat(1_000);
  const told = (usage: object) => services.harness.upstream.json({ data: [{ index: 0, embedding: [1, 2] }], usage });

  test.each([0, 1, 3])("is not believed where %d tokens cannot have been such a text", async (tokens) => {
    services.play(told({ prompt_tokens: tokens, total_tokens: tokens }));
    const answer = await services.embedded({ input: LONG });
    expect(answer.body.usage).toEqual({ prompt_tokens: 1_000, total_tokens: 1_000 });
    expect(await services.harness.receipt(answer)).toMatchObject({
      usage: { input: 1_000 },
      usage_source: "estimated",
      cost_nano_usd: 1_000 * NANO_USD_PER_TOKEN,
    });
  });

  test("is believed where the host may have read only the beginning", async () => {
    services.play(told({ prompt_tokens: 256, total_tokens: 256 }));
    const answer = await services.embedded({ input: LONG.repeat(100) });
    expect(await services.harness.receipt(answer)).toMatchObject({ usage: { input: 256 }, usage_source: "measured" });
  });

  test("H23: a text that looks like an image is estimated as a text", async () => {
    const answer = await services.embedded(
      { input: `data:image/png;base64,${"QUJD".repeat(1_000)}` },
      { key: POOR_KEY },
    );
    expect(answer.status).toBe(402);
  });
});

describe("hostile: a host of embeddings that", () => {
  const floats = (...numbers: number[]) => Buffer.from(new Float32Array(numbers).buffer).toString("base64");
  const ANSWERS: Readonly<Record<string, string>> = {
    "sends fewer vectors": '{"data":[{"index":0,"embedding":[1,2]}]}',
    "sends more vectors": `{"data":[${Array.from({ length: 3 }, (_, index) => `{"index":${index},"embedding":[1,2]}`).join()}]}`,
    "gives one place twice": '{"data":[{"index":0,"embedding":[1,2]},{"index":0,"embedding":[3,4]}]}',
    "gives places that are not there": '{"data":[{"index":5,"embedding":[1,2]},{"index":-1,"embedding":[3,4]}]}',
    "sends vectors of two sizes": '{"data":[{"index":0,"embedding":[1,2]},{"index":1,"embedding":[3,4,5]}]}',
    "sends null for a number": '{"data":[{"index":0,"embedding":[1,null]},{"index":1,"embedding":[3,4]}]}',
    "sends numbers beyond all": '{"data":[{"index":0,"embedding":[1,1e999]},{"index":1,"embedding":[3,4]}]}',
    "sends NaN": '{"data":[{"index":0,"embedding":[1,NaN]},{"index":1,"embedding":[3,4]}]}',
    "sends NaN in base64": `{"data":[{"index":0,"embedding":"${floats(1, Number.NaN)}"},{"index":1,"embedding":"${floats(3, 4)}"}]}`,
    "sends infinity in base64": `{"data":[{"index":0,"embedding":"${floats(1, -1 / 0)}"},{"index":1,"embedding":"${floats(3, 4)}"}]}`,
    "sends half a number": '{"data":[{"index":0,"embedding":"AAAA"},{"index":1,"embedding":"AAAA"}]}',
    "sends empty vectors": '{"data":[{"index":0,"embedding":[]},{"index":1,"embedding":[]}]}',
    "sends no object": '["vectors"]',
    "sends nothing": "",
  };

  test.each(Object.keys(ANSWERS))("%s is a failure in the client's protocol", async (what) => {
    services.play((reply) => {
      reply.head(200);
      void reply.write(ANSWERS[what] ?? "");
      reply.end();
    });
    const answer = await services.embedded({ input: ["one", "two"] });
    expect(answer.status).toBe(502);
    expect(answer.body.error?.message).toBeString();
  });

  test("keeps another order is put right", async () => {
    services.play(
      services.harness.upstream.json(
        JSON.parse('{"data":[{"index":1,"embedding":[3,4]},{"index":0,"embedding":[1,2]}]}'),
      ),
    );
    const { body } = await services.embedded({ input: ["one", "two"] });
    expect(body.data?.map(({ embedding }) => embedding)).toEqual([
      [1, 2],
      [3, 4],
    ]);
  });
});
