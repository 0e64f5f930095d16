import { beforeAll, beforeEach, describe, expect, spyOn, test } from "bun:test";
import { DEFAULT_TIMINGS } from "../../src/relay/settle/timings.ts";
import { Harness, UPSTREAM_URL } from "../../testing/harness.ts";
import { SCRIPTED_DIALECTS, type ScriptedDialect } from "../../testing/sampled-dialects.ts";
import { modelsOfEveryDialect } from "../../testing/scripted-models.ts";
import { errorIn } from "../../testing/sent-call.ts";
import { wire } from "../../testing/upstream-wire.ts";
import { ResponsesScript, responsesUsage } from "../../testing/wires/responses-wire.ts";

const FIRST_BYTE_MS = 60_000;
const IDLE_MS = 30_000;
/** Deadlines are checked ten times a second. */
const TICK_MS = 100;
const { commitDeadlineMs, keepAliveMs, readOnMs, slowReaderMs } = DEFAULT_TIMINGS;

let harness: Harness;
beforeAll(async () => {
  const config = modelsOfEveryDialect(UPSTREAM_URL, { first_byte: FIRST_BYTE_MS, idle: IDLE_MS });
  harness = await Harness.start({ config });
});

const NOTHING_LEFT = { runningCalls: 0, orphanedTexts: 0, orphanedImages: 0, heldBytes: 0, openUpstreams: 0 };
beforeEach(() => expect(harness.leftovers()).toEqual(NOTHING_LEFT));

/** The numbers of a Responses stream continue from its beginning. */
function responsesParts(more: readonly string[] = []) {
  const script = new ResponsesScript();
  const begun = script.begin() + script.delta("Hel") + script.delta("lo, wörld");
  const deltas = more.map((text) => script.delta(text));
  return { begun, deltas, ended: script.close() + script.completed(responsesUsage(10, 7)) };
}

