import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { Harness, UPSTREAM_URL } from "../../../testing/harness.ts";
import { scriptedModels } from "../../../testing/scripted-models.ts";
import { TEST_KEY } from "../../../testing/test-key.ts";

const KEY = "a-key-whose-bodies-are-kept";
const model = (id: string, output: string, upstream: string) => ({
  id,
  output_modalities: [output],
  offers: [{ provider: "up-chat", model: upstream }],
});
const config = {
  ...scriptedModels(UPSTREAM_URL),
  models: [
    model("test/vectors", "embeddings", "text-embedding-3-small"),
    model("test/moderator", "moderation", "omni-moderation-latest"),
    model("test/speaker", "audio", "tts-1"),
    model("test/old", "text", "gpt-3.5-turbo-instruct"),
  ],
  keys: [
    { name: "tests", key: TEST_KEY },
    { name: "captured", key: KEY, capture: true },
  ],
};

let harness: Harness;
beforeAll(async () => {
  harness = await Harness.start({ config });
});
afterAll(() => harness.storage.close());

async function bodiesOf(path: string, body: object, key = KEY) {
  const answer = await harness.clock.until(harness.sendPost(path, body, key).answer);
  expect([answer.status, answer.status === 200 ? "" : answer.text]).toEqual([200, ""]);
  await harness.clock.pass(6_000);
  await harness.clock.until(harness.gateway.captures.close());
  const found = await harness.gateway.captures.read(answer.headers.get("x-trivium-receipt") ?? "");
  const sent = String(harness.upstream.requests.at(-1)?.body);
  return { answer, bodies: found?.bodies, sent };
}

const part = (text: string, finish: string | null) =>
  `data: ${JSON.stringify({ id: "c", object: "text_completion", model: "m", choices: [{ index: 0, text, finish_reason: finish }] })}\n\n`;
const COMPLETION = {
  id: "c",
  object: "text_completion",
  choices: [{ index: 0, text: "Good day", finish_reason: "stop" }],
  usage: { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 },
};

describe("0064: bodies of services that answer with text or figures", () => {
  test.each([
    ["/v1/completions", { model: "test/old", prompt: "hello" }, COMPLETION],
    [
      "/v1/embeddings",
      { model: "test/vectors", input: "hello" },
      { data: [{ index: 0, embedding: [0.5, 1] }], usage: { prompt_tokens: 1, total_tokens: 1 } },
    ],
    ["/v1/moderations", { model: "test/moderator", input: "hello" }, { id: "m", results: [{ flagged: false }] }],
  ])("%s: all four, as they were sent", async (path, body, said) => {
    harness.upstream.play(harness.upstream.json(said));
    const { answer, bodies, sent } = await bodiesOf(path, body);
    expect(bodies?.client_request?.text).toBe(JSON.stringify(body));
    expect(bodies?.provider_request?.text).toBe(sent);
    expect(bodies?.provider_answer?.text).toBe(JSON.stringify(said));
    expect(bodies?.client_answer?.text).toBe(answer.text);
  });

  test("a streamed completion: the events of both sides", async () => {
    const said = `${part("Good ", null)}${part("day", "stop")}data: [DONE]\n\n`;
    harness.upstream.play(harness.upstream.stream(said));
    const { answer, bodies } = await bodiesOf("/v1/completions", { model: "test/old", prompt: "hello", stream: true });
    expect(bodies?.provider_answer?.text).toBe(said);
    expect(bodies?.client_answer?.text).toBe(answer.text);
  });

  test("of several requests for one call, the first", async () => {
    harness.upstream.play((reply, { body }) => {
      const { input } = JSON.parse(body) as { input: string[] };
      const data = input.map((_, index) => ({ index, embedding: [0.5, 1] }));
      reply.head(200);
      void reply.write(JSON.stringify({ data, usage: { prompt_tokens: 1, total_tokens: 1 } }));
      reply.end();
    });
    const before = harness.upstream.requests.length;
    const input = Array.from({ length: 1_000 }, () => "word ".repeat(500));
    const { bodies } = await bodiesOf("/v1/embeddings", { model: "test/vectors", input });
    expect(harness.upstream.requests.length - before).toBeGreaterThan(1);
    const first = harness.upstream.requests[before]?.body ?? "";
    expect(bodies?.provider_request).toMatchObject({ bytes: first.length, cut: true });
    expect(first).toStartWith(bodies?.provider_request?.text ?? "none");
    expect(() => JSON.parse(bodies?.provider_answer?.text ?? "")).not.toThrow();
  });

  test("another key's are not kept", async () => {
    harness.upstream.play(harness.upstream.json(COMPLETION));
    expect((await bodiesOf("/v1/completions", { model: "test/old", prompt: "x" }, TEST_KEY)).bodies).toBeUndefined();
  });
});
