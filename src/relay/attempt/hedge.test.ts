import { describe, expect, test } from "bun:test";
import { DONE, SSE, textChunk, usageChunk } from "../../../testing/chat-chunks.ts";
import { type Script, sampleCall, scriptedGateway } from "../../../testing/scripted-gateway.ts";
import type { CallRouting } from "../../routing/call-routing.ts";
import { relayStream } from "../answer/stream.ts";
import { relayUnary } from "../answer/unary.ts";

const says = (text: string, afterMs = 0): Script => ({
  headers: SSE,
  body: [afterMs, textChunk(text) + textChunk("", "stop") + usageChunk(10, 3), DONE],
});
const whole = (text: string, afterMs = 0): Script => ({
  body: [
    afterMs,
    JSON.stringify({
      id: "c",
      object: "chat.completion",
      created: 1,
      model: "upstream",
      choices: [{ index: 0, message: { role: "assistant", content: text }, finish_reason: "stop" }],
      usage: { prompt_tokens: 10, completion_tokens: 3, total_tokens: 13 },
    }),
  ],
});

/** A hedged call, and what became of it. */
async function hedged(
  stream: boolean,
  scripts: Script[],
  routing: Partial<CallRouting> = {},
  { leavesAfterMs, extensions = 1 }: { leavesAfterMs?: number; extensions?: number } = {},
) {
  const sample = scriptedGateway(scripts);
  const { gateway, clock, targets, network } = sample;
  const { call, left, disconnect } = sampleCall(gateway, { stream }, [], { hedge: true, ...routing });
  left.extensions = extensions;
  const plan = targets.filter(({ via }) => via === "chat");
  if (leavesAfterMs !== undefined) clock.after(leavesAfterMs, disconnect);
  const relaying = stream ? relayStream(call, gateway, plan) : relayUnary(call, gateway, plan);
  const ended = await clock.until(relaying.catch((error: unknown) => error));
  let text = "";
  if (ended instanceof Response) {
    const read = async () => {
      for await (const part of ended.body ?? []) text += Buffer.from(part).toString();
    };
    await clock.until(read());
  }
  const answeredMs = clock.passedMs;
  await clock.pass(5_000);
  const sentMs = network.requests.map(({ atMs }) => atMs - (network.requests[0]?.atMs ?? 0));
  return { ...sample, call, ended, text, sentMs, answeredMs };
}

const outcomesOf = ({ call }: { call: { offersTried: { provider: string; outcome: string }[] } }) =>
  call.offersTried.map(({ provider, outcome }) => `${provider}: ${outcome}`).sort();

