import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import Anthropic from "@anthropic-ai/sdk";
import { GoogleGenAI } from "@google/genai";
import OpenAi from "openai";
import { type Simulator, startSimulator } from "../../simulator/simulator.ts";
import { withoutAbsent } from "../../src/base/without-absent.ts";
import type { ReceiptData } from "../../testing/receipt-data.ts";
import { startTestGateway, type TestGateway } from "../support/test-gateway.ts";

/** The names of providers that all serve the same model, by the same simulator. */
const PROVIDERS = ["one", "two", "three"];
const MODEL = "test/model";
/** It answers after three seconds. */
const SLOW_MODEL = "test/slow";

let simulator: Simulator;
let gateway: TestGateway;
beforeAll(async () => {
  simulator = await startSimulator({ tokenDelayMs: 0 });
  const settings = { kind: "simulator", base_url: simulator.url, api_key: "upstream-secret-of-the-suite" };
  const offered = (id: string, model: string) => ({
    id,
    pricings: {},
    offers: PROVIDERS.map((provider) => ({ provider, model })),
  });
  gateway = await startTestGateway({
    config: {
      providers: Object.fromEntries(PROVIDERS.map((name) => [name, settings])),
      models: [offered(MODEL, "standard"), offered(SLOW_MODEL, "slow-first-byte-3"), offered("test/other", "standard")],
    },
  });
});
afterAll(async () => {
  await gateway.stop();
  await simulator.stop();
});

/** What a caller adds to a request, in the ways that its package has for it. */
interface Additions {
  body?: Record<string, unknown>;
  headers?: Record<string, string>;
}

/** One way to call the gateway: the package of a vendor, streamed or not. Gives the receipt's id, or throws the package's own error. */
type Ask = (model: string, additions: Additions, stream: boolean) => Promise<string | null | undefined>;

const RECEIPT = "x-trivium-receipt";
const noRetries = { maxRetries: 0 };

const chat =
  (path: string): Ask =>
  async (model, { body = {}, headers = {} }, stream) => {
    const client = new OpenAi({ baseURL: gateway.url + path, apiKey: gateway.key, ...noRetries });
    const messages = [{ role: "user" as const, content: "Hello" }];
    const options = { headers };
    if (!stream) {
      const { response } = await client.chat.completions.create({ model, messages, ...body }, options).withResponse();
      return response.headers.get(RECEIPT);
    }
    const asked = { model, messages, stream: true as const, ...body };
    const { data, response } = await client.chat.completions.create(asked, options).withResponse();
    let text = "";
    for await (const chunk of data) text += chunk.choices[0]?.delta.content ?? "";
    expect(text).not.toBe("");
    return response.headers.get(RECEIPT);
  };

const messages =
  (path: string): Ask =>
  async (model, { body = {}, headers = {} }, stream) => {
    const client = new Anthropic({ baseURL: gateway.url + path, apiKey: gateway.key, ...noRetries });
    const asked = { model, max_tokens: 100, messages: [{ role: "user" as const, content: "Hello" }], ...body };
    if (!stream) return (await client.messages.create(asked, { headers }).withResponse()).response.headers.get(RECEIPT);
    const { data, response } = await client.messages.create({ ...asked, stream: true }, { headers }).withResponse();
    let last = "";
    for await (const event of data) last = event.type;
    expect(last).toBe("message_stop");
    return response.headers.get(RECEIPT);
  };

const genai =
  (setup: { vertexai: boolean; path: string; apiVersion?: string }): Ask =>
  async (model, { body = {}, headers = {} }, stream) => {
    const { vertexai, path, apiVersion } = setup;
    const httpOptions = withoutAbsent({ baseUrl: gateway.url + path, apiVersion });
    const client = new GoogleGenAI({ vertexai, apiKey: gateway.key, httpOptions });
    const asked = { model, contents: "Hello", config: { httpOptions: { headers, extraBody: body } } };
    if (!stream) return (await client.models.generateContent(asked)).sdkHttpResponse?.headers?.[RECEIPT];
    let receipt: string | undefined;
    for await (const chunk of await client.models.generateContentStream(asked)) {
      receipt = chunk.sdkHttpResponse?.headers?.[RECEIPT] ?? receipt;
    }
    return receipt;
  };

const CLIENTS: readonly [string, Ask][] = [
  ["openai at the contract door", chat("/api/v1")],
  ["openai at the drop-in door", chat("/v1")],
  ["anthropic at the contract door", messages("/api/msg")],
  ["anthropic at the drop-in door", messages("")],
  ["google in vertex mode at the contract door", genai({ vertexai: true, path: "/api/genai", apiVersion: "v1" })],
  ["google in api mode at the drop-in door", genai({ vertexai: false, path: "" })],
];

async function receiptOf(id: string | null | undefined): Promise<ReceiptData> {
  return await gateway.receipt(new Response(null, { headers: { [RECEIPT]: id ?? "" } }));
}

/** The same options in a package's way to add body fields, and in its way to add headers. */
const bothWays = (routing: object): [string, Additions][] => [
  ["in the body", { body: { ...routing } }],
  ["in a header", { headers: { "x-trivium-routing": JSON.stringify(routing) } }],
];

