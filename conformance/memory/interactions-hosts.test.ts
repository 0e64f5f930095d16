import { beforeAll, describe, expect, test } from "bun:test";
import { type JsonObject, objectAt, parseObject, stringAt } from "../../src/base/json.ts";
import { DIALECT_NAMES } from "../../src/canon/dialect-name.ts";
import { readFrames } from "../../src/wire/sse.ts";
import { Harness, UPSTREAM_URL } from "../../testing/harness.ts";
import { plainAnswer, plainStream, plainUsage } from "../../testing/plain-answer.ts";
import { countsOf, reportedUsage } from "../../testing/reported-usage.ts";
import { modelsOfEveryDialect } from "../../testing/scripted-models.ts";
import {
  interactionsAnswer,
  interactionsEvent,
  interactionsUsage,
  outputStep,
  interactionsWire as wire,
} from "../../testing/wires/interactions-wire.ts";
import { continuingHost } from "../support/continuing-host.ts";
import { answerProblem } from "../support/well-formed.ts";

/** Interactions between every client and every host: responses, usage, errors and endings. */

const MODEL = "test/interactions";
const WORDS = ["The Seine rises ", "in Burgundy."] as const;
const TEXT = WORDS.join("");
const NOTHING_LEFT = { runningCalls: 0, orphanedTexts: 0, orphanedImages: 0, heldBytes: 0, openUpstreams: 0 };
const COST = 10 * 1_000 + 5 * 2_000;

let harness: Harness;
beforeAll(async () => {
  harness = await Harness.start({
    config: {
      ...modelsOfEveryDialect(UPSTREAM_URL, { first_byte: 20_000, idle: 3_000 }),
      routing: { sticky: "off", breaker: { failures: 100_000, window_ms: 1 } },
    },
  });
});

type Options = NonNullable<Parameters<Harness["call"]>[1]>;

async function call(client: (typeof DIALECT_NAMES)[number], options: Options, body: string | object) {
  const { upstream } = harness;
  upstream.play(typeof body === "string" ? upstream.stream(body) : upstream.json(body));
  const answer = await harness.call(client, options);
  await harness.clock.pass(10_000);
  expect(harness.leftovers()).toEqual(NOTHING_LEFT);
  return answer;
}

const sentBody = (): JsonObject => parseObject(String(harness.upstream.requests.at(-1)?.body ?? "")) ?? {};

describe.each(DIALECT_NAMES)("a %s client", (client) => {
  test("gets the response, the usage and the price of an Interactions host, streamed or not", async () => {
    const usage = interactionsUsage(10, 5);
    for (const stream of [false, true]) {
      const body = stream
        ? plainStream("interactions", WORDS, usage)
        : plainAnswer("interactions", { text: TEXT, usage });
      const asked = client === "chat" && stream ? { body: { stream_options: { include_usage: true } } } : {};
      const answer = await call(client, { model: MODEL, stream, ...asked }, body);
      expect(answerProblem(client, stream, answer.text)).toBeUndefined();
      expect(countsOf(reportedUsage(client, answer, stream))).toMatchObject({ prompt: 10, completion: 5 });
      expect(await harness.receipt(answer)).toMatchObject({
        dialect: { client, upstream: "interactions" },
        lane: client === "interactions" ? "native" : "translated",
        usage: { input: 10, output: 5 },
        cost_nano_usd: COST,
      });
      expect(sentBody()).toMatchObject({ model: "gemini-3-upstream-model", store: false });
    }
  });

  test.each(["failed", "cancelled"])("gets an error for an interaction that is %s", async (status) => {
    const usage = interactionsUsage(10, 5);
    const whole = await call(client, { model: MODEL }, interactionsAnswer([], { usage, status }));
    expect(whole.status).toBe(502);
    const stream = wire.begin() + wire.text(0, ...WORDS) + wire.completed({ usage, status });
    const answer = await call(client, { model: MODEL, stream: true }, stream);
    expect(answer.text).toMatch(/error/);
    expect(await harness.receipt(answer)).toMatchObject({ usage: { input: 10, output: 5 } });
  });

  test("gets an error for a stream without its end", async () => {
    const answer = await call(client, { model: MODEL, stream: true }, wire.begin() + wire.text(0, ...WORDS));
    expect(answer.text).toMatch(/error/);
    const failing =
      wire.begin() +
      wire.text(0, ...WORDS) +
      interactionsEvent("error", { error: { code: "unavailable", message: "no" } });
    expect((await call(client, { model: MODEL, stream: true }, failing)).text).toMatch(/error/);
  });

  test("H33: searches are billed once for each query, and other hosted tools by name", async () => {
    const steps = [
      { type: "google_search_call", id: "s1", arguments: { queries: ["one", "two", ""] } },
      { type: "google_search_result", call_id: "s1", result: [] },
      { type: "google_maps_call", id: "m1", arguments: { queries: ["here"] } },
      { type: "google_maps_result", call_id: "m1", result: [] },
    ];
    const usage = { ...interactionsUsage(10, 5), grounding_tool_count: [{ type: "google_maps", count: 3 }] };
    const streamed =
      wire.begin() +
      steps.map((step, index) => wire.start(index, step) + wire.stop(index)).join("") +
      wire.text(4, ...WORDS) +
      wire.completed({ usage });
    for (const body of [streamed, interactionsAnswer([...steps, outputStep(TEXT)], { usage })]) {
      const answer = await call(client, { model: MODEL, stream: typeof body === "string" }, body);
      expect(await harness.receipt(answer)).toMatchObject({ usage: { searches: 2, tools: { google_maps: 3 } } });
    }
  });

  test("decision 0085: an unknown counter is marked, never free", async () => {
    const usage = { ...interactionsUsage(10, 5), total_dream_tokens: 7 };
    const answer = await call(client, { model: MODEL }, plainAnswer("interactions", { text: TEXT, usage }));
    expect(JSON.stringify(await harness.receipt(answer))).toContain("usage.total_dream_tokens");
  });
});