describe("choices 8: with hedge, a second offer is tried if the first is slow to start", () => {
  test("no second offer is tried while the first is in time", async () => {
    const { sentMs, receipts, text } = await hedged(true, [says("Hello", 1_900)]);
    expect([sentMs, text.includes("Hello")]).toEqual([[0], true]);
    expect(receipts).toMatchObject([{ outcome: "ok", usageSource: "measured" }]);
    expect(receipts[0]?.hedged).toBeUndefined();
  });

  test.each([
    [true, says, 2_000],
    [false, whole, 15_000],
  ])("stream %p: the second wins, the first is ended and billed as partial", async (stream, script, waitedMs) => {
    const played = await hedged(stream, [{ hangs: true }, script("Hello", 500)]);
    const { sentMs, text, receipts, network, answeredMs } = played;
    expect([sentMs, text.includes("Hello"), answeredMs]).toEqual([[0, waitedMs], true, waitedMs + 500]);
    expect(outcomesOf(played)).toEqual(["one: abandoned", "two: answered"]);
    expect(network.replies[0]?.closedAtMs).toBe((network.requests[0]?.atMs ?? 0) + waitedMs + 500);
    const [receipt] = receipts;
    expect(receipt).toMatchObject({ outcome: "ok", provider: "two", hedged: true, usageSource: "partial" });
    // Ten and three of the winner's, and what the loser may have used: its prompt, and what its time allows.
    expect(receipt?.usage.input).toBeGreaterThan(10);
    expect((receipt?.usage.output ?? 0) + (receipt?.usage.reasoning ?? 0)).toBeGreaterThan(3);
  });

  test("the first may still win, and the second is ended", async () => {
    const played = await hedged(true, [says("first", 2_500), says("second", 60_000)]);
    expect(played.text).toContain("first");
    expect(outcomesOf(played)).toEqual(["one: answered", "two: abandoned"]);
    expect(played.receipts).toMatchObject([{ provider: "one", hedged: true }]);
    expect(played.network.open).toBe(0);
  });

  test("if one fails, the other continues", async () => {
    const second = await hedged(true, [{ headers: SSE, body: [3_000], breaks: true }, says("second", 4_000)]);
    expect(second.text).toContain("second");
    const first = await hedged(true, [says("first", 9_000), { status: 429, body: ["{}"] }]);
    expect(first.text).toContain("first");
    expect(outcomesOf(first)).toEqual(["one: answered", "two: failed"]);
    // What failed by itself has not to be paid.
    expect(first.receipts).toMatchObject([{ usageSource: "measured", usage: { input: 10, output: 3 } }]);
  });

  describe("H14: a loser that failed after its provider reported a usage is billed by it", () => {
    const failedWith = (usage: readonly [number, number], afterMs: number): Script => ({
      headers: SSE,
      body: [afterMs, `${usageChunk(...usage)}data: {"error":{"message":"no","type":"server_error"}}\n\n`],
    });

    test("where the first fails and the second answers", async () => {
      const played = await hedged(true, [failedWith([700, 40], 3_000), says("second", 4_000)]);
      expect(played.text).toContain("second");
      expect(outcomesOf(played)).toEqual(["one: failed", "two: answered"]);
      expect(played.receipts).toMatchObject([
        { provider: "two", usageSource: "partial", usage: { input: 710, output: 43 } },
      ]);
    });

    test("where the second fails and the first answers", async () => {
      const played = await hedged(true, [says("first", 9_000), failedWith([700, 40], 500)]);
      expect(played.text).toContain("first");
      expect(played.receipts).toMatchObject([{ provider: "one", usage: { input: 710, output: 43 } }]);
    });

    test("where both fail, each by its own", async () => {
      const played = await hedged(true, [failedWith([700, 40], 3_000), failedWith([500, 20], 4_000)]);
      expect(played.ended).toMatchObject({ kind: "upstream_failed" });
      expect(played.call.otherLegs).toMatchObject([{ usage: { input: 700, output: 40 } }]);
      expect(played.ended).toMatchObject({ failure: { usage: { input: 500, output: 20 } } });
    });

    test("where it is ended by the deadline of the other", async () => {
      const played = await hedged(true, [{ hangs: true }, failedWith([700, 40], 500)], { deadlineMs: 6_000 });
      expect(played.ended).toMatchObject({ kind: "upstream_timeout" });
      expect(played.call.otherLegs).toMatchObject([{ usage: { input: 700, output: 40 } }]);
    });

    test("an answer in one piece", async () => {
      const failed: Script = {
        body: [
          16_000,
          JSON.stringify({
            error: { message: "no", type: "server_error" },
            usage: { prompt_tokens: 700, completion_tokens: 40, total_tokens: 740 },
          }),
        ],
      };
      const played = await hedged(false, [failed, whole("second", 4_000)]);
      expect(played.text).toContain("second");
      expect(played.receipts).toMatchObject([{ provider: "two", usage: { input: 710, output: 43 } }]);
    });
  });

  test("if the first fails early, the next is tried at once, and nothing was hedged", async () => {
    const played = await hedged(true, [{ status: 429, body: ["{}"] }, says("second")]);
    expect([played.text.includes("second"), played.sentMs]).toEqual([true, [0, 0]]);
    expect(played.receipts[0]?.hedged).toBeUndefined();
  });

  test("where both fail, the client gets one error", async () => {
    const played = await hedged(true, [
      { status: 429, body: [3_000, "{}"] },
      { status: 429, body: [2_000, "{}"] },
    ]);
    expect([played.sentMs, played.answeredMs]).toEqual([[0, 2_000], 4_000]);
    expect(played.ended).toMatchObject({ kind: "rate_limited" });
    expect(outcomesOf(played)).toEqual(["one: failed", "two: failed"]);
  });

  test("a client error that the second offer finds is returned if the first cannot respond", async () => {
    const mistake: Script = { status: 400, body: ["{}"] };
    const refused = await hedged(true, [{ status: 403, body: [3_000, "{}"] }, mistake]);
    expect([refused.sentMs, refused.answeredMs]).toEqual([[0, 2_000], 3_000]);
    expect(refused.ended).toMatchObject({ kind: "invalid_request" });
    expect(outcomesOf(refused)).toEqual(["one: failed", "two: failed"]);
    const served = await hedged(true, [says("first", 3_000), mistake]);
    expect(served.text).toContain("first");
  });

  test("the client's own mistake ends both", async () => {
    const played = await hedged(false, [{ status: 400, body: [16_000, "{}"] }, { hangs: true }]);
    expect(played.ended).toMatchObject({ kind: "invalid_request" });
    expect(played.network.open).toBe(0);
  });

  test("H13: a client that leaves ends both, and both are billed", async () => {
    const played = await hedged(true, [{ hangs: true }, { hangs: true }], {}, { leavesAfterMs: 4_000 });
    expect(played.network.open).toBe(0);
    expect(outcomesOf(played)).toEqual(["one: abandoned", "two: abandoned"]);
    expect(played.call.otherLegs).toHaveLength(1);
  });

  test("the deadline ends both", async () => {
    const played = await hedged(true, [{ hangs: true }, { hangs: true }], { deadlineMs: 3_000 });
    expect(played.ended).toMatchObject({ kind: "upstream_timeout" });
    expect([played.answeredMs, played.network.open]).toEqual([3_000, 0]);
  });

  test("H32: it is an attempt like any other: max_attempts holds", async () => {
    const played = await hedged(true, [says("first", 9_000), says("second")], { maxAttempts: 1 });
    expect([played.text.includes("first"), played.sentMs]).toEqual([true, [0]]);
  });

  test("H23: a key without enough budget for both waits for the first, and tries the next if that fails", async () => {
    const slow = await hedged(true, [says("first", 9_000), says("second")], {}, { extensions: 0 });
    expect([slow.text.includes("first"), slow.sentMs]).toEqual([true, [0]]);
    expect(slow.receipts[0]?.hedged).toBeUndefined();
    const failed = await hedged(
      true,
      [{ headers: SSE, body: [9_000], breaks: true }, says("second")],
      {},
      { extensions: 0 },
    );
    expect(failed.text).toContain("second");
    expect(failed.receipts[0]?.hedged).toBeUndefined();
    expect(Math.min(...failed.sentMs.slice(1))).toBeGreaterThanOrEqual(9_000);
  });

  test("after enough streams the wait is the offer's own p95", async () => {
    const sample = scriptedGateway([{ hangs: true }, says("second")]);
    const plan = sample.targets.filter(({ via }) => via === "chat");
    const [first] = plan;
    if (first === undefined) throw new Error("no target");
    for (let count = 0; count < 200; count++) sample.gateway.health.answered(first, 300, "stream");
    const { call } = sampleCall(sample.gateway, { stream: true }, [], { hedge: true });
    await sample.clock.until(relayStream(call, sample.gateway, plan));
    expect(sample.clock.passedMs).toBeWithin(250, 450);
  });
});
