import { beforeAll, describe, expect, test } from "bun:test";
import { eventFrame, exceptionFrame } from "../../simulator/hosts/bedrock/text/framing.ts";
import { Harness, UPSTREAM_URL } from "../../testing/harness.ts";
import type { Reply } from "../../testing/memory-exchange.ts";
import type { Script } from "../../testing/memory-network.ts";
import { type SampledDialect, SCRIPTED_DIALECTS, type ScriptedDialect } from "../../testing/sampled-dialects.ts";
import { scriptedModels } from "../../testing/scripted-models.ts";
import { errorIn } from "../../testing/sent-call.ts";
import { wire } from "../../testing/upstream-wire.ts";

/** After its finish reason a host owes only trailers, whatever it and its client speak. */

type Host = SampledDialect | "converse";

let harness: Harness;
beforeAll(async () => {
  const { providers, models } = scriptedModels(UPSTREAM_URL) as { providers: object; models: object[] };
  const bedrock = { kind: "bedrock", base_url: UPSTREAM_URL, api_key: "k" };
  const nova = {
    ...models[0],
    id: "test/converse",
    offers: [{ provider: "up-converse", model: "amazon.nova-pro-v1:0" }],
  };
  const config = { providers: { ...providers, "up-converse": bedrock }, models: [...models, nova] };
  harness = await Harness.start({ config, timings: { afterFinishMs: AFTER_FINISH_MS } });
});

/** Shorter than the silence that an upstream is allowed. */
const AFTER_FINISH_MS = 300;

const frame = (type: string, body: object) => eventFrame(type, JSON.stringify(body));
const converseDelta = (text: string) => frame("contentBlockDelta", { contentBlockIndex: 0, delta: { text } });
const genaiEnd = { candidates: [{ finishReason: "STOP", index: 0 }] };

/** A response of two chunks; the event with the finish reason; the usage, if it comes after that; an error. */
const HOSTS: Record<Host, { first: string; second: string; finish: string; usage: string; error: string }> = {
  chat: {
    first: wire.chatChunk({ content: "Whole " }),
    second: wire.chatChunk({ content: "answer" }),
    finish: wire.chatChunk({}, "stop"),
    usage: wire.chatUsage({ prompt_tokens: 10, completion_tokens: 7, total_tokens: 17 }),
    error: 'data: {"error":{"message":"too late","code":500}}\n\n',
  },
  messages: {
    first: wire.messageStart() + wire.textBlock("Whole "),
    second: wire.event({ type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "answer" } }),
    finish: wire.messageEnd().replace(wire.event({ type: "message_stop" }), ""),
    usage: "",
    error: wire.event({ type: "error", error: { type: "api_error", message: "too late" } }),
  },
  genai: {
    first: `data: ${JSON.stringify({ candidates: [{ content: { role: "model", parts: [{ text: "Whole " }] } }] })}\n\n`,
    second: `data: ${JSON.stringify({ candidates: [{ content: { role: "model", parts: [{ text: "answer" }] } }] })}\n\n`,
    finish: `data: ${JSON.stringify(genaiEnd)}\n\n`,
    usage: `data: ${JSON.stringify({ usageMetadata: { promptTokenCount: 10, candidatesTokenCount: 7, totalTokenCount: 17 } })}\n\n`,
    error: 'data: {"error":{"code":500,"message":"too late","status":"INTERNAL"}}\n\n',
  },
  converse: {
    first: frame("messageStart", { role: "assistant" }) + converseDelta("Whole "),
    second: converseDelta("answer"),
    finish: frame("contentBlockStop", { contentBlockIndex: 0 }) + frame("messageStop", { stopReason: "end_turn" }),
    usage: "",
    error: exceptionFrame("internalServerException", "too late"),
  },
};

const END: Record<ScriptedDialect, RegExp> = {
  chat: /"finish_reason":"stop"[\s\S]*data: \[DONE\]\n\n$/,
  messages: /"stop_reason":"end_turn"[\s\S]*event: message_stop\ndata: \{"type":"message_stop"\}\n\n$/,
  genai: /"finishReason":"FINISH_REASON_STOP"[\s\S]*\n\n$/,
  responses: /event: response\.completed\ndata: \{[^\n]*"status":"completed"[^\n]*\}\n\n$/,
};