describe.each(DIALECT_NAMES)("an Interactions client of a %s host", (host) => {
  test("gets steps and usage, streamed or not", async () => {
    const usage = plainUsage(host, 10, 5);
    for (const stream of [false, true]) {
      const body = stream ? plainStream(host, WORDS, usage) : plainAnswer(host, { text: TEXT, usage });
      const answer = await call("interactions", { model: `test/${host}`, stream }, body);
      expect(answerProblem("interactions", stream, answer.text)).toBeUndefined();
      expect(countsOf(reportedUsage("interactions", answer, stream))).toMatchObject({ prompt: 10, completion: 5 });
      expect(await harness.receipt(answer)).toMatchObject({
        dialect: { client: "interactions", upstream: host },
        cost_nano_usd: COST,
      });
    }
  });
});

describe("the native lane", () => {
  test("steps pass unchanged; id, model and status are the gateway's", async () => {
    const step = { type: "code_execution_call", id: "c1", arguments: { code: "1+1" }, signature: "c2ln" };
    const usage = interactionsUsage(10, 5);
    const body = {
      ...interactionsAnswer([step, outputStep(TEXT)], { usage, status: "requires_continuation" }),
      continuation_token: "token",
    };
    const answer = parseObject((await call("interactions", { model: MODEL }, body)).text) ?? {};
    expect(answer).toMatchObject({ model: MODEL, status: "incomplete", steps: [step, outputStep(TEXT)] });
    expect(answer["id"]).toMatch(/^v1_/);
    expect(answer).not.toHaveProperty("continuation_token");
  });

  test("the output limit is lowered to the model's, and the gateway's own fields are removed", async () => {
    const body = {
      generation_config: { max_output_tokens: 1_000_000, top_p: 0.5 },
      trivium: { deadline_ms: 60_000 },
      labels: { a: "b" },
    };
    await call(
      "interactions",
      { model: MODEL, body },
      plainAnswer("interactions", { text: TEXT, usage: interactionsUsage(1, 1) }),
    );
    expect(sentBody()).toEqual({
      model: "gemini-3-upstream-model",
      store: false,
      stream: false,
      input: "hello",
      generation_config: { max_output_tokens: 8192, top_p: 0.5 },
      labels: { a: "b" },
    });
  });

  test("choices 11: a hosted tool without a known price is refused, with its path", async () => {
    const body = { tools: [{ type: "retrieval", retrieval_types: ["exa_ai_search"] }] };
    const answer = await harness.call("interactions", { model: MODEL, body });
    expect(answer.status).toBe(400);
    expect(answer.text).toContain("tools[0].type");
  });
});

describe("decision 0037: a stream that breaks off is continued at another offer", () => {
  const OFFERS = [
    { provider: "up-genai", model: "gemini-3-upstream-model", dialect: "interactions", prefill: false },
    { provider: "up-chat", model: "upstream-model", prefill: true },
  ];
  let surviving: Harness;
  beforeAll(async () => {
    const scripted = modelsOfEveryDialect(UPSTREAM_URL, { first_byte: 20_000, idle: 3_000 });
    const [model] = scripted["models"] as object[];
    surviving = await Harness.start({
      config: { ...scripted, models: [{ ...model, id: "test/two", offers: OFFERS }], routing: { survive: true } },
    });
  });

  const EMPTY_THOUGHT = wire.start(0, { type: "thought" }) + wire.stop(0);
  test.each([
    ["inside its step", wire.start(1, { type: "model_output" }) + wire.delta(1, { type: "text", text: WORDS[0] })],
    ["after its step", wire.text(1, WORDS[0])],
  ])("broken %s, with numbers that the client can follow", async (_name, begun) => {
    const goesOn = continuingHost("chat", TEXT, "honest");
    surviving.upstream.play(async (reply, request) => {
      if (request.url.includes("chat/completions")) return goesOn(reply, request);
      reply.head(200, { "content-type": "text/event-stream" });
      await reply.write(wire.begin() + EMPTY_THOUGHT + begun);
      reply.fail("broken");
    });
    const { text } = await surviving.call("interactions", { model: "test/two", stream: true });
    expect(answerProblem("interactions", true, text)).toBeUndefined();
    const said = readFrames(text).flatMap(({ data }) => {
      const event = parseObject(data ?? "");
      return stringAt(objectAt(event, "delta"), "text") ?? [];
    });
    expect(said.join("")).toBe(TEXT);
  });
});
