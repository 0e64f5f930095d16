import { Database } from "bun:sqlite";
import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import type { OfferTried } from "../../src/canon/receipt.ts";
import { SCRIPTED_DIALECTS } from "../../testing/sampled-dialects.ts";
import { modelsOfEveryDialect, scriptedProvider } from "../../testing/scripted-models.ts";
import { wire } from "../../testing/upstream-wire.ts";
import { ResponsesScript } from "../../testing/wires/responses-wire.ts";
import { callGateway, errorOf } from "../support/client-calls.ts";
import { scriptedHarness } from "../support/scripted-harness.ts";
import { sendJson, startEvents } from "../support/scripted-upstream.ts";

/** Nothing listens on it. */
const closedPort = 1;
const { upstream, gateway } = await scriptedHarness((url) => {
  const config = modelsOfEveryDialect(url) as { providers: object; models: { id: string; offers: object[] }[] };
  const [model] = config.models;
  return {
    config: {
      providers: {
        ...config.providers,
        down: { kind: "openai-compatible", base_url: `http://127.0.0.1:${closedPort}/v1` },
        nowhere: { kind: "openai-compatible", base_url: "http://no-such-host.invalid/v1" },
      },
      models: [
        ...config.models,
        ...["down", "nowhere"].map((provider) => ({
          ...model,
          id: `test/${provider}`,
          pricings: {},
          offers: [{ provider, model: "x" }],
        })),
      ],
    },
  };
});

/** What the ledger stores about the attempted offers, for operators. */
function keptOffers(response: Response): OfferTried[] {
  const database = new Database(join(gateway.folder, "data", "trivium.db"), { readonly: true });
  const id = response.headers.get("x-trivium-receipt");
  const row = database.query("select offers from receipts where id = ?").get(id) as { offers: string };
  database.close();
  return JSON.parse(row.offers) as OfferTried[];
}

/** Both lanes: each client's own dialect, and another's. */
const lanes = SCRIPTED_DIALECTS.flatMap((client) => SCRIPTED_DIALECTS.map((host) => [client, host] as const));

describe("S22: a provider's error text reaches clients without its internals, and operators unchanged", () => {
  const words =
    "max_tokens must be at most 4096 (llm-7.prod.internal:8443, org-Ab12cd34Ef, request id 021753abc). See https://10.0.0.7/help.";
  const cleaned = "max_tokens must be at most 4096 ([host], [id], request id [id]). See [url].";
  test.each(lanes)("%s client, %s host", async (client, host) => {
    for (const stream of [false, true]) {
      upstream.play((_request, response) => void sendJson(response, { error: { message: words, code: 400 } }, 400));
      const response = await callGateway(gateway.url, client, gateway.key, { model: `test/${host}`, stream });
      const error = await errorOf(response);
      expect([error.status, error.message]).toEqual([400, cleaned]);
      expect(error.raw).not.toMatch(/prod\.internal|Ab12cd34Ef|021753abc|10\.0\.0\.7/);
      const [offer] = keptOffers(response);
      expect(offer?.failure).toMatchObject({
        provider: scriptedProvider(host),
        status: 400,
        host: upstream.url.slice(7),
      });
      expect(offer?.failure?.said).toContain("llm-7.prod.internal:8443");
      expect(JSON.stringify(await gateway.receipt(response))).not.toContain("prod.internal");
    }
  });

  test("a provider's 404 names the provider and the model as it was asked for there", async () => {
    upstream.play(
      (_request, response) => void sendJson(response, { error: { message: "no such model", code: 404 } }, 404),
    );
    for (const [client, host] of lanes) {
      const response = await callGateway(gateway.url, client, gateway.key, { model: `test/${host}` });
      const { status, message } = await errorOf(response);
      expect([status, message]).toEqual([
        404,
        expect.stringMatching(
          new RegExp(
            `^Provider \`${scriptedProvider(host)}\` answered 404 to a request for its model \`[^\`]+\`: no such model$`,
          ),
        ),
      ]);
    }
    // The gateway's own answer for a model that it does not know.
    const unknown = await callGateway(gateway.url, "chat", gateway.key, { model: "test/none" });
    expect((await errorOf(unknown)).message).not.toContain("Provider");
  });

  test("H10: sentences that agents act on are unchanged", async () => {
    for (const message of [
      "prompt is too long: 210000 tokens > 200000 maximum",
      "This model's maximum context length is 128000 tokens. However, your messages resulted in 130511 tokens.",
    ]) {
      upstream.play((_request, response) => void sendJson(response, { error: { message, code: 400 } }, 400));
      for (const [client, host] of lanes) {
        const response = await callGateway(gateway.url, client, gateway.key, { model: `test/${host}` });
        expect((await errorOf(response)).message).toBe(message);
      }
    }
  });

  const error = { type: "invalid_request_error", message: words };
  /** How a Responses host breaks a stream off. */
  const failures = [
    () => wire.event({ type: "error", error }),
    (script: ResponsesScript) =>
      script.event("failed", {
        response: { status: "failed", error: { code: "invalid_prompt", message: words }, output: [] },
      }),
  ];
  const begunAndFailed = (fail: (script: ResponsesScript) => string): string => {
    const script = new ResponsesScript();
    return script.begin() + fail(script);
  };
  test.each([
    ["messages", "messages", wire.event({ type: "error", error })],
    ...SCRIPTED_DIALECTS.flatMap((client) =>
      failures.map((fail) => [client, "responses", begunAndFailed(fail)] as const),
    ),
  ] as const)("%s client, %s host: an error event inside a stream is cleaned too", async (client, host, events) => {
    upstream.play((_request, response) => {
      startEvents(response);
      response.end(events);
    });
    const response = await callGateway(gateway.url, client, gateway.key, { model: `test/${host}`, stream: true });
    expect((await errorOf(response)).message).toBe(cleaned);
  });

  test.each([...SCRIPTED_DIALECTS])("%s client: also if a Responses host has sent content before", async (client) => {
    for (const fail of failures) {
      const begun = Promise.withResolvers<void>();
      upstream.play(async (_request, response) => {
        startEvents(response);
        const script = new ResponsesScript();
        response.write(script.begin() + script.delta("Hello"));
        await begun.promise;
        response.end(fail(script));
      });
      const response = await callGateway(gateway.url, client, gateway.key, { model: "test/responses", stream: true });
      begun.resolve();
      const text = await response.text();
      expect(response.status).toBe(200);
      expect(text).toContain("Hello");
      expect(text).toContain(cleaned);
      expect(text).not.toMatch(/prod\.internal|Ab12cd34Ef|021753abc|10\.0\.0\.7/);
      // R1
      if (client === "responses") expect(text).toMatch(/event: error\n.*\n\nevent: response\.failed\n.*\n\n$/);
    }
  });
});

