import { describe, expect, test } from "bun:test";
import { SSE, textChunk } from "../../../testing/chat-chunks.ts";
import { type Script, sampleCall, scriptedGateway } from "../../../testing/scripted-gateway.ts";
import { relayStream } from "../answer/stream.ts";
import { relayUnary } from "../answer/unary.ts";

/** A call with a deadline, and what it became. */
async function limited(deadlineMs: number, stream: boolean, ...scripts: Script[]) {
  const sample = scriptedGateway(scripts);
  const { gateway, clock, targets } = sample;
  const { call } = sampleCall(gateway, { stream }, [], { deadlineMs });
  const plan = targets.filter(({ via }) => via === "chat");
  const relaying = stream ? relayStream(call, gateway, plan) : relayUnary(call, gateway, plan);
  const ended = await clock.until(relaying.catch((error: unknown) => error));
  return { ...sample, call, ended };
}

describe("choices 8: deadline_ms is the time of the whole call", () => {
  test.each([false, true])("a silent offer is ended to the millisecond, stream %p", async (stream) => {
    const { ended, clock, network, call } = await limited(1_234, stream, { hangs: true });
    expect(ended).toMatchObject({
      kind: "upstream_timeout",
      message: "The response did not finish within this request's deadline of 1234 ms.",
    });
    expect([clock.passedMs, network.requests.length]).toEqual([1_234, 1]);
    expect(network.replies[0]?.closedAtMs).toBe(clock.nowMs());
    // The caller's own limit is not a failure of the provider's.
    expect(call.offersTried).toMatchObject([{ provider: "one", outcome: "abandoned", reason: "upstream_timeout" }]);
  });

  test("H18: one failure leaves the rest of the time to the next offer", async () => {
    const { ended, clock, call } = await limited(1_000, false, { status: 429, body: [400, "{}"] }, { hangs: true });
    expect(ended).toMatchObject({ kind: "upstream_timeout" });
    expect(clock.passedMs).toBe(1_000);
    expect(call.offersTried.map(({ provider, outcome }) => [provider, outcome])).toEqual([
      ["one", "failed"],
      ["two", "abandoned"],
    ]);
  });

  test("H26: a stream that it cuts reports the error, and its output is billed as partial", async () => {
    const { ended, clock, receipts, network } = await limited(2_000, true, {
      headers: SSE,
      body: [textChunk("Hello"), 60_000],
    });
    let text = "";
    const read = async () => {
      for await (const part of (ended as Response).body ?? []) text += Buffer.from(part).toString();
    };
    await clock.until(read());
    expect(clock.passedMs).toBe(2_000);
    expect(text).toContain("Hello");
    expect(text).toContain("deadline of 2000 ms");
    expect(text).not.toContain("[DONE]");
    expect(receipts).toMatchObject([{ outcome: "upstream_timeout", usageSource: "partial" }]);
    expect(network.requests).toHaveLength(1);
  });

  test("a response in time leaves no timer", async () => {
    const { ended, clock } = await limited(60_000, true, {
      headers: SSE,
      body: [
        `${textChunk("Hello")}${textChunk("").replace('"finish_reason":null', '"finish_reason":"stop"')}data: [DONE]\n\n`,
      ],
    });
    expect(ended).toBeInstanceOf(Response);
    await clock.pass(3_000);
    expect(clock.timers).toBe(0);
  });
});
