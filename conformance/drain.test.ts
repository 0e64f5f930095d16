import { afterAll, beforeAll, expect, test } from "bun:test";
import { eventually } from "../testing/eventually.ts";
import { SCRIPTED_DIALECTS } from "../testing/sampled-dialects.ts";
import { modelsOfEveryDialect } from "../testing/scripted-models.ts";
import { wire } from "../testing/upstream-wire.ts";
import { ResponsesScript } from "../testing/wires/responses-wire.ts";
import { callGateway } from "./support/client-calls.ts";
import { type ScriptedUpstream, sendJson, startEvents, startScriptedUpstream } from "./support/scripted-upstream.ts";
import { startTestGateway } from "./support/test-gateway.ts";

const script = new ResponsesScript();
const BEGINNING = {
  chat: wire.chatChunk({ content: "Hel" }),
  messages: wire.messageStart() + wire.textBlock("Hel"),
  genai: wire.genaiChunk("Hel"),
  responses: script.begin() + script.delta("Hel"),
};
const ERROR = {
  chat: /"error":\{"message"/,
  messages: /event: error/,
  genai: /"error":\{"code":503/,
  responses: /event: error\n.*\n\nevent: response\.failed\n.*\n\n$/,
};
const WORDS = "This gateway is shutting down";

let upstream: ScriptedUpstream;
beforeAll(async () => {
  upstream = await startScriptedUpstream();
});
afterAll(() => upstream.stop());

async function startAndCall(drainSeconds: number) {
  const gateway = await startTestGateway({
    config: {
      server: { drain_seconds: drainSeconds },
      ...modelsOfEveryDialect(upstream.url),
    },
  });
  // Streams that stop in the middle, and responses that never arrive.
  upstream.play((request, response) => {
    const dialect = SCRIPTED_DIALECTS.find((name) =>
      request.path.includes({ chat: "chat", messages: "messages", genai: ":stream", responses: "/responses" }[name]),
    );
    if (!/"stream":true|:stream/.test(request.path + request.body) || dialect === undefined) return;
    startEvents(response);
    response.write(BEGINNING[dialect]);
  });
  const calls = SCRIPTED_DIALECTS.map(async (dialect) => {
    const response = await callGateway(gateway.url, dialect, gateway.key, { stream: true });
    const wholly = callGateway(gateway.url, dialect, gateway.key, { stream: false });
    return { dialect, text: response.text(), wholly };
  });
  return { gateway, calls: await Promise.all(calls) };
}

test("H16, choices 4: calls that outlast the drain end with an error in their own protocol", async () => {
  const { gateway, calls } = await startAndCall(0.3);
  await eventually("all calls to be upstream", () => upstream.open === 2 * SCRIPTED_DIALECTS.length);
  const stopped = gateway.app.stop();
  for (const { dialect, text, wholly } of calls) {
    expect(await text).toMatch(ERROR[dialect]);
    expect(await text).toContain(WORDS);
    const answer = await wholly;
    expect(answer.status).toBe(dialect === "messages" ? 529 : 503);
    expect(await answer.text()).toContain(WORDS);
  }
  await stopped;
});

test("choices 7: a second signal skips the drain", async () => {
  const { gateway, calls } = await startAndCall(3_000);
  const hurry = new AbortController();
  const stopped = gateway.app.stop(hurry.signal);
  await eventually("the drain", async () => (await fetch(`${gateway.url}/readyz`)).status === 503);
  hurry.abort();
  for (const { text } of calls) expect(await text).toContain(WORDS);
  await stopped;
});

test("choices 7: during the drain delay calls are accepted while readiness fails; then connections are refused, and none is reset", async () => {
  const gateway = await startTestGateway({
    config: {
      server: { drain_delay_seconds: 0.6, drain_seconds: 2 },
      ...modelsOfEveryDialect(upstream.url),
    },
  });
  const message = { role: "assistant", content: "hello" };
  const answer = { id: "1", object: "chat.completion", choices: [{ index: 0, finish_reason: "stop", message }] };
  upstream.play((_request, response) => void sendJson(response, answer));
  const call = () => callGateway(gateway.url, "chat", gateway.key);
  const before = await call();
  expect([before.status, before.headers.get("connection")]).toEqual([200, null]);

  const endings: (number | string)[] = [];
  let takenWhileDraining = 0;
  /** Each continues until it is sent elsewhere. */
  const callers = Array.from({ length: 8 }, async () => {
    for (;;) {
      const response = await call().catch((error: Error & { code?: string }) => error.code ?? String(error));
      if (typeof response === "string") return void endings.push(response);
      await response.text();
      if (response.status !== 200) return void endings.push(response.status);
      if (response.headers.get("connection") === "close") takenWhileDraining++;
    }
  });
  await eventually("all callers to call", () => upstream.seen.length > callers.length);
  const stopped = gateway.app.stop();
  const ready = await fetch(`${gateway.url}/readyz`);
  expect([ready.status, await ready.text()]).toEqual([503, expect.stringContaining("draining")]);
  await Promise.all(callers);
  await stopped;
  expect(takenWhileDraining).toBeGreaterThan(0);
  for (const ending of endings) expect(["ConnectionRefused", "ECONNREFUSED", 503]).toContain(ending);
  expect(endings).toHaveLength(8);
});