/** A Responses stream repeats everything at its end: only its deltas count. */
const saidIn = (text: string) => {
  const words = text.includes("event: response.") ? /"delta":"([^"]*)"/g : /"(?:content|text)":"([^"]*)"/g;
  return [...text.matchAll(words)].map(([, said]) => said).join("");
};

const TYPES = { converse: "application/vnd.amazon.eventstream", others: "text/event-stream" };

/** A host that sends its chunks with pauses, and then does something. */
const plays =
  (host: Host, chunks: readonly string[], then: (reply: Reply) => void): Script =>
  async (reply) => {
    reply.head(200, { "content-type": host === "converse" ? TYPES.converse : TYPES.others });
    for (const [index, chunk] of chunks.entries()) {
      if (index > 0) await harness.clock.sleep(BETWEEN_MS);
      void reply.write(Buffer.from(chunk, host === "converse" ? "latin1" : "utf8"));
    }
    await harness.clock.sleep(BETWEEN_MS);
    then(reply);
  };
const BETWEEN_MS = 20;

const ask = (client: ScriptedDialect, host: Host, chunks: readonly string[], then: (reply: Reply) => void) => {
  harness.upstream.play(plays(host, chunks, then));
  return harness.call(client, { model: `test/${host}`, stream: true });
};

const WAYS: Record<string, (reply: Reply) => void> = {
  "breaks the connection": (reply) => reply.fail("broken"),
  "falls silent": () => {},
  closes: (reply) => reply.end(),
};

for (const host of Object.keys(HOSTS) as Host[]) {
  const { first, second, finish, usage, error } = HOSTS[host];

  describe.each(SCRIPTED_DIALECTS)(`a ${host} host and a %s client`, (client) => {
    // This protocol has only one event for the end; without it the response was cut.
    const ways = host === "messages" ? [] : Object.entries(WAYS);
    test.each(ways)("H14, H16: complete, when the host %s after its finish reason", async (way, end) => {
      for (const reported of usage === "" ? [""] : [usage, ""]) {
        const answer = await ask(client, host, [first, second, finish + reported], end);
        expect(saidIn(answer.text)).toBe("Whole answer");
        expect(answer.text).toMatch(END[client]);
        expect(answer.text).not.toMatch(/"error":(?!null)/);
        // Missing data is awaited for the configured time, and no longer.
        const lastMs = 2 * BETWEEN_MS;
        if (way === "falls silent")
          expect(answer.endMs).toBeWithin(lastMs + AFTER_FINISH_MS, lastMs + AFTER_FINISH_MS + 201);
        else expect(answer.endMs).toBe(lastMs + BETWEEN_MS);
        const receipt = await harness.receipt(answer);
        expect(receipt.stop?.unified).toBe("stop");
        expect(receipt.usage_source).toBe(reported === "" ? "estimated" : "measured");
        if (reported !== "") expect(receipt.usage).toMatchObject({ input: 10, output: 7 });
        else expect(receipt.usage["output"]).toBeGreaterThan(0);
      }
    });

    test("H16: an error after the finish reason is still reported", async () => {
      const answer = await ask(client, host, [first + second, finish, error], (reply) => reply.end());
      expect(answer.text).toMatch(/"error":(?!null)/);
      expect(answer.text).not.toMatch(END[client]);
      expect((await harness.receipt(answer)).usage_source).toBe("partial");
    });

    test("H22: what comes before the finish reason does not wait for the end", async () => {
      const { chunks } = await ask(client, host, [first, second, finish + usage], (reply) => reply.end());
      const saidBy = (ms: number) => saidIn(chunks.flatMap((chunk) => (chunk.ms <= ms ? [chunk.text] : [])).join(""));
      expect([saidBy(0), saidBy(BETWEEN_MS)]).toEqual(["Whole ", "Whole answer"]);
    });
  });
}

describe("H16: a messages host that never sends message_stop", () => {
  test.each(SCRIPTED_DIALECTS)("is an error to a %s client", async (client) => {
    const { first, second, finish } = HOSTS.messages;
    const answer = await ask(client, "messages", [first + second + finish], (reply) => reply.end());
    expect(saidIn(answer.text)).toBe("Whole answer");
    expect(answer.text).toMatch(/"error":(?!null)/);
    expect(answer.text).not.toMatch(END[client]);
    expect((await harness.receipt(answer)).usage_source).toBe("partial");
  });
});

describe("H16, providers 1.8: a finish reason that says the model produced nothing", () => {
  const chunk = (candidate: object) => ({ candidates: [{ index: 0, ...candidate }] });
  const malformed = chunk({ finishReason: "MALFORMED_FUNCTION_CALL", finishMessage: "print(f(" });
  const good = chunk({ content: { role: "model", parts: [{ text: "Whole answer" }] }, finishReason: "STOP" });

  const play = (...answers: object[]) =>
    harness.upstream.play(
      ...answers.map(
        (answer): Script =>
          (reply, request) => {
            const streamed = request.url.includes(":streamGenerateContent");
            const text = JSON.stringify(answer);
            reply.head(200, { "content-type": streamed ? TYPES.others : "application/json" });
            void reply.write(streamed ? `data: ${text}\n\n` : text);
            reply.end();
          },
      ),
    );

  for (const client of ["chat", "messages"] as const) {
    test.each([false, true])(`is a failure to a ${client} client, and retried once; streamed: %p`, async (stream) => {
      play(malformed, good);
      const second = await harness.call(client, { model: "test/genai", stream });
      expect(saidIn(second.text)).toBe("Whole answer");
      expect((await harness.receipt(second)).offers.map(({ outcome }) => outcome)).toEqual(["failed", "answered"]);
      play(malformed);
      const failed = await harness.call(client, { model: "test/genai", stream });
      expect(failed.status).toBe(502);
      expect(errorIn(failed).message).toContain("MALFORMED_FUNCTION_CALL");
      expect(errorIn(failed).message).toContain("print(f(");
    });
  }
});
