import { expect, test } from "bun:test";
import type { Receipt } from "../../canon/receipt.ts";
import { sampleReceipt } from "../../storage/receipts/receipt.sample.ts";
import { CallTrace, IdPool } from "../trace-context.ts";
import type { TracedCall } from "../tracing.ts";
import { nanoseconds } from "./nanoseconds.ts";
import { SpanTexts } from "./span-texts.ts";

interface Span {
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  traceState?: string;
  name: string;
  kind: number;
  startTimeUnixNano: string;
  endTimeUnixNano: string;
  attributes: { key: string; value: Record<string, unknown> }[];
  status: { code?: number; message?: string };
}

const HOSTILE = '"},{"key":"x"\\\u2028\n\0é漢🙂</script>';
const ids = new IdPool({ bytes: (length) => crypto.getRandomValues(new Uint8Array(length)) });

function traced(changes: Partial<Receipt> = {}, others: Partial<TracedCall> = {}): TracedCall {
  const receipt = sampleReceipt({
    offers: [{ provider: "my-vllm", outcome: "answered", ms: 40 }],
    ...changes,
  });
  const trace = new CallTrace(ids, undefined);
  for (const _ of receipt.offers) trace.attemptEnded({ startedAtMs: 10.25 }, 50.5);
  const times = { startedMs: 1_700_000_000_000.125, endedMs: 1_700_000_000_131.5, offsetMs: 1_700_000_000_000 };
  const request = { requestId: "req_1", method: "POST", route: "/v1/chat/completions", status: 200 };
  return { receipt, trace, ...times, ...request, system: "openai", host: "127.0.0.1:8000", ...others };
}

const spansOf = (texts: SpanTexts, call: TracedCall) => JSON.parse(`[${texts.of(call)}]`) as Span[];
const shown = ({ attributes }: Span) =>
  Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]));

/** Each differs in one word of what spans show. */
const CALLS: readonly TracedCall[] = [
  traced(),
  ...Object.keys({
    project: 1,
    key: 1,
    model: 1,
    provider: 1,
    upstreamModel: 1,
    clientDialect: 1,
    upstreamDialect: 1,
  }).map((name) => traced({ [name]: `${HOSTILE}${name}` })),
  traced({ lane: "native" }),
  traced({ stream: false }),
  traced({ outcome: "upstream_failed" }),
  traced({ outcome: "invalid_request" }),
  traced({ stop: { unified: "stop", raw: HOSTILE } }),
  traced({ verb: "images" }),
  traced({}, { status: 502 }),
  traced({}, { status: undefined }),
  traced({}, { route: undefined }),
  traced({}, { route: HOSTILE }),
  traced({}, { method: "GET" }),
  traced({}, { host: "[::1]:90" }),
  traced({}, { host: "" }),
  traced({ outcome: "upstream_failed" }, { answeredMs: 1_700_000_000_100 }),
  traced({}, { system: HOSTILE }),
];

test("observability 1.2: the spans of calls in any order say what each call was, whatever its words are", () => {
  const texts = new SpanTexts();
  // Every call after every other one: the shared parts must not leak from one to the next.
  for (const before of CALLS) {
    for (const call of CALLS) {
      texts.of(before);
      const [server, inference, attempt] = spansOf(texts, call);
      const { receipt, trace } = call;
      if (server === undefined || inference === undefined || attempt === undefined) throw new Error("three spans");
      expect(server).toMatchObject({ traceId: trace.traceId, spanId: trace.spanId, kind: 2 });
      expect(inference).toMatchObject({ traceId: trace.traceId, parentSpanId: trace.spanId, kind: 3 });
      expect(attempt).toMatchObject({ traceId: trace.traceId, parentSpanId: inference.spanId, name: "POST" });
      expect(server.name).toBe(call.route === undefined ? call.method : `${call.method} ${call.route}`);
      expect(inference.name.endsWith(` ${receipt.model}`)).toBe(true);
      expect(shown(server)["http.route"]).toBe(call.route);
      const { status } = call;
      expect(shown(server)["http.response.status_code"]).toBe(status === undefined ? undefined : String(status));
      expect(shown(inference)).toMatchObject({
        "gen_ai.provider.name": call.system,
        "gen_ai.request.model": receipt.model,
        "gen_ai.response.model": receipt.upstreamModel,
        "gen_ai.request.stream": receipt.stream,
        "gen_ai.response.finish_reasons": { values: [{ stringValue: receipt.stop?.unified }] },
        "gen_ai.usage.input_tokens": "1200",
        "gen_ai.usage.output_tokens": "300",
        "trivium.receipt.id": receipt.id,
        "trivium.project": receipt.project,
        "trivium.key.id": receipt.key,
        "trivium.provider": receipt.provider,
        "trivium.lane": receipt.lane,
        "trivium.dialect": receipt.clientDialect,
        "trivium.upstream_dialect": receipt.upstreamDialect,
        "trivium.outcome": receipt.outcome,
        "trivium.cost_usd": 0.00042,
        "trivium.batch.id": "batch_1",
        "trivium.batch.line": "7",
        "trivium.batch.custom_id": "row 7",
        "trivium.fields": "1",
      });
      expect(shown(attempt)["trivium.provider"]).toBe("my-vllm");
      const isRequests = call.answeredMs === undefined;
      expect(server.status.code).toBe(receipt.outcome === "upstream_failed" && isRequests ? 2 : undefined);
      expect(server.endTimeUnixNano).toBe(nanoseconds(call.answeredMs ?? call.endedMs));
      expect(inference.status.message).toBe(receipt.outcome === "ok" ? undefined : receipt.outcome);
    }
  }
});

