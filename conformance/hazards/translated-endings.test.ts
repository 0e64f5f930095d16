import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { ServerResponse } from "node:http";
import { eventFrame, exceptionFrame } from "../../simulator/hosts/bedrock/text/framing.ts";
import type { DialectName } from "../../src/canon/dialect-name.ts";
import { DIALECTS } from "../../testing/build-call.ts";
import { scriptedModels } from "../../testing/scripted-models.ts";
import { wire } from "../../testing/upstream-wire.ts";
import { callGateway, errorOf } from "../support/client-calls.ts";
import { type ScriptedUpstream, sleep, startScriptedUpstream } from "../support/scripted-upstream.ts";
import { startTestGateway, type TestGateway } from "../support/test-gateway.ts";

/** Behind its finish reason a host owes only trimmings, whatever it speaks and whatever its client speaks. */

type Host = DialectName | "converse";

let upstream: ScriptedUpstream;
let gateway: TestGateway;

beforeAll(async () => {
  upstream = await startScriptedUpstream();
  const { providers, models } = scriptedModels(upstream.url) as { providers: object; models: object[] };
  const bedrock = { kind: "bedrock", base_url: upstream.url, api_key: "k" };
  const nova = {
    ...models[0],
    id: "test/converse",
    offers: [{ provider: "up-converse", model: "amazon.nova-pro-v1:0" }],
  };
  gateway = await startTestGateway({
    config: { providers: { ...providers, "up-converse": bedrock }, models: [...models, nova] },
    timings: { afterFinishMs: 300 },
  });
});
afterAll(async () => {
  await gateway.stop();
  await upstream.stop();
});

const frame = (type: string, body: object) => eventFrame(type, JSON.stringify(body));
const converseDelta = (text: string) => frame("contentBlockDelta", { contentBlockIndex: 0, delta: { text } });
const genaiEnd = { candidates: [{ finishReason: "STOP", index: 0 }] };

/** An answer of two pieces; the event with the finish reason; the usage, where it comes behind that; an error. */
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

const END: Record<DialectName, RegExp> = {
  chat: /"finish_reason":"stop"[\s\S]*data: \[DONE\]\n\n$/,
  messages: /"stop_reason":"end_turn"[\s\S]*event: message_stop\ndata: \{"type":"message_stop"\}\n\n$/,
  genai: /"finishReason":"FINISH_REASON_STOP"[\s\S]*\n\n$/,
};

const saidIn = (text: string) => [...text.matchAll(/"(?:content|text)":"([^"]*)"/g)].map(([, said]) => said).join("");

function start(host: Host, response: ServerResponse): (text: string) => void {
  const type = host === "converse" ? "application/vnd.amazon.eventstream" : "text/event-stream";
  response.writeHead(200, { "content-type": type }).flushHeaders();
  return (text) => void response.write(text, host === "converse" ? "latin1" : "utf8");
}

async function ask(
  client: DialectName,
  host: Host,
  play: (write: (text: string) => void, response: ServerResponse) => void | Promise<void>,
): Promise<{ text: string; response: Response; ms: number }> {
  upstream.play((_request, response) => play(start(host, response), response));
  const begunMs = performance.now();
  const response = await callGateway(gateway.url, client, gateway.key, { model: `test/${host}`, stream: true });
  return { text: await response.text(), response, ms: performance.now() - begunMs };
}

const WAYS: Record<string, (response: ServerResponse) => void> = {
  "breaks the connection": (response) => void response.socket?.destroy(),
  "falls silent": () => {},
  closes: (response) => void response.end(),
};

