import { beforeAll, describe, expect, test } from "bun:test";
import { DEFAULT_TIMINGS } from "../../src/relay/settle/timings.ts";
import { Harness, UPSTREAM_URL } from "../../testing/harness.ts";
import type { Script } from "../../testing/memory-network.ts";
import { SCRIPTED_DIALECTS, type ScriptedDialect } from "../../testing/sampled-dialects.ts";
import { scriptedModels } from "../../testing/scripted-models.ts";
import { errorIn, type ReadAnswer } from "../../testing/sent-call.ts";
import { wire } from "../../testing/upstream-wire.ts";
import { ResponsesScript, responsesUsage } from "../../testing/wires/responses-wire.ts";

/** Until the headers of a stream are sent in any case. */
const CONTENT_MS = 8_000;
const TOTAL_MS = 100_000;
const SILENCE_MS = 20_000;
/** Deadlines are checked ten times a second. */
const TICK_MS = 100;

/** A provider for each dialect: with one name for two, no message could distinguish them. */
function modelsByProvider(timeout_ms: { first_byte: number; idle: number; content?: number; total?: number }) {
  const { providers, models } = scriptedModels(UPSTREAM_URL, timeout_ms) as {
    providers: Record<string, { base_url: string }>;
    models: { id: string; offers: object[] }[];
  };
  const offers = [{ provider: "up-responses", model: "upstream-model", dialect: "responses" }];
  const own = { "up-responses": { base_url: "", ...providers["up-chat"] } };
  return {
    providers: { ...providers, ...own } as Record<string, { base_url: string }>,
    models: [...models, { ...models[0], id: "test/responses", offers }],
  };
}

let harness: Harness;
beforeAll(async () => {
  const timeout_ms = { first_byte: SILENCE_MS, idle: SILENCE_MS, content: CONTENT_MS, total: TOTAL_MS };
  const config = modelsByProvider(timeout_ms);
  const spare = SCRIPTED_DIALECTS.map((dialect) => {
    const provider = config.providers[`up-${dialect}`];
    return [
      `spare-${dialect}`,
      { ...provider, base_url: provider?.base_url.replace(UPSTREAM_URL, `${UPSTREAM_URL}/spare`) },
    ];
  });
  const two = config.models.map((model, index) => ({
    ...model,
    id: `two/${SCRIPTED_DIALECTS[index]}`,
    offers: ["up", "spare"].map((which) => ({ ...model.offers[0], provider: `${which}-${SCRIPTED_DIALECTS[index]}` })),
  }));
  const providers = { ...config.providers, ...Object.fromEntries(spare) };
  harness = await Harness.start({ config: { providers, models: [...config.models, ...two] } });
});

/** Everything that hosts send to show that they are alive. */
const KEEP_ALIVES: Record<ScriptedDialect, string> = {
  chat: `: keep-alive\n\n\n\n${wire.chatChunk({ role: "assistant", content: "" })}${wire.chatChunk({})}`,
  messages: `: x\n\n${wire.event({ type: "ping" })}`,
  genai: ": x\r\n\r\n\r\n",
  responses: `: x\n\n${wire.event({ type: "keepalive" })}`,
};
const WORDS = "It was a dark and stormy night.";
const script = new ResponsesScript();
const CONTENT: Record<ScriptedDialect, string> = {
  chat: wire.chatChunk({ role: "assistant", content: WORDS }),
  messages: wire.messageStart() + wire.textBlock(WORDS),
  genai: wire.genaiChunk(WORDS),
  responses: script.begin() + script.delta(WORDS),
};
const REST: Record<ScriptedDialect, string> = {
  chat: wire.chatChunk({}, "stop") + wire.chatUsage({ prompt_tokens: 1, completion_tokens: 1 }) + wire.done,
  messages: wire.messageEnd(),
  genai: wire.genaiChunk(".", "STOP"),
  responses: script.close() + script.completed(responsesUsage(1, 1)),
};

const lanes = SCRIPTED_DIALECTS.flatMap((client) => SCRIPTED_DIALECTS.map((host) => [client, host] as const));
const ask = (client: ScriptedDialect, model: string): Promise<ReadAnswer> =>
  harness.call(client, { model, stream: true });