/** The beginning of a response with some text, in each upstream's protocol. */
const beginning: Record<ScriptedDialect, string> = {
  chat:
    wire.chatChunk({ role: "assistant", content: "" }) +
    wire.chatChunk({ content: "Hel" }) +
    wire.chatChunk({ content: "lo, wörld" }),
  messages: wire.messageStart() + wire.textBlock("Hel", "lo, wörld"),
  genai: wire.genaiChunk("Hel") + wire.genaiChunk("lo, wörld"),
  responses: responsesParts().begun,
};
const ending: Record<ScriptedDialect, string> = {
  chat:
    wire.chatChunk({}, "stop") +
    wire.chatUsage({ prompt_tokens: 10, completion_tokens: 7, total_tokens: 17 }) +
    wire.done,
  messages: wire.messageEnd(),
  genai: wire.genaiChunk("!", "STOP", { promptTokenCount: 10, candidatesTokenCount: 7, totalTokenCount: 17 }),
  responses: responsesParts().ended,
};
/** How each protocol reports an error inside a stream. */
const errorMark: Record<ScriptedDialect, RegExp> = {
  chat: /data: \{"error":\{"message"/,
  messages: /event: error\ndata: \{"type":"error","error":\{"type":"api_error"/,
  genai: /data: \{"error":\{"code":50\d,[\s\S]*\n\n\{"error":\{"code":50\d/,
  responses: /event: error\ndata: \{"type":"error"[\s\S]*event: response\.failed\ndata: \{"type":"response\.failed"/,
};
const endMark: Record<ScriptedDialect, RegExp> = {
  chat: /\[DONE\]/,
  messages: /message_stop/,
  genai: /finishReason/,
  responses: /event: response\.completed/,
};

for (const dialect of SCRIPTED_DIALECTS) {
  describe(`${dialect} streams`, () => {
    test.each(["closes", "breaks", "closes inside an event"])(
      "H16: an upstream that %s without a terminal event is an error in the protocol's form, never a proper end",
      async (way) => {
        const { upstream } = harness;
        const half = way === "closes inside an event" ? beginning[dialect].slice(0, 40) : "";
        const steps = [beginning[dialect], 30, ...(half === "" ? [] : [half, 10])];
        upstream.play(way === "breaks" ? upstream.brokenStream(...steps) : upstream.stream(...steps));
        const answer = await harness.call(dialect, { stream: true });
        expect(answer.status).toBe(200);
        expect(answer.text).toContain("lo, wörld");
        expect(answer.text).toMatch(errorMark[dialect]);
        expect(answer.text).not.toMatch(endMark[dialect]);
        const receipt = await harness.receipt(answer);
        expect(receipt.usage_source).toBe("partial");
        expect(receipt.usage["output"]).toBeGreaterThan(0);
        // H14: if the upstream reports a running count, nothing is added to it.
        if (dialect === "genai") expect(receipt.usage).toMatchObject({ input: 5, output: 1 });
      },
    );

    test("H16: a stream that ends before any content gets a real status", async () => {
      harness.upstream.play(harness.upstream.stream());
      const answer = await harness.call(dialect, { stream: true });
      expect(answer.status).toBe(502);
      expect(errorIn(answer).message).toContain("before it sent any content");
      expect(harness.upstream.requests).toHaveLength(2); // choices 4: upstream_failed is tried once more
    });

    test("H13, H14: a client that disconnects stops the upstream; what was produced is billed once, as partial", async () => {
      const { clock, upstream } = harness;
      upstream.play(upstream.openStream(beginning[dialect]));
      const call = harness.send(dialect, { stream: true });
      await clock.until(call.reads("Hel"));
      expect(upstream.open).toBe(1);
      const disconnectedAtMs = clock.nowMs();
      call.disconnect();
      await clock.pass(IDLE_MS);
      expect((upstream.replies[0]?.closedAtMs ?? 0) - disconnectedAtMs).toBeWithin(
        readOnMs,
        readOnMs + 2 * TICK_MS + 1,
      );
      const receipt = await harness.receipt(await call.response);
      expect(receipt.usage_source).toBe("partial");
      expect(receipt.usage["output"]).toBeGreaterThan(0);
      expect(receipt.cost_nano_usd).toBeGreaterThan(0);
    });

    test("H13: a client that disconnects before the first byte stops the upstream too", async () => {
      const { clock, upstream } = harness;
      upstream.play(() => {});
      const call = harness.send(dialect);
      await clock.pass(1_000);
      expect(upstream.open).toBe(1);
      call.disconnect();
      await clock.pass(readOnMs + 2 * TICK_MS);
      expect(upstream.open).toBe(0);
    });

    test("H22: the first content is forwarded when it arrives, not at the end", async () => {
      const { upstream } = harness;
      upstream.play(upstream.stream(1_000, beginning[dialect], 5_000, ending[dialect]));
      const { chunks, text } = await harness.call(dialect, { stream: true });
      expect(chunks.find((chunk) => chunk.text.includes("Hel"))?.ms).toBe(1_000);
      expect(chunks.at(-1)?.ms).toBe(6_000);
      expect(text).toMatch(endMark[dialect]);
    });

    test("H18: after the commit deadline the headers are sent, and the response still arrives", async () => {
      const { upstream } = harness;
      upstream.play(async (reply) => {
        await harness.clock.sleep(25_000);
        await upstream.stream(beginning[dialect] + ending[dialect])(reply, { url: "", headers: {}, body: "", atMs: 0 });
      });
      const answer = await harness.call(dialect, { stream: true });
      expect(answer.status).toBe(200);
      // genai has no keep-alive to send the headers with; its deadline is the provider's first-byte limit.
      if (dialect === "genai") expect(answer.headMs).toBe(25_000);
      else expect(answer.headMs).toBeWithin(commitDeadlineMs, commitDeadlineMs + TICK_MS + 1);
      expect(answer.text).toMatch(endMark[dialect]);
      expect(answer.text).not.toMatch(errorMark[dialect]);
    });

    test("H15: silence is broken by the protocol's keep-alive, or not at all if it has none", async () => {
      const { upstream } = harness;
      upstream.play(upstream.stream(beginning[dialect], 2 * keepAliveMs - 1_000, ending[dialect]));
      const { text, chunks } = await harness.call(dialect, { stream: true });
      const comment = /^: keep-alive\n\n$/;
      const ping = /^event: ping\ndata: \{"type":"ping"\}\n\n$/;
      const alive = { chat: comment, messages: ping, genai: /^$/, responses: comment }[dialect];
      const sent = chunks.filter((chunk) => alive.test(chunk.text));
      expect(sent).toHaveLength(dialect === "genai" ? 0 : 1);
      for (const { ms } of sent) expect(ms).toBeWithin(keepAliveMs, keepAliveMs + 2 * TICK_MS + 1);
      if (dialect === "genai")
        for (const line of text.split(/\r?\n/)) expect(line === "" || line.startsWith("data: {")).toBe(true);
      expect(text).toMatch(endMark[dialect]);
    });

    test("an upstream that goes silent mid-stream times out after its idle limit, and is ended", async () => {
      const { upstream } = harness;
      upstream.play(upstream.openStream(beginning[dialect]));
      const answer = await harness.call(dialect, { stream: true });
      expect(answer.text).toContain(`sent nothing more for ${IDLE_MS} ms`);
      expect(answer.text).not.toMatch(endMark[dialect]);
      expect(answer.endMs).toBeWithin(IDLE_MS, IDLE_MS + 2 * TICK_MS + 1);
    });

    test("an upstream that never sends a first byte times out after its limit, with a real status", async () => {
      harness.upstream.play(() => {});
      const answer = await harness.call(dialect);
      expect(answer.status).toBe(504);
      expect(errorIn(answer).message).toContain(`sent nothing for ${FIRST_BYTE_MS} ms`);
      expect(answer.endMs).toBeWithin(FIRST_BYTE_MS, FIRST_BYTE_MS + 2 * TICK_MS + 1);
    });

    test("choices 4: an error as the first event of a 200 gets a real status", async () => {
      const first: Record<ScriptedDialect, string> = {
        chat: 'data: {"error":{"message":"The server had an error","type":"server_error","code":null}}\n\n',
        messages: 'event: error\ndata: {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}\n\n',
        genai: 'data: {"error":{"code":503,"message":"The model is overloaded.","status":"UNAVAILABLE"}}\r\n\r\n',
        responses:
          'event: error\ndata: {"type":"error","error":{"message":"The server had an error","type":"server_error"}}\n\n',
      };
      harness.upstream.play(harness.upstream.stream(first[dialect]));
      const { status } = await harness.call(dialect, { stream: true });
      expect(status).toBe({ chat: 502, messages: 529, genai: 503, responses: 502 }[dialect]);
    });

    test("contract: the last byte of a response is sent after its ledger row, and its content is not held back", async () => {
      const { clock, upstream } = harness;
      const { ledger } = harness.gateway;
      const write = ledger.write.bind(ledger);
      const slow = spyOn(ledger, "write").mockImplementation(async (...row) => {
        await clock.sleep(200);
        await write(...row);
      });
      upstream.play(upstream.stream(beginning[dialect], 100, ending[dialect]));
      const answer = await harness.call(dialect, { stream: true });
      slow.mockRestore();
      expect(answer.chunks.find(({ text }) => text.includes("lo, wörld"))?.ms).toBe(0);
      expect(answer.chunks.filter(({ text }) => endMark[dialect].test(text)).map(({ ms }) => ms)).toEqual([300]);
      const receipt = await harness.receipt(answer);
      expect(receipt).toMatchObject({ usage_source: "measured", usage: { input: 10, output: 7 }, lane: "native" });
      expect(receipt.cost_nano_usd).toBe(10 * 1000 + 7 * 2000);
      expect(receipt.stop?.unified).toBe("stop");
    });

    test("H13, H20: a client that reads nothing slows the upstream down, and is eventually dropped", async () => {
      const { clock, upstream } = harness;
      const more: Record<ScriptedDialect, string> = {
        chat: wire.chatChunk({ content: "x".repeat(64 * 1024) }),
        messages: wire.event({
          type: "content_block_delta",
          index: 0,
          delta: { type: "text_delta", text: "x".repeat(64 * 1024) },
        }),
        genai: wire.genaiChunk("x".repeat(64 * 1024)),
        responses: responsesParts(["x".repeat(64 * 1024)]).deltas.join(""),
      };
      let written = 0;
      upstream.play(async (reply) => {
        reply.head(200, { "content-type": "text/event-stream" });
        void reply.write(beginning[dialect]);
        for (; reply.closedAtMs === undefined; written++)
          await Promise.race([reply.write(more[dialect]), reply.closed]);
      });
      const call = harness.send(dialect, { stream: true, readsChunks: 1 });
      await clock.pass(60_000);
      const afterAWhile = written;
      // 128 KB are in transit before it waits.
      expect(afterAWhile).toBeWithin(2, 10);
      expect(call.connection.hungUp).toBe(false);
      // An upstream that is held back is not silent by its own fault.
      await clock.pass(slowReaderMs - 60_000 - 1_000);
      expect([written, upstream.open, call.connection.hungUp]).toEqual([afterAWhile, 1, false]);
      await clock.pass(1_000 + readOnMs + 3 * TICK_MS);
      expect([upstream.open, call.connection.hungUp]).toEqual([0, true]);
      expect((await harness.receipts()).at(-1)).toMatchObject({ usage_source: "partial" });
      call.disconnect();
    });

    test("an upstream that goes silent after its client resumed reading times out as usual", async () => {
      const { clock, upstream } = harness;
      const long = {
        chat: wire.chatChunk({ content: "x".repeat(256 * 1024) }),
        genai: wire.genaiChunk("x".repeat(256 * 1024)),
        responses: responsesParts(["x".repeat(256 * 1024)]).deltas.join(""),
      };
      const more = dialect === "messages" ? wire.textBlock("x".repeat(256 * 1024)) : long[dialect];
      upstream.play(upstream.openStream(beginning[dialect], 100, more));
      const call = harness.send(dialect, { stream: true, readsChunks: 1 });
      await clock.pass(10_000);
      call.goOn();
      const { text, endMs } = await clock.until(call.answer);
      expect(text).toContain(`sent nothing more for ${IDLE_MS} ms`);
      // In genai the error is written twice, a tick apart.
      expect(endMs).toBeWithin(IDLE_MS, IDLE_MS + 10_000 + 4 * TICK_MS);
    });

    test("H20, H22: a client that resumes reading gets everything, in order", async () => {
      const { clock, upstream } = harness;
      const texts = Array.from({ length: 20 }, (_, index) => `${index}:`.padEnd(32 * 1024, "."));
      const chunks: Record<ScriptedDialect, string[]> = {
        chat: texts.map((content) => wire.chatChunk({ content })),
        messages: texts.map((text) =>
          wire.event({ type: "content_block_delta", index: 0, delta: { type: "text_delta", text } }),
        ),
        genai: texts.map((text) => wire.genaiChunk(text)),
        responses: responsesParts(texts).deltas,
      };
      upstream.play(async (reply) => {
        reply.head(200, { "content-type": "text/event-stream" });
        void reply.write(beginning[dialect]);
        for (const chunk of chunks[dialect]) await reply.write(chunk);
        void reply.write(dialect === "responses" ? responsesParts(texts).ended : ending[dialect]);
        reply.end();
      });
      const call = harness.send(dialect, { stream: true, readsChunks: 1 });
      await clock.pass(slowReaderMs / 2);
      call.goOn();
      const { text } = await clock.until(call.answer);
      // One of the protocols repeats everything at its end.
      const read = dialect === "responses" ? text.slice(0, text.indexOf("event: response.output_text.done")) : text;
      expect([...read.matchAll(/(\d+):\.{100}/g)].map(([, index]) => Number(index))).toEqual(
        texts.map((_, index) => index),
      );
      expect(text).toMatch(endMark[dialect]);
    });
  });
}

test("choices 4: a host that answers a stream with plain JSON has failed, with its own error if it is one", async () => {
  const { upstream } = harness;
  upstream.play(upstream.json({ error: { message: "The prompt is too long", type: "invalid_request_error" } }));
  const refused = await harness.call("chat", { stream: true });
  expect([refused.status, errorIn(refused).message]).toEqual([400, "The prompt is too long"]);
  const message = { role: "assistant", content: "hi" };
  upstream.play(upstream.json({ choices: [{ index: 0, message, finish_reason: "stop" }] }));
  const whole = await harness.call("chat", { stream: true });
  expect(whole.status).toBe(502);
  expect(errorIn(whole).message).toContain("did not stream its response");
});

test("nothing follows an error in mid-stream", async () => {
  const { upstream } = harness;
  const error = wire.event({ type: "error", error: { type: "overloaded_error", message: "Overloaded" } });
  upstream.play(upstream.stream(beginning.messages, 50, error + ending.messages));
  const { text } = await harness.call("messages", { stream: true });
  expect(text.trimEnd()).toMatch(/"type":"api_error"[^\n]*$/);
});
