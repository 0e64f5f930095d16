import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import type { ServerResponse } from "node:http";
import { join } from "node:path";
import Anthropic from "@anthropic-ai/sdk";
import OpenAI from "openai";
import { Page } from "../scripts/markdown-page.ts";
import { BUILT_IN } from "../src/providers/index.ts";
import type { ProviderDeclaration } from "../src/providers/provider.ts";
import { type ScriptedUpstream, startScriptedUpstream } from "./support/scripted-upstream.ts";
import { startTestGateway, type TestGateway } from "./support/test-gateway.ts";

const root = new URL("..", import.meta.url).pathname;
const page = new Page("docs/adding-a-provider.md");
const MODEL = "acme/thinker-1";
const MESSAGES = [{ role: "user" as const, content: "How many roads?" }];

/** Step 2: the declaration of the page, loaded as if it were in src/providers. */
async function declarationShown(): Promise<ProviderDeclaration> {
  const code = page.one("ts").replaceAll('from "./', 'from "../../src/providers/');
  mkdirSync(join(root, "data"), { recursive: true });
  const folder = mkdtempSync(join(root, "data", "provider-"));
  try {
    writeFileSync(join(folder, "acme.ts"), code);
    return ((await import(join(folder, "acme.ts"))) as { acme: ProviderDeclaration }).acme;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

interface ConfigShown {
  providers: { acme: object };
  models: object[];
}

let host: ScriptedUpstream;
let gateway: TestGateway;
let openai: OpenAI;
let anthropic: Anthropic;
let acme: ProviderDeclaration;

beforeAll(async () => {
  acme = await declarationShown();
  host = await startScriptedUpstream();
  const { providers, models } = Bun.YAML.parse(page.one("yaml")) as ConfigShown;
  gateway = await startTestGateway({
    // Step 3.
    registry: { ...BUILT_IN, kinds: new Map([...BUILT_IN.kinds, [acme.kind, acme]]) },
    // Step 4, with the scripted host in place of the vendor's.
    environment: { ACME_API_KEY: "acme-secret-0123" },
    config: { providers: { acme: { ...providers.acme, base_url: `${host.url}/v1` } }, models },
  });
  openai = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: gateway.key, maxRetries: 0 });
  anthropic = new Anthropic({ baseURL: gateway.url, apiKey: gateway.key, maxRetries: 0 });
});
afterAll(async () => {
  await gateway.stop();
  await host.stop();
});

const USAGE = { prompt_tokens: 7, completion_tokens: 5, total_tokens: 12 };
const HEAD = { id: "acme-1", created: 1, model: "thinker-1" };

const sendJson = (response: ServerResponse, body: object, status = 200) =>
  void response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));

/** Acme's way to answer: reasoning in the text, and usage in every stream. */
const playAnswer = () =>
  host.play(({ body }, response) => {
    if (!(JSON.parse(body) as { stream?: boolean }).stream) {
      const message = { role: "assistant", content: "<ponder>Count them.</ponder>Three." };
      const choices = [{ index: 0, message, finish_reason: "stop" }];
      return sendJson(response, { ...HEAD, object: "chat.completion", choices, usage: USAGE });
    }
    response.writeHead(200, { "content-type": "text/event-stream" });
    const send = (choices: object[], more: object = {}) =>
      response.write(`data: ${JSON.stringify({ ...HEAD, object: "chat.completion.chunk", choices, ...more })}\n\n`);
    // Marks are split between chunks.
    for (const content of ["<pon", "der>Count ", "them.</pond", "er>Th", "ree."])
      send([{ index: 0, delta: { content }, finish_reason: null }]);
    send([{ index: 0, delta: {}, finish_reason: "stop" }]);
    send([], { usage: USAGE });
    response.end("data: [DONE]\n\n");
  });

const sent = () => ({
  path: host.seen[0]?.path,
  key: host.seen[0]?.headers["x-acme-key"],
  body: JSON.parse(host.seen[0]?.body ?? "{}") as Record<string, unknown>,
});