describe("decision 0008: a refused credential names the provider, the status and the fix", () => {
  test.each(lanes)("%s client, %s host", async (client, host) => {
    upstream.play((_request, response) => void sendJson(response, { error: { message: "bad key" } }, 401));
    const response = await callGateway(gateway.url, client, gateway.key, { model: `test/${host}` });
    const { status, message } = await errorOf(response);
    const provider = scriptedProvider(host);
    expect(status).toBe(502);
    expect(message).toBe(
      `Provider \`${provider}\` rejected the gateway's API key (HTTP 401). Check \`providers.${provider}.api_key\`. Your Trivium key is valid.`,
    );
    expect(keptOffers(response)[0]?.failure?.cure).toBe(`check providers.${provider}.api_key`);
  });

  test("also one refused with a plain 400, as recorded", async () => {
    const body = {
      code: "invalid-argument",
      error: "Incorrect API key provided. You can obtain an API key from https://console.x.ai.",
    };
    upstream.play((_request, response) => void sendJson(response, body, 400));
    const { status, message } = await errorOf(await callGateway(gateway.url, "chat", gateway.key));
    expect([status, message.includes("rejected the gateway's API key (HTTP 400)")]).toEqual([502, true]);
  });

  test.each([
    [402, "has no credit or quota left (HTTP 402)"],
    [403, "denied the gateway's account access (HTTP 403)"],
  ])("HTTP %d lists other possible causes", async (status, words) => {
    upstream.play((_request, response) => void sendJson(response, { error: { message: "no" } }, status));
    expect((await errorOf(await callGateway(gateway.url, "chat", gateway.key))).message).toContain(words);
  });
});

describe("contract 7: an unreachable provider is named; only operators see its host", () => {
  test.each([
    ["down", "ECONNREFUSED", "connection refused", `127.0.0.1:${closedPort}`],
    ["nowhere", "ENOTFOUND", "host name not found", "no-such-host.invalid"],
  ])("%s", async (provider, errno, words, host) => {
    for (const client of SCRIPTED_DIALECTS) {
      const response = await callGateway(gateway.url, client, gateway.key, { model: `test/${provider}` });
      const { status, message, raw } = await errorOf(response);
      expect([status, message]).toEqual([502, `Provider \`${provider}\` could not be reached (${words}).`]);
      expect(raw).not.toContain(host);
      expect(keptOffers(response)[0]?.failure).toMatchObject({ provider, host, errno });
      expect(keptOffers(response)[0]?.failure?.cure).toBeString();
    }
  });
});
