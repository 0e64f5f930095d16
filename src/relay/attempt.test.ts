import { describe, expect, test } from "bun:test";
import { type Script, sampleCall, scriptedGateway } from "../../testing/scripted-gateway.ts";
import { Attempt } from "./attempt.ts";
import { relayUnary } from "./unary.ts";

const JSON_TYPE = { "content-type": "application/json" };
const ANSWER = JSON.stringify({
  id: "chatcmpl-1",
  object: "chat.completion",
  created: 1,
  model: "upstream",
  choices: [{ index: 0, message: { role: "assistant", content: "Hello." }, finish_reason: "stop" }],
  usage: { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 },
});

const answering: Script = { headers: JSON_TYPE, body: [ANSWER] };

/** One attempt at the first target. */
function attempting(scripts: readonly Script[], body = {}) {
  const sample = scriptedGateway(scripts);
  const { call, leave } = sampleCall(sample.gateway, body);
  const [target] = sample.targets;
  if (!target) throw new Error("no target");
  const attempt = new Attempt(call, sample.gateway, target);
  return { ...sample, call, leave, attempt };
}

describe("an attempt owns what it makes", () => {
  test("its request and its notes are its own: two at once do not see each other", async () => {
    const { gateway, sent, targets, clock } = scriptedGateway([answering, answering]);
    const { call } = sampleCall(gateway, { provider: { order: ["two"] } });
    const attempts = targets.filter(({ via }) => via === "chat").map((target) => new Attempt(call, gateway, target));
    await clock.until(Promise.all(attempts.map((attempt) => attempt.open())));
    expect(sent.map(({ url }) => new URL(url).hostname)).toEqual(["one.test", "two.test"]);
    for (const { notes } of attempts) expect(notes.map(({ path }) => path)).toEqual(["provider"]);
    expect(attempts[0]?.notes).not.toBe(attempts[1]?.notes);
    expect(call.attempt).toBeUndefined();
  });

  test("every attempt under way hears that the client has left", async () => {
    const { gateway, sent, targets, clock } = scriptedGateway([{ hangs: true }, { hangs: true }]);
    const { call, leave } = sampleCall(gateway);
    const attempts = targets.filter(({ via }) => via === "chat").map((target) => new Attempt(call, gateway, target));
    const opening = Promise.allSettled(attempts.map((attempt) => attempt.open()));
    await clock.pass(1000);
    leave();
    await clock.until(opening);
    expect(sent.map(({ closed }) => closed)).toEqual([true, true]);
    expect(gateway.leftTexts).toBe(0);
  });

  test("H13, H26: one that is at work is read on for two seconds", async () => {
    const { attempt, clock, leave, sent, gateway } = attempting([{ hangs: true }]);
    const opening = attempt.open().catch((error: unknown) => error);
    await clock.pass(1000);
    leave();
    await clock.pass(1900);
    expect(sent[0]?.closed).toBe(false);
    expect(gateway.leftTexts).toBe(1);
    await clock.pass(300);
    expect(sent[0]?.closed).toBe(true);
    expect(gateway.leftTexts).toBe(0);
    expect(await opening).toMatchObject({ message: "The client closed the connection." });
  });
});

describe("how long an upstream is waited for", () => {
  test("one that sends nothing", async () => {
    const { attempt, clock } = attempting([{ hangs: true }], { stream: true });
    await expect(clock.until(attempt.open())).rejects.toMatchObject({
      kind: "upstream_timeout",
      message: "The provider sent nothing for 60000 ms.",
    });
    expect(clock.passedMs).toBeWithin(60_000, 60_300);
  });

  test("one that begins, and falls silent", async () => {
    const { attempt, clock } = attempting([{ headers: JSON_TYPE, body: ['{"id":', 1000, '"x"'], hangs: true }]);
    const reading = attempt.open().then((answer) => attempt.readText(answer, 1000));
    await expect(clock.until(reading)).rejects.toMatchObject({
      kind: "upstream_timeout",
      message: "The provider fell silent for 120000 ms.",
    });
  });

  test("all of them end when the gateway closes", async () => {
    const { attempt, clock, gateway } = attempting([{ hangs: true }]);
    const opening = attempt.open();
    await clock.pass(500);
    gateway.closing = true;
    await expect(clock.until(opening)).rejects.toMatchObject({ kind: "overloaded" });
  });
});

describe("what an answer holds of the memory of all calls", () => {
  test("is counted while it is read, and given back when it is closed", async () => {
    const { attempt, clock, gateway } = attempting([{ headers: JSON_TYPE, body: ["x".repeat(1000), "y".repeat(500)] }]);
    await clock.until(attempt.open().then((answer) => attempt.readText(answer, 2000)));
    expect(gateway.memory.held).toBe(1500);
    attempt.close();
    expect(gateway.memory.held).toBe(0);
  });

  test("one beyond its bound is given up", async () => {
    const { attempt, clock, sent } = attempting([{ headers: JSON_TYPE, body: ["x".repeat(1000), "y".repeat(500)] }]);
    const reading = attempt.open().then((answer) => attempt.readText(answer, 1200));
    await expect(clock.until(reading)).rejects.toThrow("The provider's answer is larger than 1200 bytes.");
    expect(sent[0]?.closed).toBe(true);
  });
});

describe("a whole answer", () => {
  test("is settled as the attempt has it that answered", async () => {
    const failing: Script = { status: 503, headers: JSON_TYPE, body: ['{"error":{"message":"busy"}}'] };
    const { gateway, clock, targets, receipts } = scriptedGateway([failing, failing, answering]);
    const { call, released } = sampleCall(gateway, { models: ["acme/other"] });
    const plan = targets.filter(({ via }) => via === "chat");
    const response = await clock.until(relayUnary(call, gateway, plan));
    expect(await response.json()).toMatchObject({ model: "acme/model" });
    expect(response.headers.get("x-trivium-dropped")).toBe("models");
    expect(receipts).toMatchObject([
      {
        provider: "two",
        outcome: "ok",
        lane: "native",
        upstreamDialect: "chat",
        usage: { input: 3, output: 2 },
        usageSource: "measured",
        offers: [{ outcome: "failed" }, { outcome: "failed" }, { provider: "two", outcome: "answered" }],
        fields: [{ path: "models", action: "dropped" }],
      },
    ]);
    expect(released).toHaveLength(1);
    expect(gateway.runningCalls).toBe(0);
  });
});
