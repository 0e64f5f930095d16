import { describe, expect, test } from "bun:test";
import type { ServerResponse } from "node:http";
import { buildCall } from "../../testing/build-call.ts";
import { scriptedModels } from "../../testing/scripted-models.ts";
import { beginCall, callGateway, errorOf } from "../support/client-calls.ts";
import { scriptedHarness } from "../support/scripted-harness.ts";
import { sendJson } from "../support/scripted-upstream.ts";

const { upstream, gateway } = await scriptedHarness((url) => ({
  config: scriptedModels(url),
  timings: { afterFinishMs: 300, bodyStallMs: 300 },
}));

const answer = {
  choices: [{ index: 0, message: { role: "assistant", content: "hi" }, finish_reason: "stop" }],
  usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
};

describe("H19: a refusal is what its status says, whatever happened to its body", () => {
  const refuse = (response: ServerResponse, headers: Record<string, string> = {}) =>
    response.writeHead(429, { "retry-after": "7", "content-type": "application/json", ...headers });
  const ways: Record<string, (response: ServerResponse) => void> = {
    "said to be compressed, and empty": (response) =>
      void refuse(response, { "content-encoding": "gzip", "content-length": "0" }).end(),
    "compressed with an unknown encoding": (response) =>
      void refuse(response, { "content-encoding": "zstd" }).end("(µ/ý"),
    "cut short": (response) => {
      refuse(response, { "content-length": "500" }).write('{"error":', () => response.socket?.destroy());
    },
    "larger than anything honest": (response) => void refuse(response).end("x".repeat(300_000)),
    "never whole": (response) => void refuse(response, { "content-length": "500" }).write('{"error":'),
  };
  test.each(Object.entries(ways))("%s", async (_, play) => {
    upstream.play((_request, response) => play(response));
    const response = await callGateway(gateway.url, "chat", gateway.key);
    expect(response.headers.get("retry-after")).toBe("7");
    expect(await errorOf(response)).toMatchObject({ status: 429, type: "rate_limit_error" });
    expect(upstream.seen).toHaveLength(1);
  });
});

test("decision 0009: a response labelled as compressed but plain is read as plain", async () => {
  upstream.play((_request, response) => void sendJson(response, answer, 200, { "content-encoding": "none" }));
  const response = await callGateway(gateway.url, "chat", gateway.key);
  expect(response.status).toBe(200);
  expect(upstream.seen).toHaveLength(1);
});

test("H20: a body that stalls is refused, and its connection is closed", async () => {
  const socket = beginCall(buildCall(gateway.url, "chat", gateway.key), 1000);
  socket.write('{"model":');
  let text = "";
  for await (const part of socket) text += part;
  expect(text).toStartWith("HTTP/1.1 400");
  expect(text).toContain("stopped arriving");
});
