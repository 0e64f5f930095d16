import { expect, test } from "bun:test";
import { KeptTraces } from "../../../testing/kept-traces.ts";
import type { Script } from "../../../testing/memory-network.ts";
import { MemoryVideos, VIDEO_CONFIG } from "../../../testing/memory-videos.ts";
import { SpanTexts } from "../../telemetry/otlp/span-texts.ts";
import type { TracedCall } from "../../telemetry/tracing.ts";

const TRACE = "0af7651916cd43dd8448eb211c80319c";
const PARENT = "b7ad6b7169203331";
const headers = { traceparent: `00-${TRACE}-${PARENT}-01`, tracestate: "rojo=1" };

interface Span {
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  traceState?: string;
  name: string;
  startTimeUnixNano: string;
  endTimeUnixNano: string;
  attributes: { key: string; value: Record<string, unknown> }[];
  status: { code?: number; message?: string };
}

const spansOf = (call: TracedCall | undefined) =>
  call === undefined ? [] : (JSON.parse(`[${new SpanTexts().of(call)}]`) as Span[]);
const msBetween = (span: Span | undefined) =>
  Number(BigInt(span?.endTimeUnixNano ?? 0) - BigInt(span?.startTimeUnixNano ?? 0)) / 1e6;
const shown = (span: Span | undefined) =>
  Object.fromEntries((span?.attributes ?? []).map(({ key, value }) => [key, Object.values(value)[0]]));

const refuses: Script = (reply) => {
  reply.head(500);
  void reply.write(JSON.stringify({ error: { code: "InternalServiceError", message: "no" } }));
  reply.end();
};

test("observability 2: a video is its request, which ends with its answer, and the call, which ends with the video", async () => {
  const { calls, tracing } = new KeptTraces();
  const lines: string[] = [];
  const videos = await MemoryVideos.start({ tracing, onLog: (line) => lines.push(line) });
  const { submitted, receipt } = await videos.made({ headers });
  expect(calls).toHaveLength(1);
  const [server, call, attempt, ...others] = spansOf(calls[0]);
  expect(others).toEqual([]);
  expect(server).toMatchObject({ traceId: TRACE, parentSpanId: PARENT, traceState: "rojo=1", status: {} });
  expect(server?.name).toBe("POST /api/genai/v1/publishers/test/models/{model}:predictLongRunning");
  expect(call).toMatchObject({ traceId: TRACE, parentSpanId: server?.spanId, name: "video_generation test/video" });
  expect(attempt).toMatchObject({ traceId: TRACE, parentSpanId: call?.spanId, name: "POST" });
  expect([msBetween(server), msBetween(call), msBetween(attempt)]).toEqual([0, receipt.total_ms, 0]);
  expect(shown(call)).toMatchObject({
    "gen_ai.operation.name": "video_generation",
    "gen_ai.request.model": "test/video",
    "trivium.receipt.id": receipt.id,
    "trivium.usage.seconds": 4,
    "trivium.cost_usd": receipt.cost_nano_usd / 1e9,
  });
  await videos.clock.pass(1_000);
  const line = lines
    .flatMap((text) => text.split("\n").filter(Boolean))
    .map((text) => JSON.parse(text) as Record<string, unknown>)
    .find(({ msg }) => msg === "call");
  expect(line).toMatchObject({ trace_id: TRACE, span_id: server?.spanId });
  expect(line?.["request_id"]).toBe(submitted.headers.get("x-trivium-request-id"));
});