describe("H28: keep-alives do not count as content", () => {
  test.each(lanes)(
    "a %s client, a %s host: nothing else is a timeout, and no provider is called twice",
    async (client, host) => {
      harness.upstream.play(harness.upstream.endlessStream(1_000, KEEP_ALIVES[host]));
      const answer = await ask(client, `test/${host}`);
      expect(answer.status).toBe(504);
      expect(errorIn(answer).message).toBe(`Provider \`up-${host}\` sent no content for ${CONTENT_MS} ms.`);
      expect(answer.endMs).toBeWithin(CONTENT_MS, CONTENT_MS + 2 * TICK_MS + 1);
      expect(harness.upstream.requests).toHaveLength(1);
      expect(harness.upstream.open).toBe(0);
    },
  );

  test.each(lanes)("a %s client, a %s host: another offer answers instead", async (client, host) => {
    const { upstream } = harness;
    upstream.play(upstream.endlessStream(1_000, KEEP_ALIVES[host]), upstream.stream(CONTENT[host] + REST[host]));
    const answer = await ask(client, `two/${host}`);
    expect(answer.status).toBe(200);
    expect(answer.text).toContain(WORDS);
    expect(upstream.requests.map(({ url }) => url.includes("/spare"))).toEqual([false, true]);
  });

  test.each(lanes)(
    "a %s client, a %s host: after content they end in an error inside the stream",
    async (client, host) => {
      harness.upstream.play(harness.upstream.endlessStream(1_000, KEEP_ALIVES[host], CONTENT[host]));
      const answer = await ask(client, `test/${host}`);
      expect(answer.status).toBe(200);
      expect(answer.text.indexOf(`sent no content for ${CONTENT_MS} ms`)).toBeGreaterThan(answer.text.indexOf(WORDS));
      expect((await harness.receipt(answer)).usage_source).toBe("partial");
    },
  );

  test.each(SCRIPTED_DIALECTS)(
    "a %s client whose headers were already sent gets the error inside its stream",
    async (client) => {
      const early = await Harness.start({
        config: modelsByProvider({ first_byte: SILENCE_MS, idle: SILENCE_MS, content: CONTENT_MS }),
        timings: { commitDeadlineMs: 2_000, keepAliveMs: 1_000 },
      });
      early.upstream.play(early.upstream.endlessStream(500, KEEP_ALIVES[client]));
      const answer = await early.call(client, { stream: true });
      // A protocol without keep-alives has nothing to send early.
      expect([answer.status, answer.headMs < CONTENT_MS]).toEqual(client === "genai" ? [504, false] : [200, true]);
      expect(answer.text).toContain(`sent no content for ${CONTENT_MS} ms`);
      expect(await early.receipt(answer)).toMatchObject({ cost_nano_usd: 0, offers: [{ reason: "upstream_timeout" }] });
    },
  );

  test.each(SCRIPTED_DIALECTS)("%s: whitespace before a non-streamed response", async (dialect) => {
    harness.upstream.play(trickle(200, " \n"));
    const answer = await harness.call(dialect);
    expect(answer.status).toBe(504);
    expect(errorIn(answer).message).toBe(`Provider \`up-${dialect}\` sent no content for ${CONTENT_MS} ms.`);
  });

  test("after the end of the content they do not delay the response", async () => {
    const { upstream } = harness;
    upstream.play(upstream.endlessStream(1_000, ": keep-alive\n\n", CONTENT.chat + wire.chatChunk({}, "stop")));
    const answer = await ask("chat", "test/chat");
    expect(answer.text).toEndWith("data: [DONE]\n\n");
    expect(answer.endMs).toBeWithin(DEFAULT_TIMINGS.afterFinishMs, DEFAULT_TIMINGS.afterFinishMs + 2 * TICK_MS + 1);
  });

  test("an error body that trickles in is not waited for", async () => {
    harness.upstream.play(trickle(400, '{"error"'));
    const answer = await harness.call("chat");
    expect(answer.status).toBe(400);
    expect(answer.endMs).toBeWithin(DEFAULT_TIMINGS.afterFinishMs, DEFAULT_TIMINGS.afterFinishMs + 2 * TICK_MS + 1);
  });

  test.each(lanes)("a %s client, a %s host: an endless response is bounded", async (client, host) => {
    const more: Record<ScriptedDialect, string> = {
      chat: wire.chatChunk({ content: "on " }),
      messages: wire.event({ type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "on " } }),
      genai: wire.genaiChunk("on "),
      responses: new ResponsesScript().delta("on "),
    };
    harness.upstream.play(harness.upstream.endlessStream(5_000, more[host], CONTENT[host]));
    const answer = await ask(client, `test/${host}`);
    expect(answer.text).toContain(`did not finish its response within ${TOTAL_MS} ms`);
    expect(answer.endMs).toBeWithin(TOTAL_MS, TOTAL_MS + 2 * TICK_MS + 1);
  });
});

