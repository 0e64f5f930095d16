import { afterAll, expect, test } from "bun:test";
import type { ServerResponse } from "node:http";
import { atRest, eventually } from "../../testing/eventually.ts";
import { scriptedModels } from "../../testing/scripted-models.ts";
import { wire } from "../../testing/upstream-wire.ts";
import { callGateway, errorOf } from "../support/client-calls.ts";
import { scriptedHarness } from "../support/scripted-harness.ts";
import { drained, startEvents } from "../support/scripted-upstream.ts";
import { startTestGateway } from "../support/test-gateway.ts";

/**
 * Each behaviour of a stream once, over sockets. Every protocol and every case is in conformance/memory/streams.test.ts, in
 * memory.
 */

const { upstream, gateway } = await scriptedHarness((url) => ({
  config: scriptedModels(url, { first_byte: 600_000, idle: 600_000 }),
  timings: { commitDeadlineMs: 200, keepAliveMs: 100, readOnMs: 200 },
}));
const impatient = await startTestGateway({ config: scriptedModels(upstream.url, { first_byte: 700, idle: 400 }) });
afterAll(() => impatient.stop());

const BEGINNING = wire.chatChunk({ role: "assistant", content: "Hel" }) + wire.chatChunk({ content: "lo, wörld" });
const ENDING =
  wire.chatChunk({}, "stop") +
  wire.chatUsage({ prompt_tokens: 10, completion_tokens: 7, total_tokens: 17 }) +
  wire.done;

const play = (then: (response: ServerResponse) => void | Promise<void>) =>
  upstream.play(async (_request, response) => {
    startEvents(response);
    response.write(BEGINNING);
    await then(response);
  });

const ask = (signal?: AbortSignal) =>
  callGateway(gateway.url, "chat", gateway.key, { stream: true, ...(signal ? { signal } : {}) });

const upstreamEnds = () => eventually("the end upstream", () => upstream.open === 0, { seen: () => upstream.open });

test.each(["close", "reset"])(
  "H16: an upstream's %s without a terminal event is an error, never a proper end",
  async (cut) => {
    const begun = Promise.withResolvers<void>();
    play(async (response) => {
      await begun.promise;
      if (cut === "reset") response.socket?.destroy();
      else response.end();
    });
    const response = await ask();
    begun.resolve();
    const text = await response.text();
    expect(response.status).toBe(200);
    expect(text).toContain("lo, wörld");
    expect(text).toMatch(/data: \{"error":\{"message"/);
    expect(text).not.toContain("[DONE]");
    expect((await gateway.receipt(response)).usage_source).toBe("partial");
  },
);

test("H13, H14: a client that disconnects stops the upstream; what was produced is billed once, as partial", async () => {
  play(() => {});
  const controller = new AbortController();
  const response = await ask(controller.signal);
  await response.body?.getReader().read();
  expect(upstream.open).toBe(1);
  controller.abort();
  await upstreamEnds();
  expect(upstream.disconnects).toBe(1);
  const receipt = await eventually("the receipt", () => gateway.receipt(response).catch(() => undefined));
  expect(receipt.usage_source).toBe("partial");
  expect(receipt.cost_nano_usd).toBeGreaterThan(0);
});

test("H22: the first content is forwarded while the upstream holds back the rest", async () => {
  const read = Promise.withResolvers<void>();
  play(async (response) => {
    await read.promise;
    response.end(ENDING);
  });
  const response = await ask();
  const decoder = new TextDecoder();
  let text = "";
  for await (const chunk of response.body ?? []) {
    text += decoder.decode(chunk, { stream: true });
    if (text.includes("Hel")) read.resolve();
  }
  expect(text).toEndWith("data: [DONE]\n\n");
  const receipt = await gateway.receipt(response);
  expect(receipt).toMatchObject({ usage_source: "measured", usage: { input: 10, output: 7 } });
});

test("H15, H18: headers and keep-alives are sent before a first byte, and the response still arrives", async () => {
  const read = Promise.withResolvers<void>();
  upstream.play(async (_request, response) => {
    await read.promise;
    startEvents(response);
    response.end(BEGINNING + ENDING);
  });
  const response = await ask();
  const decoder = new TextDecoder();
  let text = "";
  for await (const chunk of response.body ?? []) {
    text += decoder.decode(chunk, { stream: true });
    if (/^: keep-alive$/m.test(text)) read.resolve();
  }
  expect(text).toEndWith("data: [DONE]\n\n");
});

test("an upstream that goes silent, and one that never begins, time out", async () => {
  play(() => {});
  const begun = await callGateway(impatient.url, "chat", impatient.key, { stream: true });
  expect(await begun.text()).toContain("sent nothing more for 400 ms");
  await upstreamEnds();
  upstream.play(() => {});
  const response = await callGateway(impatient.url, "chat", impatient.key);
  expect(await errorOf(response)).toMatchObject({
    status: 504,
    message: expect.stringContaining("sent nothing for 700 ms"),
  });
});

test("H20, H22: a client that reads nothing slows the upstream down instead of filling memory", async () => {
  let sent = 0;
  upstream.play(async (_request, response) => {
    startEvents(response);
    const chunk = wire.chatChunk({ content: "x".repeat(64 * 1024) });
    for (let count = 0; count < 3000 && !response.destroyed; count++) {
      const written = response.write(chunk);
      sent += chunk.length;
      if (!written) await drained(response);
    }
    response.end();
  });
  const controller = new AbortController();
  const response = await ask(controller.signal);
  await response.body?.getReader().read();
  // The buffers of sockets and processes fill up first, at the speed of the machine.
  expect(await atRest("the upstream", () => sent)).toBeLessThan(40 * 1024 * 1024);
  controller.abort();
  await upstreamEnds();
});
