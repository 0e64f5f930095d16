import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { DEFAULT_SECRET_ACCESS_KEY, type Simulator, startSimulator } from "../../simulator/simulator.ts";
import type { JsonObject } from "../base/json.ts";
import { Secret } from "../base/secret.ts";
import { system } from "../base/system.ts";
import type { CanonCall, Turn } from "../canon/call.ts";
import { GatewayError } from "../canon/error.ts";
import { fold } from "../canon/fold.ts";
import type { Part } from "../canon/part.ts";
import type { CanonReply } from "../canon/reply.ts";
import type { ModelTraits } from "../canon/traits.ts";
import { unwrapReply } from "../dialects/answer/unwrap-answer.ts";
import { converseCodec } from "../dialects/converse/codec.ts";
import { AwsEventSplitter } from "../wire/aws-event-stream.ts";
import { stringifyInOrder } from "../wire/ordered-json.ts";
import { readFrames } from "../wire/sse.ts";
import { createProvider } from "./index.ts";
import type { Provider } from "./provider.ts";

/** The declaration, the signature and the dialect together, against a simulated host as strict as the real one. */
let simulator: Simulator;
let provider: Provider;

beforeAll(async () => {
  simulator = await startSimulator({ tokenDelayMs: 0 });
  provider = createProvider(
    {
      name: "bedrock",
      kind: "bedrock",
      baseUrl: `${simulator.url}/bedrock`,
      region: "eu-west-1",
      accessKeyId: "AKID",
      secretAccessKey: new Secret(DEFAULT_SECRET_ACCESS_KEY),
      sessionToken: new Secret("a-session-token"),
    },
    system,
  );
});
afterAll(() => simulator.stop());

const user = (...parts: Part[]): Turn => ({ role: "user", parts, path: "turn" });
const text = (words: string): Part => ({ type: "text", text: words });
const ask = (words: string, more: Partial<CanonCall> = {}): CanonCall => ({
  dialect: "chat",
  fieldNames: {},
  system: [],
  turns: [user(text(words))],
  tools: [],
  paths: {},
  extras: [],
  ...more,
});

async function send(
  call: CanonCall,
  model: string,
  stream: boolean,
  traits: Partial<ModelTraits> = {},
): Promise<CanonReply> {
  const origin = provider.originOf(converseCodec, model);
  const quirks = provider.quirksOf("converse");
  const { body, reading } = converseCodec.encodeRequest(call, {
    upstreamModel: model,
    stream,
    traits: { reasoning: true, maxOutputTokens: 64_000, ...traits },
    quirks,
    origin,
  });
  const payload = stringifyInOrder(body);
  const { url, headers } = await provider.endpoint({
    dialect: "converse",
    verb: "generate",
    model,
    stream,
    options: undefined,
  });
  const signed = { ...headers, ...provider.sign({ url, headers, body: payload }) };
  const response = await fetch(url, { method: "POST", headers: signed, body: payload });
  const context = { origin, quirks, reading, makeId: () => "made" };
  if (response.status !== 200)
    throw converseCodec.decodeError({ status: response.status, body: await response.text() });
  if (!stream)
    return unwrapReply(converseCodec.decodeResponse((await response.json()) as JsonObject, context), reading);
  const splitter = new AwsEventSplitter();
  const decoder = converseCodec.createStreamDecoder(context);
  const events = [];
  for await (const piece of response.body ?? []) {
    for (const frame of readFrames(splitter.push(piece))) events.push(...decoder.push(frame));
  }
  for (const frame of readFrames(splitter.end())) events.push(...decoder.push(frame));
  return unwrapReply(fold([...events, ...decoder.end()]), reading);
}

/** The same answer both ways; usage may show the cache that the first one filled. */
async function both(call: CanonCall, model: string, traits: Partial<ModelTraits> = {}): Promise<CanonReply> {
  const whole = await send(call, model, false, traits);
  const streamed = await send(call, model, true, traits);
  expect(streamed.parts).toEqual(whole.parts);
  expect(streamed.stop).toEqual(whole.stop);
  expect(streamed.stopSequence).toBe(whole.stopSequence as string);
  return streamed;
}

const LOOK = {
  type: "function",
  name: "look",
  schema: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
  path: "tools[0]",
} as const;