/** Sends the same repeatedly under a status, until the gateway stops reading. */
function trickle(status: number, chunk: string): Script {
  return async (reply) => {
    reply.head(status);
    while (reply.closedAtMs === undefined) {
      void reply.write(chunk);
      await Promise.race([harness.clock.sleep(1_000), reply.closed]);
    }
  };
}

describe("H18: a non-streamed response", () => {
  const whole = JSON.stringify({
    id: "chatcmpl-1",
    object: "chat.completion",
    created: 1,
    model: "upstream-model",
    choices: [{ index: 0, message: { role: "assistant", content: "x".repeat(200) }, finish_reason: "stop" }],
    usage: { prompt_tokens: 3, completion_tokens: 5, total_tokens: 8 },
  });
  /** The response in ten parts, with a pause before each. */
  const sendsSlowly =
    (pauseMs: (part: number) => number): Script =>
    async (reply) => {
      reply.head();
      const size = Math.ceil(whole.length / 10);
      for (let part = 0; part < 10; part++) {
        await harness.clock.sleep(pauseMs(part));
        void reply.write(whole.slice(part * size, (part + 1) * size));
      }
      reply.end();
    };

  test("may take longer than any wait, as long as data keeps arriving", async () => {
    harness.upstream.play(sendsSlowly(() => 6_000));
    const answer = await harness.call("chat");
    expect([answer.status, answer.endMs, harness.upstream.requests.length]).toEqual([200, 60_000, 1]);
    expect(answer.text).toContain("x".repeat(200));
  });

  test("times out if it goes silent in the middle, and its upstream is stopped", async () => {
    const patient = await Harness.start({ config: scriptedModels(UPSTREAM_URL, { first_byte: 5_000, idle: 20_000 }) });
    patient.upstream.play((reply) => {
      reply.head();
      void reply.write(whole.slice(0, 100));
    });
    const answer = await patient.call("chat");
    expect(answer.status).toBe(504);
    expect(answer.text).toContain("sent nothing more for 20000 ms");
    expect(patient.upstream.replies.map(({ closedAtMs }) => closedAtMs !== undefined)).toEqual([true]);
  });

  test.each(SCRIPTED_DIALECTS)(
    "H28: %s: if only the content timeout is configured, it has all of it to begin",
    async (dialect) => {
      const { models, providers } = modelsByProvider({ first_byte: SILENCE_MS, idle: SILENCE_MS }) as {
        models: object[];
        providers: Record<string, object>;
      };
      const configured = Object.entries(providers).map(([name, provider]) => [
        name,
        { ...provider, timeout_ms: { content: CONTENT_MS } },
      ]);
      const patient = await Harness.start({ config: { models, providers: Object.fromEntries(configured) } });
      patient.upstream.play(() => {});
      const answer = await patient.call(dialect);
      expect(answer.status).toBe(504);
      expect(answer.text).toContain(`sent nothing for ${CONTENT_MS} ms`);
    },
  );

  test("a streamed one begins with its first word, and has no more time for that than before", async () => {
    const { models, providers } = scriptedModels(UPSTREAM_URL) as {
      models: object[];
      providers: { "up-chat": object };
    };
    const upChat = { ...providers["up-chat"], timeout_ms: { content: 90_000 } };
    const patient = await Harness.start({ config: { models, providers: { ...providers, "up-chat": upChat } } });
    patient.upstream.play(() => {});
    const answer = await patient.call("chat", { stream: true });
    expect(answer.text).toContain("sent nothing for 60000 ms");
  });
});
