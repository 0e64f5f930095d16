import { describe, expect, test } from "bun:test";
import { VirtualClock } from "../../../testing/virtual-clock.ts";
import { sampleReceipt } from "../../storage/receipts/receipt.sample.ts";
import { CallTrace, IdPool } from "../trace-context.ts";
import type { TracedCall } from "../tracing.ts";
import type { Post, PostAnswer } from "./delivery.ts";
import { OtlpExporter } from "./exporter.ts";

let made = 0;
const tracedCall = (): TracedCall => {
  const id = ++made;
  const random = {
    bytes: (length: number) => {
      const bytes = new Uint8Array(length).fill(1);
      new DataView(bytes.buffer).setUint32(0, id);
      return bytes;
    },
  };
  return {
    receipt: sampleReceipt({ id: `rcp_${id}` }),
    trace: new CallTrace(new IdPool(random), undefined),
    startedMs: 1_000,
    endedMs: 2_000,
    offsetMs: 0,
    requestId: "req_1",
    method: "POST",
    route: "/v1/chat/completions",
    status: 200,
    system: "openai",
    host: "127.0.0.1:8000",
  };
};

const TAKEN: PostAnswer = { status: 200, retryAfter: null, body: "{}" };

function start(post: Post) {
  const clock = new VirtualClock();
  const troubles: (string | undefined)[] = [];
  const exporter = new OtlpExporter({
    clock,
    post,
    resource: { attributes: [] },
    version: "1",
    tracesUrl: "http://collector/v1/traces",
    metricsEveryMs: 60_000,
    collect: () => [],
    onTrouble: (reason) => troubles.push(reason),
  });
  exporter.start();
  const dropped = () => exporter.family().samples[0]?.value;
  return { clock, exporter, troubles, dropped };
}

const spansIn = (body: string | Uint8Array) =>
  (JSON.parse(Buffer.from(body).toString()) as { resourceSpans: { scopeSpans: { spans: unknown[] }[] }[] })
    .resourceSpans[0]?.scopeSpans[0]?.spans.length ?? 0;

describe("telemetry never affects a call", () => {
  test("pending spans are sent every five seconds in one request", async () => {
    const bodies: (string | Uint8Array)[] = [];
    const { clock, exporter } = start(async ({ body }) => {
      bodies.push(body);
      return TAKEN;
    });
    exporter.add(tracedCall());
    exporter.add(tracedCall());
    await clock.pass(5_001);
    // The request and the call; no attempt was traced.
    expect(bodies.map(spansIn)).toEqual([4]);
  });

  test("a collector that is away: tried five times, then given up and counted; told once, and once when it is back", async () => {
    let away = true;
    let tries = 0;
    const { clock, exporter, troubles, dropped } = start(async () => {
      tries++;
      if (away) throw new Error("connection refused");
      return TAKEN;
    });
    exporter.add(tracedCall());
    await clock.pass(120_000);
    expect([tries, dropped()]).toEqual([5, 1]);
    exporter.add(tracedCall());
    await clock.pass(120_000);
    expect(troubles).toEqual(["traces: connection refused"]);
    away = false;
    exporter.add(tracedCall());
    await clock.pass(10_000);
    expect(troubles.at(-1)).toBeUndefined();
    expect(dropped()).toBe(2);
  });

  test("a collector that never answers: the queue is bounded, and the oldest go", async () => {
    const { clock, exporter, dropped } = start(() => new Promise(() => undefined));
    for (let at = 0; at < 5_000; at++) exporter.add(tracedCall());
    await clock.pass(60_000);
    // One request is on its way; of the others, full ones go until no more than 2,048 calls wait.
    expect(dropped()).toBe(5_000 - 256 - 7 * 256 - 136);
  });

  test("it waits as long as the collector asks for", async () => {
    const at: number[] = [];
    const { clock, exporter } = start(async () => {
      at.push(clock.nowMs());
      return at.length === 1 ? { status: 503, retryAfter: "20", body: "" } : TAKEN;
    });
    exporter.add(tracedCall());
    await clock.pass(60_000);
    expect((at[1] ?? 0) - (at[0] ?? 0)).toBe(20_000);
  });

  test.each([400, 401, 404, 301, 500])("status %d is not tried again", async (status) => {
    let tries = 0;
    const { clock, exporter, dropped } = start(async () => {
      tries++;
      return { status, retryAfter: null, body: "" };
    });
    exporter.add(tracedCall());
    await clock.pass(120_000);
    expect([tries, dropped()]).toEqual([1, 1]);
  });

  test("what a collector rejects of a request is counted; what is no answer of a collector is no harm", async () => {
    const answers = [
      '{"partialSuccess":{"rejectedSpans":"1","errorMessage":"too old"}}',
      "<html>",
      '{"partialSuccess":{"rejectedSpans":-3}}',
      '{"partialSuccess":{"rejectedSpans":1e300}}',
      "[]",
    ];
    const { clock, exporter, dropped, troubles } = start(async () => ({ ...TAKEN, body: answers.shift() ?? "" }));
    for (let at = 0; at < 5; at++) {
      exporter.add(tracedCall());
      await clock.pass(6_000);
    }
    expect(dropped()).toBe(1);
    expect(troubles[0]).toContain("too old");
  });

  test("H29: a stop sends what is left, and waits for two seconds at most", async () => {
    let sent = 0;
    const quick = start(async ({ body }) => {
      sent += spansIn(body);
      return TAKEN;
    });
    quick.exporter.add(tracedCall());
    await quick.clock.until(quick.exporter.stop());
    expect(sent).toBe(2);

    const hanging = start(() => new Promise(() => undefined));
    hanging.exporter.add(tracedCall());
    const beganMs = hanging.clock.nowMs();
    await hanging.clock.until(hanging.exporter.stop());
    expect(hanging.clock.nowMs() - beganMs).toBe(2_000);
  });

  test("a stop sends nothing where no start came before it: the gateway did not start", async () => {
    let posts = 0;
    const clock = new VirtualClock();
    const exporter = new OtlpExporter({
      clock,
      post: async () => {
        posts += 1;
        return TAKEN;
      },
      resource: { attributes: [] },
      version: "1",
      metricsUrl: "http://collector/v1/metrics",
      metricsEveryMs: 60_000,
      collect: () => [],
      onTrouble: () => {},
    });
    await clock.until(exporter.stop());
    expect(posts).toBe(0);
    exporter.start();
    await clock.until(exporter.stop());
    expect(posts).toBe(1);
  });
});