describe.each(["us.anthropic.%-v1:0", "amazon.%-v1:0"])("requests that the host accepts: %s", (pattern) => {
  const model = (name: string) => pattern.replace("%", name);

  test("text, settings, stops and usage", async () => {
    const reply = await both(
      ask("Grüße 🚀", { system: [{ type: "text", text: "Be brief" }], temperature: 1.5, topP: 0.4, topK: 3, seed: 1 }),
      model("standard"),
    );
    expect(JSON.stringify(reply.parts)).toContain("Grüße 🚀");
    expect(reply.stop.unified).toBe("stop");
    expect(reply.usage?.output).toBeGreaterThan(3);
    const stopped = await both(ask("Hello", { stop: ["ello", "\n"] }), model("standard"));
    expect(stopped.stop.raw).toBe("stop_sequence");
    if (pattern.includes("anthropic")) expect(stopped.stopSequence).toBe("ello");
  });

  test("a tool loop, thoughts and their signatures included (H01, H03)", async () => {
    const question = user(text("call look in parallel for Oslo"));
    const reasoning = { amount: "low", path: "reasoning" } as const;
    const call = ask("", { turns: [question], tools: [LOOK], reasoning });
    const first = await both(call, model("strict-thinker"));
    const calls = first.parts.filter((part) => part.type === "tool-call");
    expect(calls.map(({ name, input }) => [name, JSON.parse(input) as unknown])).toEqual([
      ["look", { city: "Oslo" }],
      ["look", { city: "Oslo" }],
    ]);
    expect(first.parts[0]?.type).toBe("reasoning");
    expect(first.parts[0]?.signature?.origin).toBe(pattern.includes("anthropic") ? "messages" : undefined);
    const results = calls.map(
      ({ id }): Part => ({
        type: "tool-result",
        callId: id,
        content: [{ type: "text", text: "sunny" }],
        isError: false,
      }),
    );
    const turns: Turn[] = [question, { role: "assistant", parts: first.parts, path: "turn" }, user(...results)];
    const second = await both({ ...call, turns }, model("strict-thinker"));
    expect(JSON.stringify(second.parts)).toContain("sunny");
    // Without tools of its own the history still needs them; thoughts of another origin are left out, and thinking with them.
    const foreign = first.parts.map((part) =>
      part.type === "reasoning"
        ? { ...part, signature: { origin: "genai", kind: "signature", value: "x" } as const }
        : part,
    );
    const bare = [question, { ...turns[1], parts: foreign } as Turn, user(...results)];
    expect((await both({ ...call, turns: bare, tools: [] }, model("strict-thinker"))).stop.unified).toBe("stop");
  });

  test("redacted thoughts go back and are known again (H02)", async () => {
    const question = user(text("redact this"));
    const call = ask("", { turns: [question], reasoning: { amount: "low", path: "reasoning" } });
    const first = await both(call, model("thinker"));
    const kinds = first.parts.map((part) => part.signature?.kind);
    if (pattern.includes("anthropic")) expect(kinds).toContain("redacted");
    const turns = [question, { role: "assistant", parts: first.parts, path: "turn" } as Turn, user(text("and?"))];
    expect((await both({ ...call, turns }, model("thinker"))).stop.unified).toBe("stop");
  });

  test("documents, images and cache marks", async () => {
    const gif = "R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7";
    const media = (title: string): Part => ({
      type: "media",
      kind: "document",
      source: { type: "data", mimeType: "text/plain", data: btoa("words") },
      title,
      cache: { ttl: "1h" },
    });
    const image: Part = { type: "media", kind: "image", source: { type: "data", mimeType: "image/gif", data: gif } };
    const turns = [user(media("a_b.txt"), media("a_b.txt"), image)];
    const reply = await both(ask("", { turns, cache: {} }), model("standard"));
    expect(JSON.stringify(reply.parts)).toContain("image/gif");
    if (pattern.includes("anthropic")) expect(reply.usage?.cacheRead).toBeGreaterThan(1);
  });

  test("an answer by a schema, for which thinking is switched off", async () => {
    const schema = { type: "array", items: { type: "string" }, minItems: 1 };
    const call = ask("List words", { format: { type: "schema", schema }, reasoning: { amount: "high", path: "r" } });
    for (const structuredOutput of [false, true]) {
      const reply = await both(call, model("thinker"), { structuredOutput });
      const answer = reply.parts.find((part) => part.type === "text");
      expect(Array.isArray(JSON.parse(answer?.text ?? ""))).toBe(true);
      expect(reply.stop.unified).toBe("stop");
    }
  });
});

describe("faults of the host", () => {
  const failing = async (model: string, stream: boolean) => {
    try {
      await send(ask("Hello"), model, stream);
    } catch (error) {
      if (error instanceof GatewayError) return error.kind;
      return "broken";
    }
    return "answered";
  };

  test.each([
    ["fail-400", "invalid_request"],
    ["fail-401", "upstream_credentials"],
    ["fail-404", "not_found"],
    ["fail-429", "rate_limited"],
    ["fail-500", "upstream_failed"],
    ["fail-529", "overloaded"],
    ["nobody", "invalid_request"],
  ])("%s is %s", async (model, kind) => {
    expect(await failing(model, false)).toBe(kind);
    expect(await failing(model, true)).toBe(kind);
  });

  test.each([
    ["error-first-event", "rate_limited"],
    ["error-in-stream", "upstream_failed"],
    ["close-mid-stream", "upstream_failed"],
    ["garbage-in-stream", "upstream_failed"],
    ["cut-mid-event", "broken"],
    ["drip", "answered"],
    ["empty", "answered"],
    ["max-tokens", "answered"],
    ["no-usage", "answered"],
  ])("H16: a stream of %s: %s", async (model, outcome) => {
    expect(await failing(model, true)).toBe(outcome);
  });
});
