import { describe, expect, test } from "bun:test";
import { SCRIPTED_DIALECTS, type ScriptedDialect } from "../../testing/sampled-dialects.ts";
import { scriptedProvider } from "../../testing/scripted-models.ts";
import { wire } from "../../testing/upstream-wire.ts";
import { callGateway } from "../support/client-calls.ts";
import { scriptedHarness } from "../support/scripted-harness.ts";
import { sendJson, startEvents } from "../support/scripted-upstream.ts";

const { upstream, gateway } = await scriptedHarness();

const call = (client: ScriptedDialect, target: ScriptedDialect, stream: boolean, body: object = {}, headers = {}) =>
  callGateway(gateway.url, client, gateway.key, { model: `test/${target}`, stream, body: { ...body }, headers });

const PAIRS = SCRIPTED_DIALECTS.flatMap((client) => SCRIPTED_DIALECTS.map((target) => [client, target] as const));

describe("choices 6: the receipt of a failed call names the last attempt", () => {
  for (const [client, target] of PAIRS) {
    for (const stream of [false, true]) {
      test(`${client} at ${target}, ${stream ? "streamed" : "whole"}`, async () => {
        upstream.play((_request, response) => void sendJson(response, { error: { message: "no", code: 400 } }, 400));
        const response = await call(client, target, stream);
        expect(response.status).toBe(400);
        await response.text();
        expect(await gateway.receipt(response)).toMatchObject({
          provider: scriptedProvider(target),
          upstream_model: "upstream-model",
          dialect: { client, upstream: target },
          lane: client === target ? "native" : "translated",
          cost_nano_usd: 0,
        });
      });
    }
  }

  test("also for a stream that breaks off after its first content", async () => {
    upstream.play((_request, response) => {
      startEvents(response);
      response.end(wire.messageStart() + wire.textBlock("half"));
    });
    const response = await call("chat", "messages", true);
    await response.text();
    expect(await gateway.receipt(response)).toMatchObject({
      upstream_model: "upstream-model",
      dialect: { client: "chat", upstream: "messages" },
      lane: "translated",
    });
  });
});

describe("choices 6: refusals after admission have a receipt, and headers separate dropped from approximated fields", () => {
  const tooMuch: Readonly<Record<ScriptedDialect, [path: string, body: object]>> = {
    chat: ["max_completion_tokens", { max_completion_tokens: 9000 }],
    messages: ["max_tokens", { max_tokens: 9000 }],
    genai: ["generationConfig.maxOutputTokens", { generationConfig: { maxOutputTokens: 9000 } }],
    responses: ["max_output_tokens", { max_output_tokens: 9000 }],
  };

  for (const client of SCRIPTED_DIALECTS) {
    for (const stream of [false, true]) {
      test(`H09: a strict ${client} call, ${stream ? "streamed" : "whole"}`, async () => {
        const [path, body] = tooMuch[client];
        const response = await call(client, client, stream, body, { "x-trivium-strict": "true" });
        expect(response.status).toBe(400);
        expect(await response.text()).toContain(path);
        const receipt = await gateway.receipt(response);
        expect(receipt.fields).toEqual([{ path, action: "approximated", reason: "the model's limit is 8192" }]);
        expect(response.headers.get("x-trivium-approximated")).toBe(path);
        expect(response.headers.get("x-trivium-dropped")).toBeNull();
      });
    }
  }

  test("a response has both, each under its own name", async () => {
    upstream.play((_request, response) => {
      const message = { id: "msg_1", type: "message", role: "assistant", model: "m", content: [] };
      sendJson(response, { ...message, stop_reason: "end_turn", usage: { input_tokens: 1, output_tokens: 1 } });
    });
    const response = await call("chat", "messages", false, {
      max_completion_tokens: 9000,
      logit_bias: { "1": 2 },
      frequency_penalty: 1,
    });
    expect(response.status).toBe(200);
    await response.text();
    expect(response.headers.get("x-trivium-dropped")?.split(",").sort()).toEqual(["frequency_penalty", "logit_bias"]);
    expect(response.headers.get("x-trivium-approximated")).toBe("max_completion_tokens");
    const { fields } = await gateway.receipt(response);
    expect(fields.map(({ path }) => path).sort()).toEqual(["frequency_penalty", "logit_bias", "max_completion_tokens"]);
  });

  test("an upstream's refusal lists what had been dropped before it", async () => {
    upstream.play(
      (_request, response) =>
        void sendJson(response, { type: "error", error: { type: "invalid_request_error", message: "no" } }, 400),
    );
    const response = await call("chat", "messages", false, { logit_bias: { "1": 2 } });
    expect(response.status).toBe(400);
    await response.text();
    expect(response.headers.get("x-trivium-dropped")).toBe("logit_bias");
    expect(response.headers.get("x-trivium-receipt")).toStartWith("rcp_");
  });
});
