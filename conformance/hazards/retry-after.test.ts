import { describe, expect, test } from "bun:test";
import { scriptedModels } from "../../testing/scripted-models.ts";
import { callGateway, DIALECTS } from "../support/client-calls.ts";
import { scriptedStand } from "../support/scripted-stand.ts";
import { sendJson } from "../support/scripted-upstream.ts";

const { upstream, gateway } = await scriptedStand((url) => {
  const config = scriptedModels(url) as {
    providers: Record<string, object>;
    models: { id: string; offers: object[] }[];
  };
  const [model] = config.models;
  const offers = ["up-chat", "up-second"].map((provider) => ({ provider, model: "upstream-model" }));
  return {
    config: {
      providers: { ...config.providers, "up-second": { ...config.providers["up-chat"], base_url: `${url}/second/v1` } },
      models: [...config.models, { ...model, id: "test/two", offers }],
    },
  };
});

const answer = {
  choices: [{ index: 0, message: { role: "assistant", content: "hi" }, finish_reason: "stop" }],
  usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
};

/** How many whole seconds a client is told to wait. */
const toldSeconds = (response: Response) => Number(response.headers.get("retry-after"));

describe("H19: a provider's Retry-After is heeded, and passed on", () => {
  test.each(
    DIALECTS.flatMap((dialect) =>
      [503, 529, 429].flatMap((status) => [true, false].map((stream) => [dialect, status, stream] as const)),
    ),
  )(
    "%s, HTTP %d, streaming %p: a long one is not waited for, and nobody is asked again",
    async (dialect, status, stream) => {
      upstream.play(
        (_request, response) =>
          void sendJson(response, { error: { message: "busy" } }, status, { "retry-after": "30" }),
      );
      const response = await callGateway(gateway.url, dialect, gateway.key, { stream });
      expect([response.ok, toldSeconds(response), upstream.seen.length]).toEqual([false, 30, 1]);
      await response.text();
    },
  );

  test("a date is read by the clock on the wall", async () => {
    const at = new Date(Date.now() + 40_000).toUTCString();
    upstream.play((_request, response) => void sendJson(response, {}, 503, { "retry-after": at }));
    const response = await callGateway(gateway.url, "chat", gateway.key);
    expect(toldSeconds(response)).toBeWithin(30, 41);
    expect(upstream.seen).toHaveLength(1);
  });

  test("what is longer than a minute is told as a minute", async () => {
    upstream.play((_request, response) => void sendJson(response, {}, 503, { "retry-after": "86400" }));
    expect(toldSeconds(await callGateway(gateway.url, "chat", gateway.key))).toBe(60);
  });

  test("a short one is waited for before the same offer is tried again", async () => {
    const atMs: number[] = [];
    upstream.play((_request, response) => {
      atMs.push(performance.now());
      if (atMs.length > 1) sendJson(response, answer);
      else sendJson(response, {}, 503, { "retry-after": "1" });
    });
    const response = await callGateway(gateway.url, "chat", gateway.key);
    expect(response.status).toBe(200);
    expect((atMs[1] ?? 0) - (atMs[0] ?? 0)).toBeGreaterThanOrEqual(990);
  });

  test("another offer is asked at once instead", async () => {
    upstream.play((request, response) => {
      if (request.path.startsWith("/second")) sendJson(response, answer);
      else sendJson(response, {}, 503, { "retry-after": "30" });
    });
    const response = await callGateway(gateway.url, "chat", gateway.key, { model: "test/two" });
    expect(response.status).toBe(200);
    expect(upstream.seen.map(({ path }) => path.startsWith("/second"))).toEqual([false, true]);
  });
});
