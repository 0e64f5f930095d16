import { describe, expect, test } from "bun:test";
import { Harness, type HarnessOptions } from "../../testing/harness.ts";
import { KeptTraces } from "../../testing/kept-traces.ts";
import { SpanTexts } from "../telemetry/otlp/span-texts.ts";

const TRACE = "0af7651916cd43dd8448eb211c80319c";
const PARENT = "b7ad6b7169203331";
const sampled = { traceparent: `00-${TRACE}-${PARENT}-01` };
const CHAT = "/v1/chat/completions";

async function traced(options: HarnessOptions & { ratio?: number } = {}) {
  const { ratio, ...rest } = options;
  const { tracing, calls, refused } = new KeptTraces(ratio);
  const harness = await Harness.start({ ...rest, tracing });
  const post = (path: string, body: object, headers: Record<string, string> = {}, key?: string) =>
    harness.clock.until(harness.sendPost(path, body, key, headers).answer);
  return { harness, post, calls, refused };
}

const PROMPT = { messages: [{ role: "user", content: "words of a prompt" }] };

describe("observability 2: a request that is refused before any provider is called", () => {
  test("is one span of its client's trace, with its status and the kind of its error", async () => {
    const { post, calls, refused } = await traced();
    const answer = await post(CHAT, { model: "no/such", ...PROMPT }, { ...sampled, tracestate: "rojo=1" });
    expect(answer.status).toBe(404);
    expect([calls.length, refused.length]).toEqual([0, 1]);
    const [request] = refused;
    if (request === undefined) throw new Error("one");
    const span = JSON.parse(new SpanTexts().ofRefused(request)) as Record<string, unknown>;
    expect(span).toMatchObject({
      traceId: TRACE,
      parentSpanId: PARENT,
      traceState: "rojo=1",
      name: `POST ${CHAT}`,
      kind: 2,
      // A client's mistake is not a failure of its server.
      status: {},
    });
    const attributes = span["attributes"] as { key: string; value: Record<string, unknown> }[];
    expect(Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]))).toEqual({
      "http.request.method": "POST",
      "http.route": CHAT,
      "http.response.status_code": "404",
      "error.type": "not_found",
      "trivium.outcome": "not_found",
      "trivium.request.id": answer.headers.get("x-trivium-request-id"),
    });
    expect(JSON.stringify(span)).not.toContain("words of a prompt");
  });

  test("has the ids of its span in its line of the log", async () => {
    const lines: string[] = [];
    const { harness, post, refused } = await traced({ onLog: (line) => lines.push(line) });
    await post(CHAT, { model: "no/such", ...PROMPT }, sampled);
    await harness.clock.pass(1_000);
    const line = lines
      .flatMap((text) => text.split("\n").filter(Boolean))
      .map((text) => JSON.parse(text) as Record<string, unknown>)
      .find(({ msg }) => msg === "refused");
    expect(line).toMatchObject({ trace_id: TRACE, span_id: refused[0]?.trace.spanId, status: 404 });
  });

  test("is sampled like ordinary calls: by its parent, else by the ratio", async () => {
    const { post, refused } = await traced();
    await post(CHAT, PROMPT);
    await post(CHAT, PROMPT, { traceparent: `00-${TRACE}-${PARENT}-00` });
    expect(refused).toEqual([]);
    const all = await traced({ ratio: 1 });
    await all.post(CHAT, PROMPT);
    expect(all.refused.map(({ status, outcome }) => [status, outcome])).toEqual([[400, "invalid_request"]]);
  });

  test("is always sampled if the gateway is at fault", async () => {
    const { harness, post, refused } = await traced();
    Object.defineProperty(harness.gateway.ledger, "refusal", { value: "its disk is full" });
    const answer = await post(CHAT, { model: "no/such", ...PROMPT });
    expect(refused.map(({ status }) => status)).toEqual([answer.status]);
    expect(answer.status).toBe(503);
  });

  test("S16: a stranger's requests make at most twenty spans a second, whatever they contain", async () => {
    const { harness, post, refused } = await traced();
    for (let sent = 0; sent < 50; sent++) await post(CHAT, PROMPT, sampled, "sk-trv-wrong");
    expect(refused.length).toBeLessThan(50);
    const seconds = new Map<number, number>();
    for (const { endedMs } of refused) {
      const second = Math.floor(endedMs / 1000);
      seconds.set(second, (seconds.get(second) ?? 0) + 1);
    }
    expect(Math.max(...seconds.values())).toBe(20);
    await harness.clock.pass(1_000);
    const before = refused.length;
    await post(CHAT, PROMPT, sampled, "sk-trv-wrong");
    expect(refused.length).toBe(before + 1);
  });

  test("has a name without anything that its sender chose", async () => {
    const { post, refused } = await traced();
    const paths = [
      "/api/genai/v1/publishers/v1/models/api:generateContent",
      "/api/genai/v1/projects/p%31/locations/l1/publishers/no/models/such:predictLongRunning",
      "/v1beta/models/%2e%2e%2fx:generateContent",
    ];
    for (const path of paths) await post(path, {}, sampled);
    expect(refused.map(({ route }) => route)).toEqual([
      "/api/genai/v1/publishers/{publisher}/models/{name}:{verb}",
      "/api/genai/v1/projects/{cloudProject}/locations/{location}/publishers/{publisher}/models/{name}:predictLongRunning",
      "/v1beta/models/{id}:{verb}",
    ]);
  });

  test("an unknown endpoint and open endpoints make none", async () => {
    const { post, refused } = await traced({ ratio: 1 });
    await post("/v1/no-such", {}, sampled);
    await post("/v1/skills", {}, sampled);
    expect(refused).toEqual([]);
  });
});