for (const host of Object.keys(HOSTS) as Host[]) {
  const { first, second, finish, usage, error } = HOSTS[host];

  describe.each(DIALECTS)(`a ${host} host and a %s client`, (client) => {
    // This protocol has an event for the end and nothing else; without it the answer was cut.
    const ways = host === "messages" ? [] : Object.entries(WAYS);
    test.each(ways)("H14, H16: whole, when the host %s behind its finish reason", async (_, end) => {
      for (const told of usage === "" ? [""] : [usage, ""]) {
        const { text, response, ms } = await ask(client, host, async (write, upstreamResponse) => {
          write(first);
          await sleep(20);
          write(second);
          await sleep(20);
          write(finish + told);
          await sleep(20);
          end(upstreamResponse);
        });
        expect(saidIn(text)).toBe("Whole answer");
        expect(text).toMatch(END[client]);
        expect(text).not.toContain('"error"');
        expect(ms).toBeLessThan(4_000);
        const receipt = await gateway.receipt(response);
        expect(receipt.stop?.unified).toBe("stop");
        expect(receipt.usage_source).toBe(told === "" ? "estimated" : "measured");
        if (told !== "") expect(receipt.usage).toMatchObject({ input: 10, output: 7 });
        else expect(receipt.usage["output"]).toBeGreaterThan(0);
      }
    });

    test("H16: an error behind the finish reason is told all the same", async () => {
      const { text, response } = await ask(client, host, async (write, upstreamResponse) => {
        write(first + second);
        await sleep(20);
        write(finish);
        await sleep(20);
        write(error);
        upstreamResponse.end();
      });
      expect(text).toContain('"error"');
      expect(text).not.toMatch(END[client]);
      expect((await gateway.receipt(response)).usage_source).toBe("partial");
    });

    test("H22: what comes before the finish reason does not wait for the end", async () => {
      let finished = false;
      upstream.play(async (_request, response) => {
        const write = start(host, response);
        write(first);
        await sleep(20);
        write(second);
        await sleep(400);
        finished = true;
        write(finish + usage);
        response.end();
      });
      const response = await callGateway(gateway.url, client, gateway.key, { model: `test/${host}`, stream: true });
      const decoder = new TextDecoder();
      let text = "";
      for await (const piece of response.body ?? []) {
        text += decoder.decode(piece, { stream: true });
        if (saidIn(text) === "Whole answer") break;
      }
      expect(saidIn(text)).toBe("Whole answer");
      expect(finished).toBe(false);
    });
  });
}

describe("H16: a messages host that does not come to message_stop", () => {
  test.each(DIALECTS)("is an error to a %s client", async (client) => {
    const { first, second, finish } = HOSTS.messages;
    const { text, response } = await ask(client, "messages", (write, upstreamResponse) => {
      write(first + second + finish);
      upstreamResponse.end();
    });
    expect(saidIn(text)).toBe("Whole answer");
    expect(text).toContain('"error"');
    expect(text).not.toMatch(END[client]);
    expect((await gateway.receipt(response)).usage_source).toBe("partial");
  });
});

describe("H16, providers 1.8: a finish reason that says the model made no answer", () => {
  const chunk = (candidate: object) => ({ candidates: [{ index: 0, ...candidate }] });
  const malformed = chunk({ finishReason: "MALFORMED_FUNCTION_CALL", finishMessage: "print(f(" });
  const good = chunk({ content: { role: "model", parts: [{ text: "Whole answer" }] }, finishReason: "STOP" });

  const play = (answers: object[]) =>
    upstream.play((request, response) => {
      const streamed = request.path.includes(":streamGenerateContent");
      const answer = JSON.stringify(answers[upstream.seen.length - 1] ?? malformed);
      response.writeHead(200, { "content-type": streamed ? "text/event-stream" : "application/json" });
      response.end(streamed ? `data: ${answer}\n\n` : answer);
    });

  for (const client of ["chat", "messages"] as const) {
    test.each([false, true])(
      `is a failure to a ${client} client, and tried once more; streamed: %p`,
      async (stream) => {
        const ask = () => callGateway(gateway.url, client, gateway.key, { model: "test/genai", stream });
        play([malformed, good]);
        const second = await ask();
        expect(saidIn(await second.text())).toBe("Whole answer");
        expect((await gateway.receipt(second)).offers.map(({ outcome }) => outcome)).toEqual(["failed", "answered"]);
        play([]);
        const failed = await errorOf(await ask());
        expect(failed.status).toBe(502);
        expect(failed.message).toContain("MALFORMED_FUNCTION_CALL");
        expect(failed.message).toContain("print(f(");
      },
    );
  }
});
