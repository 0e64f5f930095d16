import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { StrictCollector } from "./support/strict-collector.ts";
import { startTestGateway, type TestGateway } from "./support/test-gateway.ts";

const TRACE = "0af7651916cd43dd8448eb211c80319c";
const SPAN = "b7ad6b7169203331";
const HEADER_SECRET = "secret-of-the-collector-0123456789";

const collector = new StrictCollector();
const lines: string[] = [];
/** What the operator's own host receives. */
const told: Headers[] = [];
const host = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  fetch: async (request) => {
    told.push(request.headers);
    const { model } = (await request.json()) as { model: string };
    if (model === "broken") return Response.json({ error: { message: "no" } }, { status: 500 });
    return Response.json({
      id: "1",
      object: "chat.completion",
      created: 1,
      model,
      choices: [{ index: 0, message: { role: "assistant", content: "hello" }, finish_reason: "stop" }],
      usage: { prompt_tokens: 10, completion_tokens: 3, total_tokens: 13, prompt_tokens_details: { cached_tokens: 4 } },
    });
  },
});

const model = (id: string, offers: object[]) => ({
  id,
  display_name: id,
  context_length: 100_000,
  max_output_tokens: 64,
  input_modalities: ["text"],
  output_modalities: ["text"],
  reasoning: false,
  pricings: { prompt: [{ value: 3, unit: "perMTokens", currency: "USD" }] },
  offers,
});

let gateway: TestGateway;
beforeAll(async () => {
  const address = `http://127.0.0.1:${host.port}/v1`;
  gateway = await startTestGateway({
    config: {
      simulator: true,
      providers: {
        own: { kind: "openai-compatible", base_url: address, api_key: "k" },
        other: { kind: "openai", base_url: address, api_key: "k" },
      },
      models: [
        model("acme/own", [{ provider: "own", model: "fine" }]),
        model("acme/other", [{ provider: "other", model: "fine" }]),
        model("acme/second", [
          { provider: "other", model: "broken" },
          { provider: "own", model: "fine" },
        ]),
      ],
      telemetry: {
        endpoint: collector.url,
        headers: { "x-collector-key": HEADER_SECRET },
        compression: "gzip",
        sample_ratio: 0,
        metrics_interval_seconds: 1,
        service_name: "gate",
        resource: { "deployment.environment.name": "test" },
      },
    },
    log: {
      level: "debug",
      format: "json",
      write: async (text) => void lines.push(...text.split("\n").filter(Boolean)),
    },
  });
});
afterAll(async () => {
  await gateway.stop();
  await collector.stop();
  await host.stop(true);
});

const chat = (body: object, headers: Record<string, string> = {}) =>
  fetch(`${gateway.url}/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${gateway.key}`, "content-type": "application/json", ...headers },
    body: JSON.stringify({ messages: [{ role: "user", content: "words of a prompt" }], ...body }),
  });
const sampled = { traceparent: `00-${TRACE}-${SPAN}-01`, tracestate: "rojo=1", baggage: "user=jo" };
const spansOf = (trace: string) => collector.spans.filter(({ traceId }) => traceId === trace);