const RECEIPT = {
  model: MODEL,
  provider: "acme",
  dialect: { upstream: "chat" },
  usage: { input: 7, output: 5 },
  // 7 × $2/M + 5 × $8/M.
  cost_nano_usd: 54_000,
};

test("the table of docs/adding-a-provider.md explains every field of its declaration", () => {
  const fields = page.rowsUnder("field", "meaning").map(([field = ""]) => field);
  expect(fields).toEqual(Object.keys(acme));
});

describe("docs/adding-a-provider.md: a provider added by its steps", () => {
  test("answers the SDK of OpenAI, and is sent requests in its own format", async () => {
    playAnswer();
    const { data, response } = await openai.chat.completions
      .create({ model: MODEL, messages: MESSAGES, max_tokens: 50, seed: 4 })
      .withResponse();
    expect(data.choices[0]?.message).toMatchObject({ content: "Three.", reasoning_content: "Count them." });
    expect(sent()).toEqual({
      path: "/v1/models/thinker-1/chat",
      key: "acme-secret-0123",
      body: { model: "thinker-1", messages: MESSAGES, max_tokens: 50, transport: "document" },
    });
    expect(response.headers.get("x-trivium-dropped")).toBe("seed");
    expect(await gateway.receipt(response)).toMatchObject(RECEIPT);
  });

  test("answers the SDK of OpenAI, streamed", async () => {
    playAnswer();
    const { data, response } = await openai.chat.completions
      .create({ model: MODEL, messages: MESSAGES, stream: true })
      .withResponse();
    let text = "";
    let reasoning = "";
    for await (const chunk of data) {
      const delta = chunk.choices[0]?.delta as { content?: string; reasoning_content?: string } | undefined;
      text += delta?.content ?? "";
      reasoning += delta?.reasoning_content ?? "";
    }
    expect([text, reasoning]).toEqual(["Three.", "Count them."]);
    expect(sent().body).toEqual({ model: "thinker-1", messages: MESSAGES, stream: true, transport: "events" });
    expect(await gateway.receipt(response)).toMatchObject(RECEIPT);
  });

  test("answers the SDK of Anthropic", async () => {
    playAnswer();
    const { data, response } = await anthropic.messages
      .create({ model: MODEL, max_tokens: 50, messages: MESSAGES })
      .withResponse();
    expect(data.content).toMatchObject([
      { type: "thinking", thinking: "Count them." },
      { type: "text", text: "Three." },
    ]);
    expect(data.usage).toMatchObject({ input_tokens: 7, output_tokens: 5 });
    expect(sent().body).toEqual({ model: "thinker-1", messages: MESSAGES, max_tokens: 50, transport: "document" });
    expect(await gateway.receipt(response)).toMatchObject(RECEIPT);
  });

  test("answers the SDK of Anthropic, streamed", async () => {
    playAnswer();
    const stream = anthropic.messages.stream({ model: MODEL, max_tokens: 50, messages: MESSAGES });
    const message = await stream.finalMessage();
    expect(message.content).toMatchObject([
      { type: "thinking", thinking: "Count them." },
      { type: "text", text: "Three." },
    ]);
    expect(message.usage).toMatchObject({ input_tokens: 7, output_tokens: 5 });
    expect(sent().body).toMatchObject({ stream: true, transport: "events" });
    expect(sent().body).not.toHaveProperty("stream_options");
  });

  test("has its failures reported by both SDKs", async () => {
    host.play((_request, response) => sendJson(response, { error: { message: "Slow down." } }, 429));
    const chat = openai.chat.completions.create({ model: MODEL, messages: MESSAGES });
    expect(await chat.catch((error: unknown) => error)).toBeInstanceOf(OpenAI.RateLimitError);
    const messages = anthropic.messages.create({ model: MODEL, max_tokens: 50, messages: MESSAGES });
    expect(await messages.catch((error: unknown) => error)).toBeInstanceOf(Anthropic.RateLimitError);
  });
});
