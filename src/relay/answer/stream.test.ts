import { describe, expect, spyOn, test } from "bun:test";
import { chatChunk, DONE, SSE } from "../../../testing/chat-chunks.ts";
import { type Script, sampleCall, scriptedGateway } from "../../../testing/scripted-gateway.ts";
import { BufferPool } from "../../base/byte-buffer.ts";
import { relayStream } from "./stream.ts";

const HELLO = chatChunk({ content: "Hello" });
const WORLD = chatChunk({ content: " world" });
const STOP = chatChunk({}, "stop");

/** A call that is streamed from hosts with these scripts, and what became of it. */
async function streamed(...scripts: Script[]) {
  const sample = scriptedGateway(scripts);
  const { gateway, clock } = sample;
  const { call, disconnect } = sampleCall(gateway, { stream: true });
  const plan = sample.targets.filter(({ via }) => via === "chat");
  const response = await clock.until(relayStream(call, gateway, plan));
  return { ...sample, call, disconnect, response, text: () => clock.until(textOf(response)) };
}

/** Read as it comes: what is written holds only until the next write, as it does on a socket. */
async function textOf({ body }: Response): Promise<string> {
  let text = "";
  for await (const part of body ?? []) text += Buffer.from(part).toString();
  return text;
}

const saidIn = (text: string) =>
  [...text.matchAll(/^data: (\{.*\})$/gm)]
    .map(([, data]) => JSON.parse(data ?? "") as { choices?: { delta: { content?: string } }[] })
    .map(({ choices }) => choices?.[0]?.delta.content ?? "")
    .join("");

describe("a streamed answer", () => {
  test("is passed on as it arrives, and its end waits for the receipt", async () => {
    const { text, receipts, network, clock } = await streamed({
      headers: SSE,
      body: [HELLO, 50, WORLD, 50, STOP, DONE],
    });
    const all = await text();
    expect(saidIn(all)).toBe("Hello world");
    // The watchdog does not watch it any more.
    await clock.pass(2_000);
    expect(clock.timers).toBe(0);
    expect(all).toEndWith(DONE);
    expect(all).not.toContain('"upstream"');
    expect(receipts).toMatchObject([{ outcome: "ok", stop: { unified: "stop" }, usageSource: "estimated" }]);
    expect(network.replies[0]?.closedAtMs).toBeUndefined();
  });

  test("one that has arrived whole is settled before its headers are sent", async () => {
    const { text, receipts } = await streamed({ headers: SSE, body: [HELLO + STOP + DONE] });
    expect(receipts).toMatchObject([{ outcome: "ok" }]);
    expect(await text()).toEndWith(DONE);
  });

  test("a host that closes after the finish reason owes its client the sentinel", async () => {
    const { text } = await streamed({ headers: SSE, body: [HELLO, STOP] });
    expect(await text()).toEndWith(DONE);
  });

  test("the same where the connection breaks there", async () => {
    const { text, receipts } = await streamed({ headers: SSE, body: [HELLO, STOP], breaks: true });
    expect(await text()).toEndWith(DONE);
    expect(receipts).toMatchObject([{ outcome: "ok" }]);
  });
});

describe("before the commit, a failure concerns only the offer", () => {
  test("another target answers", async () => {
    const { text, receipts } = await streamed(
      { headers: SSE, body: [] },
      { status: 500, body: ["{}"] },
      { headers: SSE, body: [HELLO, STOP, DONE] },
    );
    expect(saidIn(await text())).toBe("Hello");
    expect(receipts[0]?.offers.map(({ provider, outcome }) => [provider, outcome])).toEqual([
      ["one", "failed"],
      ["one", "failed"],
      ["two", "answered"],
    ]);
  });

  test("H20: output held for failed attempts is released", async () => {
    const [takes, givesBack] = [spyOn(BufferPool.prototype, "take"), spyOn(BufferPool.prototype, "giveBack")];
    const { text } = await streamed({ headers: SSE, body: [] }, { headers: SSE, body: [HELLO, STOP, DONE] });
    await text();
    const [taken, given] = [takes.mock.calls.length, givesBack.mock.calls.length];
    takes.mockRestore();
    givesBack.mockRestore();
    expect(taken).toBeGreaterThanOrEqual(2);
    expect(given).toBe(taken);
  });

  test("H15, H18: after ten seconds the headers are sent with a keep-alive", async () => {
    const { text, clock } = await streamed({ headers: SSE, body: [20_000, HELLO, STOP, DONE] });
    expect(clock.passedMs).toBeWithin(10_000, 10_300);
    const all = await text();
    expect(all).toStartWith(": keep-alive\n\n");
    expect(saidIn(all)).toBe("Hello");
  });
});

describe("after the commit, a failure is reported in the stream", () => {
  test.each<[string, Script]>([
    ["H16: a host that closes amid its answer", { headers: SSE, body: [HELLO] }],
    ["a connection that breaks", { headers: SSE, body: [HELLO], breaks: true }],
    ["an error event", { headers: SSE, body: [HELLO, 'data: {"error":{"message":"broken"}}\n\n'] }],
    [
      "H31: content and an error in one read",
      { headers: SSE, body: [`${HELLO}data: {"error":{"message":"broken"}}\n\n`] },
    ],
  ])("%s", async (_, script) => {
    const { text, receipts, network } = await streamed(script);
    const all = await text();
    expect(saidIn(all)).toBe("Hello");
    expect(all).toContain('"error"');
    expect(all).not.toContain("[DONE]");
    expect(receipts).toMatchObject([{ outcome: "upstream_failed", usageSource: "partial" }]);
    expect(network.requests).toHaveLength(1);
    expect(network.replies[0]?.closedAtMs).toBeNumber();
  });
});

describe("a client that disconnects", () => {
  test("H26: the call is settled even if the body is never pulled", async () => {
    const { disconnect, clock, receipts } = await streamed({ headers: SSE, body: [HELLO, 500, WORLD, STOP, DONE] });
    disconnect();
    await clock.pass(5_000);
    expect(receipts).toMatchObject([{ outcome: "client_gone" }]);
  });
});
