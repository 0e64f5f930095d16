import { describe, expect, test } from "bun:test";
import { SCRIPTED_DIALECTS, type ScriptedDialect } from "../../testing/sampled-dialects.ts";
import { wire } from "../../testing/upstream-wire.ts";
import { ResponsesScript } from "../../testing/wires/responses-wire.ts";
import { callGateway } from "../support/client-calls.ts";
import { scriptedHarness } from "../support/scripted-harness.ts";
import { startEvents } from "../support/scripted-upstream.ts";

const { upstream, gateway } = await scriptedHarness();

const WORDS = "It was a dark and stormy night.";

const script = new ResponsesScript();
/** The first content of each dialect's host. */
const CONTENT: Record<ScriptedDialect, string> = {
  chat: wire.chatChunk({ role: "assistant", content: WORDS }),
  messages: wire.messageStart() + wire.textBlock(WORDS),
  genai: wire.genaiChunk(WORDS),
  responses: script.begin() + script.delta(WORDS),
};

/** How each of them reports its failure. */
const ERROR: Record<ScriptedDialect, string> = {
  chat: 'data: {"error":{"message":"The server had an error","type":"server_error","code":null}}\n\n',
  messages: wire.event({ type: "error", error: { type: "overloaded_error", message: "Overloaded" } }),
  genai: 'data: {"error":{"code":503,"message":"The model is overloaded.","status":"UNAVAILABLE"}}\r\n\r\n',
  responses: wire.event({ type: "error", error: { type: "server_error", message: "The server had an error" } }),
};

const ENDS: Record<ScriptedDialect, RegExp> = {
  chat: /\[DONE\]|"finish_reason":"\w/,
  messages: /message_stop|"stop_reason":"\w/,
  genai: /"finishReason":"\w/,
  responses: /event: response\.(?:completed|incomplete)/,
};

const lanes = SCRIPTED_DIALECTS.flatMap((client) => SCRIPTED_DIALECTS.map((host) => [client, host] as const));

describe("H31, H17: content and an error in one read are both delivered, in order, by one billed call", () => {
  const endings = {
    "an error event": (host: ScriptedDialect) => ERROR[host],
    "an event that is not JSON": () => "data: {oh no\n\n",
  };
  for (const [what, ending] of Object.entries(endings)) {
    test.each(lanes)(`%s client, %s host: ${what}`, async (client, host) => {
      upstream.play((_request, response) => {
        startEvents(response);
        response.end(CONTENT[host] + ending(host));
      });
      const response = await callGateway(gateway.url, client, gateway.key, { model: `test/${host}`, stream: true });
      expect(response.status).toBe(200);
      const text = await response.text();
      expect(text).toContain(WORDS);
      expect(text.search(/"error":(?!null)/)).toBeGreaterThan(text.indexOf(WORDS));
      expect(text).not.toMatch(ENDS[client]);
      expect(upstream.seen).toHaveLength(1);
      const receipt = await gateway.receipt(response);
      expect(receipt.offers).toHaveLength(1);
      expect(receipt.usage_source).toBe("partial");
      expect(receipt.cost_nano_usd).toBeGreaterThan(0);
    });
  }

  test("an error without prior content is only a failure of the offer", async () => {
    for (const [client, host] of lanes) {
      upstream.play((_request, response) => {
        startEvents(response);
        response.end((host === "messages" ? wire.messageStart() : "") + ERROR[host]);
      });
      const response = await callGateway(gateway.url, client, gateway.key, { model: `test/${host}`, stream: true });
      expect(response.status).toBeGreaterThanOrEqual(500);
      const { cost_nano_usd, offers } = await gateway.receipt(response);
      expect([cost_nano_usd, upstream.seen.length]).toEqual([0, offers.length]);
    }
  });
});
