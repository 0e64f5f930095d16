import { describe, expect, test } from "bun:test";
import { Harness, UPSTREAM_URL } from "../../testing/harness.ts";
import { KeptTraces } from "../../testing/kept-traces.ts";
import { plainAnswer, plainStream, plainUsage } from "../../testing/plain-answer.ts";
import { SCRIPTED_DIALECTS } from "../../testing/sampled-dialects.ts";
import { modelsOfEveryDialect } from "../../testing/scripted-models.ts";

const CONFIG = modelsOfEveryDialect(UPSTREAM_URL, { first_byte: 60_000, idle: 60_000 });

describe("observability 2: the span of a call's request has the status of its response", () => {
  test.each(SCRIPTED_DIALECTS)("%s: answered, refused and failed, streamed or not", async (dialect) => {
    const { tracing, calls } = new KeptTraces(1);
    const harness = await Harness.start({ config: CONFIG, tracing });
    const { upstream } = harness;
    const usage = plainUsage(dialect, 10, 5);
    const stream = plainStream(dialect, ["Hel", "lo"], usage);
    const frames = stream.split(/(?<=\n\n)/);
    const begun = frames.slice(0, frames.findIndex((frame) => frame.includes("Hel")) + 1).join("");
    const scripts = [
      [false, upstream.json(plainAnswer(dialect, { text: "Hello", usage }))],
      [true, upstream.stream(stream)],
      [false, upstream.json({ error: { message: "no" } }, 400)],
      [true, upstream.json({ error: { message: "busy" } }, 503)],
      [true, upstream.brokenStream(begun, 10)],
    ] as const;
    for (const [streamed, script] of scripts) {
      upstream.play(script);
      const answer = await harness.call(dialect, { stream: streamed });
      const { receipt, status } = calls.at(-1) ?? {};
      expect([receipt?.id, status]).toEqual([answer.headers.get("x-trivium-receipt") ?? "", answer.status]);
    }
    expect(new Set(calls.map(({ status }) => status)).size).toBe(3);
  });

  test("a disconnected client got none", async () => {
    const { tracing, calls } = new KeptTraces(1);
    const harness = await Harness.start({ config: CONFIG, tracing });
    harness.upstream.play(() => {});
    const call = harness.send("chat");
    await harness.clock.pass(1_000);
    call.disconnect();
    await harness.clock.pass(10_000);
    expect(calls.map(({ receipt, status }) => [receipt.outcome, status])).toEqual([["client_gone", undefined]]);
  });
});