/** The package's error contains the gateway's message. */
async function messageOf(call: Promise<unknown>): Promise<string> {
  const thrown = await call.then(
    () => undefined,
    (error: unknown) => error,
  );
  if (!(thrown instanceof Error)) throw new Error("the call was not refused");
  return thrown.message;
}

describe.each(CLIENTS)("contract 2.12, choices 6, 8: %s", (_, ask) => {
  for (const stream of [false, true]) {
    const how = stream ? "streamed" : "whole";

    test(`${how}: providers restricts and orders, fallback false keeps to the first`, async () => {
      const provider = { type: "priority", providers: ["three", "one"], fallback: "false" };
      for (const [, additions] of bothWays({ provider })) {
        const receipt = await receiptOf(await ask(MODEL, additions, stream));
        expect(receipt).toMatchObject({ provider: "three", stream });
        expect(receipt.plan?.map(({ provider: name }) => name)).toEqual(["three"]);
        expect(receipt.fields).toEqual([]);
      }
    });

    test(`${how}: nested, with a synonym and a fallback provider`, async () => {
      const provider = { routing: { order: ["two"] }, fallback: "one" };
      for (const [, additions] of bothWays({ provider })) {
        const receipt = await receiptOf(await ask(MODEL, additions, stream));
        expect(receipt.plan?.map(({ provider: name }) => name)).toEqual(["two", "one"]);
      }
    });

    test(`${how}: round robin takes turns`, async () => {
      const seen: (string | undefined)[] = [];
      for (const [, additions] of bothWays({ provider: { type: "round_robin" } })) {
        for (let call = 0; call < 3; call++) {
          seen.push((await receiptOf(await ask("test/other", additions, stream))).provider);
        }
      }
      expect(new Set(seen.slice(0, 3))).toEqual(new Set(PROVIDERS));
      expect(new Set(seen.slice(3))).toEqual(new Set(PROVIDERS));
    });

    test(`${how}: a deadline ends the call with a timeout`, async () => {
      for (const additions of [
        { body: { trivium: { deadline_ms: 150 } } },
        { headers: { "x-trivium-deadline-ms": "150" } },
      ]) {
        expect(await messageOf(ask(SLOW_MODEL, additions, stream))).toMatch(/150 ms|deadline/);
      }
    });

    test(`${how}: survive and hedge are accepted, both ways`, async () => {
      for (const additions of [
        { body: { trivium: { survive: true, hedge: true } } },
        { headers: { "x-trivium-survive": "true", "x-trivium-hedge": "true" } },
      ]) {
        expect(await receiptOf(await ask(MODEL, additions, stream))).toMatchObject({ fields: [], continued: [] });
      }
    });

    test(`${how}: every field is read, and refused with its path if it is wrong`, async () => {
      const wrong: [string, object][] = [
        ["provider.type", { provider: { type: "x" } }],
        ["provider.primary_factor", { provider: { primary_factor: "x" } }],
        ["provider.providers[1]", { provider: { providers: ["one", "four"] } }],
        ["provider.fallback", { provider: { fallback: "four" } }],
        ["provider.fallback", { provider: { fallback: MODEL } }],
        ["provider.routing.type", { provider: { routing: { type: "x" } } }],
        ["model_routing_config.available_models", { model_routing_config: { available_models: [] } }],
        ["model_routing_config.available_models[0]", { model_routing_config: { available_models: ["test/modle"] } }],
        ["model_routing_config.preference", { model_routing_config: { preference: "x" } }],
        ["model_routing_config.task_info.task_type", { model_routing_config: { task_info: { task_type: "x" } } }],
        ["model_routing_config.task_info.complexity", { model_routing_config: { task_info: { complexity: "x" } } }],
      ];
      for (const [path, routing] of wrong) {
        for (const [, additions] of bothWays(routing)) {
          expect(await messageOf(ask(MODEL, additions, stream))).toContain(path);
        }
      }
      const options: [string, Additions][] = [
        ["trivium.survive", { body: { trivium: { survive: "x" } } }],
        ["trivium.hedge", { body: { trivium: { hedge: "x" } } }],
        ["trivium.deadline_ms", { body: { trivium: { deadline_ms: -1 } } }],
        ["trivium.retries", { body: { trivium: { retries: 1 } } }],
        ["x-trivium-routing", { headers: { "x-trivium-routing": "x" } }],
        ["x-trivium-survive", { headers: { "x-trivium-survive": "x" } }],
        ["x-trivium-hedge", { headers: { "x-trivium-hedge": "x" } }],
        ["x-trivium-deadline-ms", { headers: { "x-trivium-deadline-ms": "x" } }],
        ["provider", { ...bodyAndHeader({ type: "priority" }, { type: "round_robin" }) }],
      ];
      for (const [path, additions] of options) {
        expect(await messageOf(ask(MODEL, additions, stream))).toContain(path);
      }
    });
  }
});

const bodyAndHeader = (inBody: object, inHeader: object): Additions => ({
  body: { provider: inBody },
  headers: { "x-trivium-routing": JSON.stringify({ provider: inHeader }) },
});

test("choices 6: with nothing to choose from, a receipt has no plan", async () => {
  const ask = chat("/v1");
  expect((await receiptOf(await ask(`${MODEL}:two`, {}, false))).plan).toBeNull();
});
