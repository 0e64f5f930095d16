import { describe, expect, test } from "bun:test";
import { DONE, SSE, textChunk, usageChunk } from "../../../testing/chat-chunks.ts";
import { type Script, sampleCall, scriptedGateway } from "../../../testing/scripted-gateway.ts";
import type { CallRouting } from "../../routing/call-routing.ts";
import { relayStream } from "./stream.ts";

const USED = usageChunk(30, 4);
const breaksAfter = (text: string): Script => ({ headers: SSE, body: [textChunk(text)], breaks: true });
const goesOn = (text: string): Script => ({
  headers: SSE,
  body: [textChunk(text), textChunk("", "stop") + USED, DONE],
});

const LONG = "Barges carry grain down the river to the sea, and co";

/** A call that wants to survive, at hosts which continue partial answers. */
async function surviving(
  scripts: Script[],
  routing: Partial<CallRouting> = {},
  {
    offers = 2,
    body = {},
    extensions = offers,
  }: { offers?: number; body?: Record<string, unknown>; extensions?: number } = {},
) {
  const sample = scriptedGateway(scripts);
  const { gateway, clock, targets } = sample;
  const made = sampleCall(gateway, { stream: true, stream_options: { include_usage: true }, ...body }, [], {
    survive: true,
    ...routing,
  });
  made.left.extensions = extensions;
  const plan = targets
    .filter(({ via }) => via === "chat")
    .slice(0, offers)
    .map((target) => ({ ...target, goesOn: true }));
  const response = await clock.until(relayStream(made.call, gateway, plan));
  let text = "";
  const read = async () => {
    for await (const part of response.body ?? []) text += Buffer.from(part).toString();
  };
  await clock.until(read());
  await clock.pass(5_000);
  const outcomes = made.call.offersTried.map(({ provider, outcome }) => `${provider}: ${outcome}`);
  return { ...sample, ...made, text, outcomes };
}

const saidIn = (text: string) => [...text.matchAll(/"content":"([^"]*)"/g)].map(([, said]) => said).join("");

describe("H17: a stream that survives", () => {
  test("is one message; both parts are billed, and the receipt names the provider that continued", async () => {
    const { text, receipts, outcomes, network, clock } = await surviving([breaksAfter(LONG), goesOn("al up it.")]);
    expect(saidIn(text)).toBe(`${LONG}al up it.`);
    expect(new Set([...text.matchAll(/"id":"([^"]*)"/g)].map(([, id]) => id))).toEqual(new Set(["c"]));
    expect(text.match(/\[DONE\]/g)).toHaveLength(1);
    expect(outcomes).toEqual(["one: failed", "two: answered"]);
    const [receipt] = receipts;
    expect(receipt).toMatchObject({
      outcome: "ok",
      provider: "two",
      usageSource: "partial",
      continued: [{ provider: "two", fromCharacters: LONG.length }],
    });
    // What the second reported, and what passed of the first, with the prompt that it read.
    expect(receipt?.usage.input).toBeGreaterThan(30);
    expect(receipt?.usage.output).toBeGreaterThan(4 + 10);
    const told = JSON.parse(/"usage":(\{"prompt_tokens".*\})\}/.exec(text)?.[1] ?? "{}") as Record<string, number>;
    expect([told["prompt_tokens"], told["completion_tokens"]]).toEqual([receipt?.usage.input, receipt?.usage.output]);
    const asked = JSON.parse(network.requests[1]?.body ?? "{}") as { messages: object[] };
    expect(asked.messages.at(-1)).toMatchObject({ role: "assistant", content: LONG });
    expect(clock.timers).toBe(0);
  });

  test("continues at the same offer if there is no other", async () => {
    const { text, outcomes } = await surviving([breaksAfter(LONG), goesOn("al up it.")], {}, { offers: 1 });
    expect(saidIn(text)).toBe(`${LONG}al up it.`);
    expect(outcomes).toEqual(["one: failed", "one: answered"]);
  });

  test("H23: continues only if the key has enough left for another request", async () => {
    const { text, outcomes, receipts } = await surviving(
      [breaksAfter(LONG), goesOn("al up it.")],
      {},
      { extensions: 0 },
    );
    expect([saidIn(text), outcomes]).toEqual([LONG, ["one: answered"]]);
    expect(text).toContain("Provider `one` closed the connection");
    expect(receipts[0]?.continued).toBeUndefined();
    const twice = [breaksAfter(LONG), breaksAfter("al up"), goesOn(" it again.")];
    const once = await surviving(twice, {}, { offers: 3, extensions: 1 });
    expect(saidIn(once.text)).toBe(`${LONG}al up`);
  });

  test("may break more than once, but no offer is asked twice to continue", async () => {
    const { text, receipts } = await surviving([breaksAfter(LONG), breaksAfter("al up"), goesOn(" it again.")]);
    expect(saidIn(text)).toBe(`${LONG}al up`);
    expect(text).toContain('"error"');
    expect(receipts).toMatchObject([{ outcome: "upstream_failed", continued: [{ provider: "two" }] }]);
  });

  test("if no offer continues, the client gets the first failure and pays only for the first part", async () => {
    const without = await surviving([breaksAfter(LONG)], { survive: false });
    const { text, receipts, outcomes } = await surviving([breaksAfter(LONG), { status: 400, body: ["{}"] }]);
    expect(saidIn(text)).toBe(LONG);
    expect(text).toContain("Provider `one` closed the connection");
    expect(text).not.toContain("[DONE]");
    expect(outcomes[0]).toBe("one: answered");
    expect(receipts[0]).toMatchObject({ outcome: "upstream_failed", provider: "one" });
    expect(receipts[0]?.usage).toEqual(without.receipts[0]?.usage ?? {});
    expect(receipts[0]?.continued).toBeUndefined();
  });

  test("max_attempts and the deadline hold", async () => {
    const { network } = await surviving([breaksAfter(LONG), goesOn("al.")], { maxAttempts: 1 });
    expect(network.requests).toHaveLength(1);
    const late = await surviving([breaksAfter(LONG), { hangs: true }], { deadlineMs: 2_000 });
    expect(late.text).toContain('"error"');
    expect(late.network.open).toBe(0);
  });

  test("an answer that must have a form is not gone on with", async () => {
    const body = { response_format: { type: "json_object" } };
    const { network, text } = await surviving([breaksAfter('{\\"a\\": 1'), goesOn("}")], {}, { body });
    expect(network.requests).toHaveLength(1);
    expect(text).toContain('"error"');
  });

  test("a call without this option keeps no request", async () => {
    const { call, network } = await surviving([breaksAfter(LONG), goesOn("al.")], { survive: false });
    expect(network.requests).toHaveLength(1);
    expect(call.request).toBeUndefined();
  });
});
