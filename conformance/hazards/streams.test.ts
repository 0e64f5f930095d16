import { describe, expect, test } from "bun:test";
import type { ServerResponse } from "node:http";
import type { DialectName } from "../../src/canon/dialect-name.ts";
import { scriptedModels } from "../../testing/scripted-models.ts";
import { wire } from "../../testing/upstream-wire.ts";
import { callGateway, DIALECTS, errorOf } from "../support/client-calls.ts";
import { scriptedStand } from "../support/scripted-stand.ts";
import { sendJson, sleep, startEvents } from "../support/scripted-upstream.ts";

const { upstream, gateway } = await scriptedStand((url) => ({
  config: scriptedModels(url),
  timings: { commitDeadlineMs: 400, keepAliveMs: 300, readOnMs: 200 },
}));

/** The beginning of an answer with some text, in each upstream's wire. */
const beginning: Record<DialectName, string> = {
  chat:
    wire.chatChunk({ role: "assistant", content: "" }) +
    wire.chatChunk({ content: "Hel" }) +
    wire.chatChunk({ content: "lo, wörld" }),
  messages: wire.messageStart() + wire.textBlock("Hel", "lo, wörld"),
  genai: wire.genaiChunk("Hel") + wire.genaiChunk("lo, wörld"),
};
const ending: Record<DialectName, string> = {
  chat:
    wire.chatChunk({}, "stop") +
    wire.chatUsage({ prompt_tokens: 10, completion_tokens: 7, total_tokens: 17 }) +
    wire.done,
  messages: wire.messageEnd(),
  genai: wire.genaiChunk("!", "STOP", { promptTokenCount: 10, candidatesTokenCount: 7, totalTokenCount: 17 }),
};
/** How each protocol tells an error inside a stream. */
const errorMark: Record<DialectName, RegExp> = {
  chat: /data: \{"error":\{"message"/,
  messages: /event: error\ndata: \{"type":"error","error":\{"type":"api_error"/,
  genai: /data: \{"error":\{"code":50\d,[\s\S]*\n\n\{"error":\{"code":50\d/,
};
const endMark: Record<DialectName, RegExp> = { chat: /\[DONE\]/, messages: /message_stop/, genai: /finishReason/ };

const play = (dialect: DialectName, then: (response: ServerResponse) => void | Promise<void>) =>
  upstream.play(async (_request, response) => {
    startEvents(response);
    response.write(beginning[dialect]);
    await sleep(30);
    await then(response);
  });

async function waitFor(what: () => boolean, ms = 3000): Promise<void> {
  const until = Date.now() + ms;
  while (!what() && Date.now() < until) await sleep(10);
  expect(what()).toBe(true);
}

for (const dialect of DIALECTS) {
  describe(`${dialect} streams`, () => {
    test("H16: no terminal event upstream is told as the protocol's error, and never as an end", async () => {
      for (const cut of ["close", "reset", "inside an event"] as const) {
        play(dialect, async (response) => {
          if (cut === "inside an event") response.write(beginning[dialect].slice(0, 40));
          await sleep(10);
          if (cut === "reset") response.socket?.destroy();
          else response.end();
        });
        const response = await callGateway(gateway.url, dialect, gateway.key, { stream: true });
        const text = await response.text();
        expect(response.status).toBe(200);
        expect(text).toContain("lo, wörld");
        expect(text).toMatch(errorMark[dialect]);
        expect(text).not.toMatch(endMark[dialect]);
        const receipt = await gateway.receipt(response);
        expect(receipt.usage_source).toBe("partial");
        expect(receipt.usage["output"]).toBeGreaterThan(0);
        // H14: where the upstream's own count runs along, nothing is put on top of it.
        if (dialect === "genai") expect(receipt.usage).toMatchObject({ input: 5, output: 1 });
      }
    });

    test("H16: a stream that ends before any content gets a real status", async () => {
      upstream.play((_request, response) => {
        startEvents(response);
        response.end();
      });
      const response = await callGateway(gateway.url, dialect, gateway.key, { stream: true });
      expect(response.status).toBe(502);
      expect((await errorOf(response)).message).toContain("before it had answered");
      expect(upstream.seen.length).toBe(2); // choices 4: upstream_failed is tried once more
    });

    test("H13, H14: a client that leaves stops the upstream; what was produced is billed once, as partial", async () => {
      play(dialect, () => sleep(5000));
      const controller = new AbortController();
      const response = await callGateway(gateway.url, dialect, gateway.key, {
        stream: true,
        signal: controller.signal,
      });
      const reader = response.body?.getReader();
      await reader?.read();
      expect(upstream.open).toBe(1);
      controller.abort();
      await waitFor(() => upstream.open === 0);
      expect(upstream.left).toBe(1);
      await sleep(50);
      const receipt = await gateway.receipt(response);
      expect(receipt.usage_source).toBe("partial");
      expect(receipt.usage["output"]).toBeGreaterThan(0);
      expect(receipt.cost_nano_usd).toBeGreaterThan(0);
    });

    test("H13: a client that leaves before the first byte stops the upstream too", async () => {
      upstream.play(() => sleep(5000));
      const controller = new AbortController();
      const call = callGateway(gateway.url, dialect, gateway.key, { stream: false, signal: controller.signal });
      await waitFor(() => upstream.open === 1);
      controller.abort();
      await expect(call).rejects.toThrow();
      await waitFor(() => upstream.open === 0);
    });

    test("H22: the first content is forwarded when it comes, long before the end", async () => {
      play(dialect, async (response) => {
        await sleep(1_500);
        response.end(ending[dialect]);
      });
      const started = performance.now();
      const response = await callGateway(gateway.url, dialect, gateway.key, { stream: true });
      const reader = response.body?.getReader();
      const first = await reader?.read();
      const firstAfterMs = performance.now() - started;
      expect(new TextDecoder().decode(first?.value)).toContain("Hel");
      expect(firstAfterMs).toBeLessThan(1_400);
      let rest = "";
      for (;;) {
        const { value, done } = (await reader?.read()) ?? { done: true };
        if (done) break;
        rest += new TextDecoder().decode(value);
      }
      expect(rest).toMatch(endMark[dialect]);
      expect(performance.now() - started).toBeGreaterThan(550);
    });

    test("H18: waiting for a first byte has a deadline: headers go out, and the answer still comes", async () => {
      upstream.play(async (_request, response) => {
        await sleep(900);
        startEvents(response);
        response.end(beginning[dialect] + ending[dialect]);
      });
      const started = performance.now();
      const response = await callGateway(gateway.url, dialect, gateway.key, { stream: true });
      const headersAfterMs = performance.now() - started;
      expect(response.status).toBe(200);
      expect(headersAfterMs).toBeGreaterThan(300);
      // genai has no keep-alive to send the headers with; its deadline is the provider's first-byte limit.
      if (dialect !== "genai") expect(headersAfterMs).toBeLessThan(850);
      const text = await response.text();
      expect(text).toMatch(endMark[dialect]);
      expect(text).not.toMatch(errorMark[dialect]);
    });

    test("H15: silence is broken in the protocol's legal form, or not at all where it has none", async () => {
      play(dialect, async (response) => {
        await sleep(1100);
        response.end(ending[dialect]);
      });
      const text = await (await callGateway(gateway.url, dialect, gateway.key, { stream: true })).text();
      if (dialect === "chat") expect(text.match(/^: keep-alive$/gm)?.length).toBeGreaterThanOrEqual(2);
      if (dialect === "messages")
        expect(text.match(/event: ping\ndata: \{"type":"ping"\}\n\n/g)?.length).toBeGreaterThanOrEqual(2);
      if (dialect === "genai")
        for (const line of text.split(/\r?\n/)) expect(line === "" || line.startsWith("data: {")).toBe(true);
      expect(text).toMatch(endMark[dialect]);
    });

    test("an upstream that falls silent in mid-stream is a timeout after its idle limit", async () => {
      play(dialect, () => sleep(6000));
      const response = await callGateway(gateway.url, dialect, gateway.key, { stream: true });
      const text = await response.text();
      expect(text).toContain("fell silent");
      await waitFor(() => upstream.open === 0);
    });

    test("an upstream that never sends a first byte is a timeout after its limit, with a real status", async () => {
      upstream.play(() => sleep(8000));
      const response = await callGateway(gateway.url, dialect, gateway.key, { stream: false });
      expect(response.status).toBe(504);
      expect((await errorOf(response)).message).toContain("sent nothing for 3000 ms");
    });

    test("choices 4: an error as the first event of a 200 gets a real status", async () => {
      const first: Record<DialectName, string> = {
        chat: 'data: {"error":{"message":"The server had an error","type":"server_error","code":null}}\n\n',
        messages: 'event: error\ndata: {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}\n\n',
        genai: 'data: {"error":{"code":503,"message":"The model is overloaded.","status":"UNAVAILABLE"}}\r\n\r\n',
      };
      upstream.play((_request, response) => {
        startEvents(response);
        response.end(first[dialect]);
      });
      const response = await callGateway(gateway.url, dialect, gateway.key, { stream: true });
      expect(response.status).toBe({ chat: 502, messages: 529, genai: 503 }[dialect]);
    });

    test("contract: the last byte of an answer is sent after its ledger row", async () => {
      play(dialect, (response) => {
        response.end(ending[dialect]);
      });
      const response = await callGateway(gateway.url, dialect, gateway.key, { stream: true });
      await response.text();
      const receipt = await gateway.receipt(response);
      expect(receipt.usage_source).toBe("measured");
      expect(receipt.usage).toMatchObject({ input: 10, output: 7 });
      expect(receipt.cost_nano_usd).toBe(10 * 1000 + 7 * 2000);
      expect(receipt.stop?.unified).toBe("stop");
      expect(receipt.lane).toBe("native");
    });
  });
}

test("an answer in mid-stream error is not followed by more", async () => {
  upstream.play(async (_request, response) => {
    startEvents(response);
    response.write(beginning.messages);
    await sleep(50);
    response.end(
      `event: error\ndata: {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}\n\n${ending.messages}`,
    );
  });
  const text = await (await callGateway(gateway.url, "messages", gateway.key, { stream: true })).text();
  expect(text.trimEnd()).toMatch(/"type":"api_error"[^\n]*$/);
});

test("choices 4: 5xx is tried again on the same offer, a bad request is not", async () => {
  upstream.play((_request, response) => {
    if (upstream.seen.length === 1) sendJson(response, { error: { message: "boom" } }, 500);
    else
      sendJson(response, {
        id: "x",
        object: "chat.completion",
        created: 1,
        model: "m",
        choices: [{ index: 0, message: { role: "assistant", content: "ok" }, finish_reason: "stop" }],
        usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
      });
  });
  const response = await callGateway(gateway.url, "chat", gateway.key);
  expect(response.status).toBe(200);
  expect((await gateway.receipt(response)).offers.map((offer) => offer.outcome)).toEqual(["failed", "answered"]);
  upstream.play((_request, answer) => {
    sendJson(
      answer,
      { error: { message: "Unsupported value: 'x'", type: "invalid_request_error", param: "x", code: null } },
      400,
    );
  });
  const refused = await callGateway(gateway.url, "chat", gateway.key);
  expect(await errorOf(refused)).toMatchObject({ status: 400, message: "Unsupported value: 'x'" });
  expect(upstream.seen.length).toBe(1);
});

test("H20, H22: a client that reads nothing holds the upstream back, instead of filling memory", async () => {
  let sent = 0;
  upstream.play(async (_request, response) => {
    startEvents(response);
    const piece = wire.chatChunk({ content: "x".repeat(64 * 1024) });
    for (let count = 0; count < 3000 && !response.destroyed; count++) {
      const room = response.write(piece);
      sent += piece.length;
      if (!room) await Promise.race([new Promise((resolve) => response.once("drain", resolve)), sleep(3000)]);
    }
    response.end();
  });
  const controller = new AbortController();
  const response = await callGateway(gateway.url, "chat", gateway.key, { stream: true, signal: controller.signal });
  const reader = response.body?.getReader();
  await reader?.read();
  await sleep(1200);
  const afterAWhile = sent;
  await sleep(400);
  expect(sent).toBe(afterAWhile);
  expect(sent).toBeLessThan(40 * 1024 * 1024);
  controller.abort();
  await waitFor(() => upstream.open === 0);
});
