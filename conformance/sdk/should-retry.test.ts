import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import Anthropic from "@anthropic-ai/sdk";
import OpenAI, { toFile } from "openai";
import {
  failureOf,
  headerOf,
  type SimulatedGateway,
  startSimulatedGateway,
  WRONG_KEY,
  watchedFetch,
} from "./support.ts";

let harness: SimulatedGateway;
beforeAll(async () => {
  harness = await startSimulatedGateway();
});
afterAll(() => harness.stop());

const MESSAGES = [{ role: "user" as const, content: "Hello" }];

/** The vendors' clients with their default of two retries. */
function clients(apiKey: string) {
  const { fetch, answers } = watchedFetch();
  const { url } = harness.gateway;
  const openai = new OpenAI({ baseURL: `${url}/api/v1`, apiKey, fetch });
  const anthropic = new Anthropic({ baseURL: `${url}/api/msg`, apiKey, fetch });
  return { openai, anthropic, answers };
}

type Clients = ReturnType<typeof clients>;
const ask: Readonly<Record<string, (clients: Clients, model: string) => Promise<unknown>>> = {
  chat: ({ openai }, model) => openai.chat.completions.create({ model, messages: MESSAGES }),
  responses: ({ openai }, model) => openai.responses.create({ model, input: "Hello" }),
  embeddings: ({ openai }, model) => openai.embeddings.create({ model, input: "Hello" }),
  images: ({ openai }, model) => openai.images.generate({ model, prompt: "A cat" }),
  speech: ({ openai }, model) => openai.audio.speech.create({ model, input: "Hello", voice: "alloy" }),
  transcriptions: async ({ openai }, model) =>
    openai.audio.transcriptions.create({ model, file: await toFile(Buffer.from("RIFF"), "a.wav") }),
  messages: ({ anthropic }, model) => anthropic.messages.create({ model, max_tokens: 50, messages: MESSAGES }),
};

describe("sdks 4: x-should-retry tells the vendors' SDKs what a retry cannot fix", () => {
  test.each(Object.keys(ask))("%s: a wrong key and an unknown model are tried once", async (endpoint) => {
    for (const [key, model, status] of [
      [WRONG_KEY, "sim/standard", 401],
      [harness.gateway.key, "sim/no-such-model", 404],
    ] as const) {
      const made = clients(key);
      const failure = await failureOf(Promise.resolve(ask[endpoint]?.(made, model)));
      // The SDK probes its own `fetch` before it sends a file.
      expect(made.answers.map((answer) => answer.status).filter((seen) => seen !== 200)).toEqual([status]);
      expect(headerOf(failure, "x-should-retry")).toBe("false");
    }
  });

  test("what may succeed later is left to the SDK", async () => {
    const made = clients(harness.gateway.key);
    const failure = await failureOf(
      made.openai.chat.completions.create({ model: "openai/fail-503", messages: MESSAGES }),
    );
    expect(headerOf(failure, "x-should-retry")).toBeFalsy();
    expect(made.answers.map((answer) => answer.status)).toEqual([503, 503, 503]);
  });
});
