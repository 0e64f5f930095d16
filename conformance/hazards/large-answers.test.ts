import { describe, expect, test } from "bun:test";
import type { ServerResponse } from "node:http";
import { brotliCompressSync, deflateSync, gzipSync } from "node:zlib";
import { eventually } from "../../testing/eventually.ts";
import { plainAnswer, plainStream, plainUsage } from "../../testing/plain-answer.ts";
import { SCRIPTED_DIALECTS } from "../../testing/sampled-dialects.ts";
import { modelsOfEveryDialect, scriptedProvider } from "../../testing/scripted-models.ts";
import { wire } from "../../testing/upstream-wire.ts";
import { callGateway, errorOf } from "../support/client-calls.ts";
import { scriptedHarness } from "../support/scripted-harness.ts";
import { sendJson, startEvents } from "../support/scripted-upstream.ts";

const MEGABYTE = 1024 * 1024;
/** Each within the bound of one response; three do not fit into the memory of all calls. */
const { upstream, gateway } = await scriptedHarness((url) => ({
  config: {
    // Longer than a busy machine takes to decompress 64 MB or to read 8 × 18 MB.
    ...modelsOfEveryDialect(url, { first_byte: 60_000, idle: 60_000 }),
    server: { host: "127.0.0.1", port: 0, drain_seconds: 2, max_body_mb: 8, memory_mb: 80 },
  },
}));

const chatAnswer = (content: string) => ({
  choices: [{ index: 0, message: { role: "assistant", content }, finish_reason: "stop" }],
  usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
});

/** Sends whitespace and letters for as long as the connection is read. */
function sendWithoutEnd(response: ServerResponse, chunk: Buffer): void {
  const go = () => {
    while (!response.destroyed && response.write(chunk));
  };
  response.on("drain", go);
  go();
}

describe("S23: a response is bounded, however it is compressed", () => {
  const bomb = Buffer.alloc(64 * MEGABYTE, " ");
  const packed = {
    gzip: gzipSync(bomb, { level: 1 }),
    deflate: deflateSync(bomb, { level: 1 }),
    br: brotliCompressSync(bomb),
  };

  test.each(Object.entries(packed))("a bomb in %s never grows beyond the bound", async (encoding, body) => {
    upstream.play((_request, response) => {
      response.writeHead(200, { "content-type": "application/json", "content-encoding": encoding }).end(body);
    });
    for (const dialect of encoding === "gzip" ? SCRIPTED_DIALECTS : (["chat"] as const)) {
      const { status, message } = await errorOf(await callGateway(gateway.url, dialect, gateway.key));
      expect([status, message]).toEqual([
        502,
        `Provider \`${scriptedProvider(dialect)}\`'s response is larger than ${32 * MEGABYTE} bytes.`,
      ]);
    }
    expect(gateway.app.heldBytes()).toBe(0);
  });

  test.each([...SCRIPTED_DIALECTS])("%s: an endless non-streamed response", async (dialect) => {
    upstream.play((_request, response) => {
      response.writeHead(200, { "content-type": "application/json" });
      sendWithoutEnd(response, Buffer.alloc(MEGABYTE, "x"));
    });
    const { status, message } = await errorOf(await callGateway(gateway.url, dialect, gateway.key));
    expect([status, message.includes("larger than")]).toEqual([502, true]);
  });

  test.each(["chat", "responses"] as const)("%s: an endless event of a stream, also compressed", async (dialect) => {
    upstream.play((_request, response) => {
      startEvents(response);
      response.write("data: ");
      sendWithoutEnd(response, Buffer.alloc(MEGABYTE, "x"));
    });
    expect((await callGateway(gateway.url, dialect, gateway.key, { stream: true })).status).toBe(502);
    upstream.play((_request, response) => {
      response.writeHead(200, { "content-type": "text/event-stream", "content-encoding": "gzip" }).end(packed.gzip);
    });
    expect((await callGateway(gateway.url, dialect, gateway.key, { stream: true })).status).toBe(502);
    expect(gateway.app.heldBytes()).toBe(0);
  });

  test.each([...SCRIPTED_DIALECTS])("%s: an honest large response passes, also compressed", async (dialect) => {
    const text = "word ".repeat(MEGABYTE);
    const whole = gzipSync(JSON.stringify(plainAnswer(dialect, { text, usage: plainUsage(dialect, 1, MEGABYTE) })));
    upstream.play((_request, response) => {
      response.writeHead(200, { "content-type": "application/json", "content-encoding": "gzip" }).end(whole);
    });
    const response = await callGateway(gateway.url, dialect, gateway.key);
    expect((await response.text()).includes(JSON.stringify(text))).toBe(true);
    // Also to a client of another protocol.
    const other = dialect === "chat" ? "responses" : "chat";
    const translated = await callGateway(gateway.url, other, gateway.key, { model: `test/${dialect}` });
    expect((await translated.text()).includes(JSON.stringify(text))).toBe(true);
  });
});

describe("S23: all responses together are bounded too", () => {
  test("what does not fit is refused in the caller's protocol, no offer is retried, and everything is released", async () => {
    const waiting: ServerResponse[] = [];
    const part = Buffer.alloc(18 * MEGABYTE, " ");
    upstream.play((_request, response) => {
      response.writeHead(200, { "content-type": "application/json" });
      response.write(part);
      waiting.push(response);
    });
    // Clients of every protocol, in either lane, at one host.
    const calls = SCRIPTED_DIALECTS.flatMap((dialect) =>
      [1, 2].map(() => callGateway(gateway.url, dialect, gateway.key, { model: "test/chat" })),
    );
    // One key may hold half of the memory: two of these fit, and the others are refused for that reason.
    const refused: Response[] = [];
    for (const call of calls) call.then((response) => !response.ok && refused.push(response));
    await eventually("six refusals", () => refused.length >= 6, { seen: () => refused.length });
    expect(upstream.seen).toHaveLength(8);
    for (const response of refused) {
      expect(response.status).toBe(429);
      expect(response.headers.get("retry-after")).toBe("1");
      expect((await errorOf(response)).message).toContain("the limit for one key");
    }
    for (const response of waiting) response.end(JSON.stringify(chatAnswer("hi")));
    await Promise.all(calls);
    expect(gateway.app.heldBytes()).toBe(0);
    upstream.play((_request, response) => void sendJson(response, chatAnswer("hi")));
    expect((await callGateway(gateway.url, "chat", gateway.key)).status).toBe(200);
  });

  test.each([...SCRIPTED_DIALECTS])("%s: data held back by streams is counted", async (dialect) => {
    const held: ServerResponse[] = [];
    upstream.play((_request, response) => {
      startEvents(response);
      if (held.push(response) === 1) response.write(`data: ${"x".repeat(7 * MEGABYTE)}`);
      else response.end(plainStream(dialect, ["hi", "!"], plainUsage(dialect, 1, 1)));
    });
    const call = callGateway(gateway.url, dialect, gateway.key, { stream: true });
    await eventually("the data to be held", () => gateway.app.heldBytes() >= 6 * MEGABYTE);
    for (const response of held) response.end(`\n\n${wire.done}`);
    await (await call).text();
    expect(gateway.app.heldBytes()).toBe(0);
  });
});
