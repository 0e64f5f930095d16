import { expect, test } from "bun:test";
import { scriptedModels } from "../../testing/scripted-models.ts";
import { callGateway, DIALECTS } from "../support/client-calls.ts";
import { scriptedStand } from "../support/scripted-stand.ts";
import { sleep } from "../support/scripted-upstream.ts";
import { startTestGateway } from "../support/test-gateway.ts";

const WAIT_MS = 400;
const { upstream, gateway } = await scriptedStand((url) => ({
  config: scriptedModels(url, { first_byte: WAIT_MS, idle: WAIT_MS }),
}));

const answer = JSON.stringify({
  id: "chatcmpl-1",
  object: "chat.completion",
  created: 1,
  model: "upstream-model",
  choices: [{ index: 0, message: { role: "assistant", content: "x".repeat(200) }, finish_reason: "stop" }],
  usage: { prompt_tokens: 3, completion_tokens: 5, total_tokens: 8 },
});

/** The answer in ten pieces of a declared whole, with a pause before each. */
const sendSlowly = (pauseMs: (piece: number) => number) =>
  upstream.play(async (_request, response) => {
    response.writeHead(200, { "content-type": "application/json", "content-length": answer.length });
    response.flushHeaders();
    const size = Math.ceil(answer.length / 10);
    for (let piece = 0; piece < 10; piece++) {
      await sleep(pauseMs(piece));
      response.write(answer.slice(piece * size, (piece + 1) * size));
    }
    response.end();
  });

test("H18: an answer in one piece may take longer than any wait, as long as it goes on coming", async () => {
  sendSlowly(() => WAIT_MS / 4);
  const response = await callGateway(gateway.url, "chat", gateway.key, { stream: false });
  expect(response.status).toBe(200);
  expect(await response.text()).toContain("x".repeat(200));
  expect(upstream.seen.length).toBe(1);
});

test("H18: silence in the middle of it is a timeout, and stops the upstream", async () => {
  sendSlowly((piece) => (piece === 5 ? WAIT_MS * 10 : 5));
  const response = await callGateway(gateway.url, "chat", gateway.key, { stream: false });
  expect(response.status).toBe(504);
  expect(await response.text()).toContain(`fell silent for ${WAIT_MS} ms`);
  // The host learns of it from its socket, a moment later.
  for (let waited = 0; upstream.left === 0 && waited < 2_000; waited += 10) await Bun.sleep(10);
  expect(upstream.left).toBeGreaterThan(0);
});

test("H18, H28: where only the time without content is configured, an answer in one piece has all of it to begin", async () => {
  const { models, providers } = scriptedModels(upstream.url) as { models: object[]; providers: Record<string, object> };
  const configured = Object.entries(providers).map(([name, provider]) => [
    name,
    { ...provider, timeout_ms: { content: WAIT_MS } },
  ]);
  const patient = await startTestGateway({ config: { models, providers: Object.fromEntries(configured) } });
  upstream.play(() => {});
  for (const dialect of DIALECTS) {
    const response = await callGateway(patient.url, dialect, patient.key, { stream: false });
    expect(response.status).toBe(504);
    expect(await response.text()).toContain(`sent nothing for ${WAIT_MS} ms`);
  }
  await patient.stop();
});