test("times have all their digits, and a stream's attempt lasts as long as its call", () => {
  const [server, inference, attempt] = spansOf(new SpanTexts(), traced());
  expect([server?.startTimeUnixNano, server?.endTimeUnixNano]).toEqual(["1700000000000125000", "1700000000131500000"]);
  expect([inference?.startTimeUnixNano, attempt?.startTimeUnixNano]).toEqual([
    "1700000000000125000",
    "1700000000010250000",
  ]);
  expect(attempt?.endTimeUnixNano).toBe("1700000000131500000");
  expect(nanoseconds(999.999999)).toBe("0999999999");
  expect(nanoseconds(1_000)).toBe("1000000000");
});

test("every attempt has its span: its provider, its credential, why it failed", () => {
  const call = traced({
    offers: [
      {
        provider: HOSTILE,
        outcome: "failed",
        reason: "rate_limited",
        ms: 1,
        failure: { host: "a.example", status: 429 },
      },
      { provider: "my-vllm", credential: "2", outcome: "answered", ms: 2 },
    ],
  });
  const [, , failed, answered] = spansOf(new SpanTexts(), call);
  if (failed === undefined || answered === undefined) throw new Error("two attempts");
  expect(shown(failed)).toEqual({
    "server.address": "a.example",
    "http.request.method": "POST",
    "http.response.status_code": "429",
    "error.type": "rate_limited",
    "trivium.provider": HOSTILE,
    "trivium.attempt.outcome": "failed",
  });
  expect(failed).toMatchObject({
    endTimeUnixNano: "1700000000050500000",
    status: { code: 2, message: "rate_limited" },
  });
  expect(shown(answered)).toMatchObject({
    "trivium.credential": "2",
    "http.request.resend_count": "1",
    "server.port": "8000",
  });
});

test("a trace of a client is continued, with what other systems carry along", () => {
  const parent = { traceId: "a".repeat(32), spanId: "b".repeat(16), sampled: true, state: 'v="1\\",w=2' };
  const [server, inference] = spansOf(new SpanTexts(), traced({}, { trace: new CallTrace(ids, parent) }));
  expect(server).toMatchObject({ traceId: parent.traceId, parentSpanId: parent.spanId, traceState: parent.state });
  expect(inference?.traceId).toBe(parent.traceId);
});

test("what is kept of calls that are alike keeps no attempt in memory, nor what hangs on it", async () => {
  const texts = new SpanTexts();
  const attempts = Array.from({ length: 100 }, (_, index) => {
    const call = traced({ model: `acme/model-${index}` });
    texts.of(call);
    return new WeakRef(call.trace.attempts[0]?.attempt ?? {});
  });
  await Bun.sleep(0);
  Bun.gc(true);
  // The collector may take a few words on the stack for references.
  expect(attempts.filter((attempt) => attempt.deref() !== undefined).length).toBeLessThan(10);
});

test("0095: the span of a call has every part of its time, and the parts add up to it", () => {
  const timing = {
    providerFirstContentMs: 60,
    providerStreamMs: 20,
    clientMs: 10,
    backoffMs: 5,
    queueMs: 4,
    gatewayMs: 32,
  };
  const spans = spansOf(new SpanTexts(), traced({ timing, totalMs: 131 }));
  const parts = spans.flatMap((span) =>
    Object.entries(shown(span)).filter(([name]) => name.startsWith("trivium.timing.")),
  );
  expect(parts.map(([name]) => name).sort()).toEqual([
    "trivium.timing.backoff_ms",
    "trivium.timing.client_ms",
    "trivium.timing.gateway_ms",
    "trivium.timing.provider_first_content_ms",
    "trivium.timing.provider_stream_ms",
    "trivium.timing.queue_ms",
  ]);
  expect(parts.reduce((sum, [, ms]) => sum + Number(ms), 0)).toBe(131);
});
