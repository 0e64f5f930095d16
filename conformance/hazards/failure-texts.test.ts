import { Database } from "bun:sqlite";
import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import type { OfferTried } from "../../src/canon/receipt.ts";
import { DIALECTS } from "../../testing/build-call.ts";
import { scriptedModels } from "../../testing/scripted-models.ts";
import { callGateway, errorOf } from "../support/client-calls.ts";
import { scriptedHarness } from "../support/scripted-harness.ts";
import { sendJson } from "../support/scripted-upstream.ts";
import { freePort } from "../support/test-gateway.ts";

const closedPort = await freePort();
const { upstream, gateway } = await scriptedHarness((url) => {
  const config = scriptedModels(url) as { providers: object; models: { id: string; offers: object[] }[] };
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
          offers: [{ provider, model: "x" }],
        })),
      ],
    },
  };
});

/** What the ledger keeps of the offers that were tried, for operators. */
function keptOffers(response: Response): OfferTried[] {
  const database = new Database(join(gateway.folder, "data", "trivium.db"), { readonly: true });
  const id = response.headers.get("x-trivium-receipt");
  const row = database.query("select offers from receipts where id = ?").get(id) as { offers: string };
  database.close();
  return JSON.parse(row.offers) as OfferTried[];
}

/** Both lanes: each client's own dialect, and another's. */
const lanes = DIALECTS.flatMap((client) => DIALECTS.map((host) => [client, host] as const));

describe("S22: a provider's words reach clients without its internals, and operators as they were", () => {
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
      expect(offer?.failure).toMatchObject({ provider: `up-${host}`, status: 400, host: upstream.url.slice(7) });
      expect(offer?.failure?.said).toContain("llm-7.prod.internal:8443");
      expect(JSON.stringify(await gateway.receipt(response))).not.toContain("prod.internal");
    }
  });

  test("H10: sentences that agents act on stay to the letter", async () => {
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

  test("an error event inside a stream is cleaned too", async () => {
    const event = `event: error\ndata: ${JSON.stringify({ type: "error", error: { type: "invalid_request_error", message: words } })}\n\n`;
    upstream.play((_request, response) => {
      response.writeHead(200, { "content-type": "text/event-stream" }).end(event);
    });
    const response = await callGateway(gateway.url, "messages", gateway.key, { stream: true });
    expect((await errorOf(response)).message).toBe(cleaned);
  });
});

describe("decision 0008: a refused credential names the provider, the status and the cure", () => {
  test.each(lanes)("%s client, %s host", async (client, host) => {
    upstream.play((_request, response) => void sendJson(response, { error: { message: "bad key" } }, 401));
    const response = await callGateway(gateway.url, client, gateway.key, { model: `test/${host}` });
    const { status, message } = await errorOf(response);
    expect(status).toBe(502);
    expect(message).toBe(
      `Provider \`up-${host}\` rejected the gateway's API key (HTTP 401). Check \`providers.up-${host}.api_key\`. Your Trivium key is valid.`,
    );
    expect(keptOffers(response)[0]?.failure?.cure).toBe(`check providers.up-${host}.api_key`);
  });

  test("one that is refused with a plain 400 too, as recorded", async () => {
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
  ])("HTTP %d says what else may be wrong", async (status, words) => {
    upstream.play((_request, response) => void sendJson(response, { error: { message: "no" } }, status));
    expect((await errorOf(await callGateway(gateway.url, "chat", gateway.key))).message).toContain(words);
  });
});

describe("contract 7: a provider that cannot be reached is named; only operators see its host", () => {
  test.each([
    ["down", "ECONNREFUSED", "connection refused", `127.0.0.1:${closedPort}`],
    ["nowhere", "ENOTFOUND", "host name not found", "no-such-host.invalid"],
  ])("%s", async (provider, errno, words, host) => {
    for (const client of DIALECTS) {
      const response = await callGateway(gateway.url, client, gateway.key, { model: `test/${provider}` });
      const { status, message, raw } = await errorOf(response);
      expect([status, message]).toEqual([502, `Provider \`${provider}\` could not be reached (${words}).`]);
      expect(raw).not.toContain(host);
      expect(keptOffers(response)[0]?.failure).toMatchObject({ provider, host, errno });
      expect(keptOffers(response)[0]?.failure?.cure).toBeString();
    }
  });
});
