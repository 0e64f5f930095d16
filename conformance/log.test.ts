import { afterAll, expect, test } from "bun:test";
import { startSimulator } from "../simulator/simulator.ts";
import { buildCall } from "../testing/build-call.ts";
import { eventually } from "../testing/eventually.ts";
import { SCRIPTED_DIALECTS } from "../testing/sampled-dialects.ts";
import { modelsOfEveryDialect } from "../testing/scripted-models.ts";
import { callGateway } from "./support/client-calls.ts";
import { scriptedHarness } from "./support/scripted-harness.ts";
import { sendJson } from "./support/scripted-upstream.ts";
import { TEST_ADMIN_SECRET } from "./support/test-gateway.ts";

type Line = Record<string, unknown> & { level: string; msg: string };

const MARKER = "tell-nobody-of-the-blue-elephant";
/** Nothing listens on it. */
const downPort = 1;
const simulator = await startSimulator({ mediaJobMs: 50 });
afterAll(() => simulator.stop());
let written = "";

const { gateway, upstream } = await scriptedHarness((url) => {
  const scripted = modelsOfEveryDialect(url) as { providers: object; models: { offers: object[] }[] };
  const [chat] = scripted.models;
  const down = { kind: "openai", base_url: `http://127.0.0.1:${downPort}/v1`, api_key: "upstream-secret-of-down" };
  return {
    config: {
      simulator: true,
      providers: {
        ...scripted.providers,
        down,
        studio: { kind: "openai", base_url: `${simulator.url}/openai/v1`, api_key: "upstream-secret-of-videos" },
      },
      models: [
        { id: "openai/sora-2", offers: [{ provider: "studio", model: "sora-2" }] },
        ...scripted.models,
        { ...chat, id: "test/down", offers: [{ provider: "down", model: "gone" }] },
        {
          ...chat,
          id: "test/second",
          offers: [
            { provider: "down", model: "gone" },
            { provider: "simulator", model: "standard" },
          ],
        },
      ],
    },
    timings: { mediaPollFactor: 0.02 },
    log: {
      level: "info",
      format: "json",
      write: async (text) => {
        written += text;
      },
    },
  };
});

const linesNow = () =>
  written
    .split("\n")
    .slice(0, -1)
    .map((line) => JSON.parse(line) as Line);

/** The log line of a call, by its receipt; a response may arrive before its line is written. */
const lineOf = (receipt: string | null): Promise<Line> =>
  eventually(`the line of ${receipt}`, () => {
    const found = linesNow().filter((line) => line["receipt"] === receipt);
    if (found.length > 1) throw new Error(`${found.length} lines of one call`);
    return found[0];
  });

const said = (text: string) => ({
  chat: { messages: [{ role: "user", content: text }] },
  messages: { messages: [{ role: "user", content: text }] },
  genai: { contents: [{ role: "user", parts: [{ text }] }] },
  responses: { input: text, instructions: text },
});

test.each(SCRIPTED_DIALECTS.flatMap((dialect) => [false, true].map((stream) => [dialect, stream] as const)))(
  "observability 5.5: a call in %s (stream: %p) leaves one line that agrees with its receipt",
  async (dialect, stream) => {
    const answer = await callGateway(gateway.url, dialect, gateway.key, {
      model: "sim/standard",
      stream,
      body: said(MARKER)[dialect],
    });
    expect(answer.status).toBe(200);
    await answer.text();
    const line = await lineOf(answer.headers.get("x-trivium-receipt"));
    const receipt = await gateway.receipt(answer);
    expect(line).toMatchObject({
      level: "info",
      msg: "call",
      request_id: answer.headers.get("x-trivium-request-id"),
      project: "default",
      key_id: "static:tests",
      verb: "generate",
      dialect,
      lane: "native",
      model: "sim/standard",
      provider: "simulator",
      host: expect.stringMatching(/^127\.0\.0\.1:\d+$/),
      stream,
      outcome: "ok",
      attempts: 1,
      input: receipt.usage["input"],
      output: receipt.usage["output"],
      cost_nano_usd: receipt.cost_nano_usd,
      total_ms: receipt.total_ms,
    });
    expect(line).not.toHaveProperty("failures");
  },
);

