import { describe, expect, test } from "bun:test";
import type { ServerResponse } from "node:http";
import type { DialectName } from "../../src/canon/dialect-name.ts";
import { scriptedModels } from "../../testing/scripted-models.ts";
import { wire } from "../../testing/upstream-wire.ts";
import { callGateway, DIALECTS, errorOf } from "../support/client-calls.ts";
import { scriptedStand } from "../support/scripted-stand.ts";
import { startEvents } from "../support/scripted-upstream.ts";

const { upstream, gateway } = await scriptedStand((url) => {
  const timeout_ms = { first_byte: 5000, idle: 5000, content: 400, total: 1500 };
  const config = scriptedModels(url, timeout_ms) as {
    providers: Record<string, { base_url: string }>;
    models: { id: string; offers: object[] }[];
  };
  const spare = DIALECTS.map((dialect) => {
    const provider = config.providers[`up-${dialect}`];
    return [`spare-${dialect}`, { ...provider, base_url: provider?.base_url.replace(url, `${url}/spare`) }];
  });
  const two = config.models.map((model, place) => ({
    ...model,
    id: `two/${DIALECTS[place]}`,
    offers: ["up", "spare"].map((which) => ({ provider: `${which}-${DIALECTS[place]}`, model: "upstream-model" })),
  }));
  return {
    config: { providers: { ...config.providers, ...Object.fromEntries(spare) }, models: [...config.models, ...two] },
    timings: { afterFinishMs: 300 },
  };
});

/** Everything that hosts send to show that they are there. */
const KEEP_ALIVES: Record<DialectName, string> = {
  chat: `: keep-alive\n\n\n\n${wire.chatChunk({ role: "assistant", content: "" })}${wire.chatChunk({})}`,
  messages: `: x\n\n${wire.event({ type: "ping" })}`,
  genai: ": x\r\n\r\n\r\n",
};
const WORDS = "It was a dark and stormy night.";
const CONTENT: Record<DialectName, string> = {
  chat: wire.chatChunk({ role: "assistant", content: WORDS }),
  messages: wire.messageStart() + wire.textBlock(WORDS),
  genai: wire.genaiChunk(WORDS),
};
const REST: Record<DialectName, string> = {
  chat: wire.chatChunk({}, "stop") + wire.chatUsage({ prompt_tokens: 1, completion_tokens: 1 }) + wire.done,
  messages: wire.messageEnd(),
  genai: wire.genaiChunk(".", "STOP"),
};

/** Writes until the gateway leaves. */
function keepWriting(response: ServerResponse, text: string): void {
  const timer = setInterval(() => response.write(text), 40);
  response.on("close", () => clearInterval(timer));
}

const lanes = DIALECTS.flatMap((client) => DIALECTS.map((host) => [client, host] as const));

/** Whose host a request is for. */
function hostOf(path: string): DialectName {
  if (path.includes("chat/completions")) return "chat";
  return path.endsWith("/messages") ? "messages" : "genai";
}

/** Every client at every host, all at once, since each of them has to wait for a timeout. */
const inEveryLane = (prefix: string, check: (response: Response, host: DialectName) => Promise<void>) =>
  Promise.all(
    lanes.map(async ([client, host]) => {
      const model = `${prefix}/${host}`;
      await check(await callGateway(gateway.url, client, gateway.key, { model, stream: true }), host);
    }),
  );

describe("H28: keep-alives are not life", () => {
  test("in every lane nothing but keep-alives is a timeout, and nobody is asked twice", async () => {
    upstream.play(({ path }, response) => {
      startEvents(response);
      keepWriting(response, KEEP_ALIVES[hostOf(path)]);
    });
    await inEveryLane("test", async (response, host) => {
      const { status, message } = await errorOf(response);
      expect([status, message]).toEqual([504, `Provider \`up-${host}\` sent no content for 400 ms.`]);
    });
    expect(upstream.seen).toHaveLength(lanes.length);
  });

  test("in every lane another offer answers in its place", async () => {
    upstream.play(({ path }, response) => {
      const host = hostOf(path);
      startEvents(response);
      if (path.startsWith("/spare")) response.end(CONTENT[host] + REST[host]);
      else keepWriting(response, KEEP_ALIVES[host]);
    });
    await inEveryLane("two", async (response) => {
      expect(response.status).toBe(200);
      expect(await response.text()).toContain(WORDS);
    });
  });

  test("in every lane they end in an error inside the stream where content came before them", async () => {
    upstream.play(({ path }, response) => {
      startEvents(response);
      response.write(CONTENT[hostOf(path)]);
      keepWriting(response, KEEP_ALIVES[hostOf(path)]);
    });
    await inEveryLane("test", async (response) => {
      expect(response.status).toBe(200);
      const text = await response.text();
      expect(text.indexOf("sent no content for 400 ms")).toBeGreaterThan(text.indexOf(WORDS));
      expect((await gateway.receipt(response)).usage_source).toBe("partial");
    });
  });

  test("blanks before an answer in one piece", async () => {
    upstream.play((_request, response) => {
      response.writeHead(200, { "content-type": "application/json" });
      keepWriting(response, " \n");
    });
    await Promise.all(
      DIALECTS.map(async (dialect) => {
        const { status, message } = await errorOf(await callGateway(gateway.url, dialect, gateway.key));
        expect([status, message]).toEqual([504, `Provider \`up-${dialect}\` sent no content for 400 ms.`]);
      }),
    );
  });

  test("behind the end of the content they do not hold the answer back", async () => {
    upstream.play((_request, response) => {
      startEvents(response);
      response.write(CONTENT.chat + wire.chatChunk({}, "stop"));
      keepWriting(response, ": keep-alive\n\n");
    });
    const response = await callGateway(gateway.url, "chat", gateway.key, { stream: true });
    expect(await response.text()).toEndWith("data: [DONE]\n\n");
  });

  test("the words of a refusal that trickle in are not waited for", async () => {
    upstream.play((_request, response) => {
      response.writeHead(400, { "content-type": "application/json" });
      keepWriting(response, '{"error"');
    });
    expect((await callGateway(gateway.url, "chat", gateway.key)).status).toBe(400);
  });

  test("in every lane an answer without end has a bound", async () => {
    const more: Record<DialectName, string> = {
      chat: wire.chatChunk({ content: "on " }),
      messages: wire.event({ type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "on " } }),
      genai: wire.genaiChunk("on "),
    };
    upstream.play(({ path }, response) => {
      startEvents(response);
      response.write(CONTENT[hostOf(path)]);
      keepWriting(response, more[hostOf(path)]);
    });
    await inEveryLane("test", async (response) => {
      expect(await response.text()).toContain("did not come to the end of its answer within 1500 ms");
    });
  });
});