describe("observability 1 to 3: traces over OTLP", () => {
  test("a call is part of its client's trace: the request, the call, its attempt", async () => {
    const answer = await chat({ model: "acme/own" }, sampled);
    expect(answer.status).toBe(200);
    await answer.text();
    await collector.until(() => spansOf(TRACE).length === 3);
    const [server, inference, attempt] = spansOf(TRACE);
    expect(server).toMatchObject({
      name: "POST /v1/chat/completions",
      kind: 2,
      parentSpanId: SPAN,
      traceState: "rojo=1",
    });
    expect(server?.attributes).toMatchObject({ "http.request.method": "POST", "http.route": "/v1/chat/completions" });
    expect(inference).toMatchObject({ name: "chat acme/own", kind: 3, parentSpanId: server?.spanId });
    expect(inference?.attributes).toMatchObject({
      "gen_ai.operation.name": "chat",
      "gen_ai.provider.name": "openai_compatible",
      "gen_ai.request.model": "acme/own",
      "gen_ai.response.model": "fine",
      "gen_ai.request.stream": false,
      "gen_ai.response.finish_reasons": ["stop"],
      // The convention's counts include cached tokens; ours are separate.
      "gen_ai.usage.input_tokens": 10,
      "gen_ai.usage.cache_read.input_tokens": 4,
      "gen_ai.usage.output_tokens": 3,
      "server.address": "127.0.0.1",
      "server.port": host.port,
      "trivium.receipt.id": answer.headers.get("x-trivium-receipt"),
      "trivium.outcome": "ok",
    });
    expect(attempt).toMatchObject({ kind: 3, parentSpanId: inference?.spanId });
    expect(
      (attempt?.startMs ?? 0) >= (inference?.startMs ?? 0) && (attempt?.endMs ?? 0) <= (inference?.endMs ?? 0),
    ).toBe(true);
    expect(collector.resource).toMatchObject({ "service.name": "gate", "deployment.environment.name": "test" });
    expect([...collector.schemaUrls]).toEqual(["https://opentelemetry.io/schemas/1.41.0"]);

    // The operator's own host receives the attempt's span; baggage is not forwarded.
    const headers = told.at(-1);
    expect(headers?.get("traceparent")).toBe(`00-${TRACE}-${attempt?.spanId}-01`);
    expect(headers?.get("tracestate")).toBe("rojo=1");
    expect(headers?.has("baggage")).toBe(false);
    // The log line has the ids of the request's span.
    const line = lines.map((text) => JSON.parse(text) as Record<string, unknown>).find(({ msg }) => msg === "call");
    expect(line).toMatchObject({ trace_id: TRACE, span_id: server?.spanId });
  });

  test("a vendor's host receives no trace", async () => {
    await (await chat({ model: "acme/other" }, sampled)).text();
    expect(told.at(-1)?.has("traceparent")).toBe(false);
    expect(told.at(-1)?.has("tracestate")).toBe(false);
  });

  test("a call that needed another offer is kept with every attempt, even if its parent is not", async () => {
    const trace = TRACE.replace("0a", "0b");
    await (await chat({ model: "acme/second" }, { traceparent: `00-${trace}-${SPAN}-00` })).text();
    await collector.until(() => spansOf(trace).length >= 4);
    const attempts = spansOf(trace).slice(2);
    expect(attempts[0]).toMatchObject({ status: { code: 2 } });
    expect(attempts[0]?.attributes).toMatchObject({
      "error.type": "upstream_failed",
      "http.response.status_code": 500,
    });
    expect(attempts.at(-1)?.attributes).toMatchObject({ "trivium.attempt.outcome": "answered" });
    expect(attempts.at(-1)?.attributes["http.request.resend_count"]).toBe(attempts.length - 1);
  });

  test("an ordinary call outside the ratio is not kept; a stream has its first content", async () => {
    const unkept = TRACE.replace("0a", "0c");
    await (await chat({ model: "acme/own" }, { traceparent: `00-${unkept}-${SPAN}-00` })).text();
    const streamed = TRACE.replace("0a", "0d");
    await (await chat({ model: "sim/standard", stream: true }, { traceparent: `00-${streamed}-${SPAN}-01` })).text();
    await collector.until(() => spansOf(streamed).length === 3);
    expect(spansOf(unkept)).toEqual([]);
    const inference = spansOf(streamed)[1];
    expect(inference?.events).toEqual(["first_content"]);
    expect(inference?.attributes["gen_ai.response.time_to_first_chunk"]).toBeNumber();
    expect(spansOf(streamed)[2]?.endMs).toBe(inference?.endMs ?? 0);
  });

  test("a video, which ends after its request, is part of its client's trace", async () => {
    const trace = TRACE.replace("0a", "0e");
    const submitted = await fetch(`${gateway.url}/api/genai/v1/publishers/sim/models/video:predictLongRunning`, {
      method: "POST",
      headers: {
        authorization: `Bearer ${gateway.key}`,
        "content-type": "application/json",
        traceparent: `00-${trace}-${SPAN}-01`,
      },
      body: JSON.stringify({
        instances: [{ prompt: "words of a prompt" }],
        parameters: { durationSeconds: 4, resolution: "480p" },
      }),
    });
    expect([submitted.status, await submitted.text()]).toEqual([200, expect.stringContaining("operations/")]);
    await collector.until(() => spansOf(trace).length === 3);
    const [server, call] = spansOf(trace);
    expect(server).toMatchObject({ kind: 2, parentSpanId: SPAN });
    expect(call).toMatchObject({ name: "video_generation sim/video", parentSpanId: server?.spanId });
    expect(call?.attributes["trivium.receipt.id"]).toBe(submitted.headers.get("x-trivium-receipt"));
    expect((server?.endMs ?? 0) < (call?.endMs ?? 0)).toBe(true);
  });

  test("a refused request is a span of its client's trace", async () => {
    const trace = TRACE.replace("0a", "0f");
    const answer = await chat({ model: "no/such" }, { traceparent: `00-${trace}-${SPAN}-01` });
    expect([answer.status, (await answer.text()).includes("no/such")]).toEqual([404, true]);
    await collector.until(() => spansOf(trace).length === 1);
    expect(spansOf(trace)[0]).toMatchObject({
      name: "POST /v1/chat/completions",
      kind: 2,
      parentSpanId: SPAN,
      status: {},
      attributes: { "http.response.status_code": 404, "error.type": "not_found" },
    });
  });

  test("metrics: those of the conventions, and our own", async () => {
    const countOf = (name: string) =>
      collector.metrics.find((metric) => metric.name === name)?.points.reduce((sum, { value }) => sum + value, 0);
    await collector.until(() => (countOf("trivium_calls_total") ?? 0) >= 5);
    expect(countOf("gen_ai.client.operation.duration")).toBe(countOf("trivium_calls_total"));
    const tokens = collector.metrics.find(({ name }) => name === "gen_ai.client.token.usage");
    expect(tokens?.unit).toBe("{token}");
    expect(tokens?.points.find(({ attributes }) => attributes["gen_ai.token.type"] === "input")?.sum).toBeGreaterThan(
      0,
    );
  });

  test("everything conforms; neither the export nor the log contains a prompt or a secret", () => {
    expect(collector.complaints).toEqual([]);
    expect(collector.headers.every((headers) => headers.get("x-collector-key") === HEADER_SECRET)).toBe(true);
    const said = JSON.stringify([collector.spans, collector.metrics, lines]);
    for (const secret of ["words of a prompt", gateway.key, HEADER_SECRET]) expect(said).not.toContain(secret);
  });
});