test("observability 5.5: the operator sees that a provider is down, even if another one answered", async () => {
  for (const [model, status, attempts] of [
    ["test/down", 502, 2],
    ["test/second", 200, 3],
  ] as const) {
    const answer = await callGateway(gateway.url, "chat", gateway.key, { model, body: said(MARKER).chat });
    expect(answer.status).toBe(status);
    const line = await lineOf(answer.headers.get("x-trivium-receipt"));
    expect(line).toMatchObject({ level: "warn", outcome: status === 200 ? "ok" : "upstream_failed", attempts });
    expect(line["failures"]).toEqual(
      Array.from({ length: 2 }, () => ({
        provider: "down",
        kind: "upstream_failed",
        host: `127.0.0.1:${downPort}`,
        errno: "ECONNREFUSED",
        cure: `check that 127.0.0.1:${downPort} is running and reachable from this machine`,
      })),
    );
  }
});

test("observability 5.5: a provider that rejects the gateway's key is logged as an operator error", async () => {
  upstream.play(
    (_request, response) => void sendJson(response, { error: { message: `bad key; you said ${MARKER}` } }, 401),
  );
  for (const stream of [false, true]) {
    const answer = await callGateway(gateway.url, "chat", gateway.key, { stream, body: said(MARKER).chat });
    expect(answer.status).toBe(502);
    const line = await lineOf(answer.headers.get("x-trivium-receipt"));
    expect(line).toMatchObject({
      level: "error",
      outcome: "upstream_credentials",
      provider: "up-chat",
      cost_nano_usd: 0,
    });
    expect(line["failures"]).toEqual([
      {
        provider: "up-chat",
        kind: "upstream_credentials",
        host: new URL(upstream.url).host,
        status: 401,
        cure: "check providers.up-chat.api_key",
      },
    ]);
  }
});

test("S10, observability 5.5: the log of a run contains no prompt, no response and no secret", async () => {
  const quoting = { error: { message: `upstream-secret-chat is not for "${MARKER}"`, type: "invalid_request_error" } };
  for (const status of [400, 401, 404, 429, 500]) {
    upstream.play((_request, response) => void sendJson(response, quoting, status));
    for (const dialect of ["chat", "responses"] as const) {
      for (const stream of [false, true]) {
        await (await callGateway(gateway.url, dialect, gateway.key, { stream, body: said(MARKER)[dialect] })).text();
      }
    }
  }
  upstream.play((_request, response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.end(`data: {"choices":[{"index":0,"delta":{"content":"${MARKER}"}}]}\n\ndata: ${MARKER} is no JSON\n\n`);
  });
  await (await callGateway(gateway.url, "chat", gateway.key, { stream: true, body: said(MARKER).chat })).text();
  // Stored content does not appear in any line either.
  const kept = await callGateway(gateway.url, "responses", gateway.key, {
    model: "sim/standard",
    body: said(MARKER).responses,
  });
  const { id } = (await kept.json()) as { id: string };
  const next = { ...said(MARKER).responses, previous_response_id: id };
  for (const previous_response_id of [id, `resp_${MARKER}`]) {
    const body = { ...next, previous_response_id };
    await (await callGateway(gateway.url, "responses", gateway.key, { model: "sim/standard", body })).text();
  }
  // Refused before admission: by the check, by the key, by the model's name.
  await callGateway(gateway.url, "chat", gateway.key, { body: { messages: MARKER } });
  await callGateway(gateway.url, "chat", `sk-${MARKER}`, { body: said(MARKER).chat });
  await callGateway(gateway.url, "chat", gateway.key, { model: `sim/${MARKER}`, body: said(MARKER).chat });
  const [url, init] = buildCall(gateway.url, "chat", gateway.key, { model: "sim/image" });
  const images = url.replace("/chat/completions", "/images/generations");
  const made = await fetch(images, { ...init, body: JSON.stringify({ model: "sim/image", prompt: MARKER }) });
  expect(made.status).toBe(200);
  expect(await lineOf(made.headers.get("x-trivium-receipt"))).toMatchObject({
    verb: "images",
    images: 1,
    outcome: "ok",
  });

  const path = `${gateway.url}/api/genai/v1/publishers/openai/models/sora-2:predictLongRunning`;
  const video = { instances: [{ prompt: MARKER }], parameters: { sampleCount: 1, durationSeconds: 4 } };
  const submitted = await fetch(path, { ...init, body: JSON.stringify(video) });
  expect(submitted.status).toBe(200);
  const line = await lineOf(submitted.headers.get("x-trivium-receipt"));
  expect(line).toMatchObject({ verb: "videos", outcome: "ok", seconds: expect.any(Number) });

  expect(linesNow().length).toBeGreaterThan(20);
  expect(linesNow().filter(({ level }) => level === "info").length).toBeGreaterThan(5);
  for (const secret of [MARKER, "elephant", gateway.key, TEST_ADMIN_SECRET, "upstream-secret", "Bearer"]) {
    expect(linesNow().filter((each) => JSON.stringify(each).includes(secret))).toEqual([]);
  }
});