test("0057: a self-hosted provider gets trace headers with its submit, its polls and its download, from any process", async () => {
  const first = new KeptTraces();
  const { providers } = VIDEO_CONFIG;
  const config = { providers: { ...providers, one: { ...providers.one, trace_context: true } } };
  const before = await MemoryVideos.start({ tracing: first.tracing, polls: false, config });
  const { id } = await before.submit({ headers });
  const second = new KeptTraces();
  const { machine } = before.harness;
  const after = await MemoryVideos.start({ tracing: second.tracing, machine, host: before.host, config });
  await after.ended(id);
  const [, , attempt] = spansOf(second.calls[0]);
  const told = machine.upstream.requests.map(({ method, headers: { traceparent, tracestate } }) => ({
    method,
    traceparent,
    tracestate,
  }));
  const traceparent = `00-${TRACE}-${attempt?.spanId}-01`;
  expect(told.map(({ method }) => method).slice(0, 2)).toEqual(["POST", "GET"]);
  expect(machine.upstream.requests.at(-1)?.url).toEndWith("/video.mp4");
  for (const one of told) expect(one).toMatchObject({ traceparent, tracestate: "rojo=1" });
});

test("0057: a video vendor gets no trace headers", async () => {
  const videos = await MemoryVideos.start({ tracing: new KeptTraces().tracing });
  await videos.made({ headers });
  const told = videos.harness.upstream.requests.map(({ headers: { traceparent } }) => traceparent);
  expect(told.length).toBeGreaterThan(2);
  expect(new Set(told)).toEqual(new Set([undefined]));
});

test("observability 2: a video that another process ends has the spans of its request", async () => {
  const first = new KeptTraces();
  const before = await MemoryVideos.start({ tracing: first.tracing, polls: false });
  const { id } = await before.submit({ headers });
  const second = new KeptTraces();
  const { machine } = before.harness;
  const after = await MemoryVideos.start({ tracing: second.tracing, machine, host: before.host });
  await after.ended(id);
  expect(first.calls).toEqual([]);
  const [server, call] = spansOf(second.calls[0]);
  expect(server).toMatchObject({ traceId: TRACE, parentSpanId: PARENT, traceState: "rojo=1" });
  expect(msBetween(server)).toBe(0);
  expect(msBetween(call)).toBeGreaterThan(0);
});

test("a submit that no provider takes is a failed request with every attempt, though its parent is not kept", async () => {
  const { calls, tracing } = new KeptTraces();
  const videos = await MemoryVideos.start({ tracing });
  videos.harness.machine.upstream.play(refuses);
  const submitted = await videos.submit({ model: "test/two", headers: { traceparent: `00-${TRACE}-${PARENT}-00` } });
  expect(submitted.status).toBe(502);
  const [server, call, ...attempts] = spansOf(calls[0]);
  expect([server?.status.code, call?.status.code]).toEqual([2, 2]);
  expect(attempts.map(({ status }) => status.code)).toEqual(attempts.map(() => 2));
  expect(new Set(attempts.map((span) => shown(span)["trivium.provider"]))).toEqual(new Set(["one", "two"]));
});

test("a video that fails at its provider is a failed call, but its request succeeded", async () => {
  const { calls, tracing } = new KeptTraces();
  const videos = await MemoryVideos.start({ tracing, polls: false });
  const { id } = await videos.submit({ headers });
  videos.harness.machine.upstream.play(refuses);
  videos.harness.poller.start();
  expect((await videos.ended(id)).state).toBe("failed");
  const [server, call, attempt] = spansOf(calls[0]);
  expect([server?.status, call?.status.code, attempt?.status]).toEqual([{}, 2, {}]);
  expect(shown(server)["error.type"]).toBeUndefined();
});

test("of two concurrent submits with one Idempotency-Key one is rejected: it has its own span and no receipt", async () => {
  const { calls, refused, tracing } = new KeptTraces();
  const videos = await MemoryVideos.start({ tracing });
  const send = () => videos.send({ headers: { ...headers, "idempotency-key": "one" } });
  const [one, other] = [send(), send()];
  const answers = await videos.clock.until(Promise.all([one.answer, other.answer]));
  const [taken, turnedAway] = answers.toSorted((first, second) => first.status - second.status);
  expect([taken?.status, turnedAway?.status]).toEqual([200, 429]);
  expect(turnedAway?.headers.get("x-trivium-receipt")).toBeNull();
  expect(calls).toEqual([]);
  expect(refused.map(({ status, outcome, trace }) => [status, outcome, trace.traceId])).toEqual([
    [429, "rate_limited", TRACE],
  ]);
});
