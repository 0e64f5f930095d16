import { describe, expect, test } from "bun:test";
import { buildCall } from "../../testing/build-call.ts";
import { type SampledDialect, SCRIPTED_DIALECTS } from "../../testing/sampled-dialects.ts";
import { modelsOfEveryDialect } from "../../testing/scripted-models.ts";
import { TEST_KEY } from "../../testing/test-key.ts";
import { wire } from "../../testing/upstream-wire.ts";
import { callGateway } from "../support/client-calls.ts";
import { scriptedHarness } from "../support/scripted-harness.ts";
import { sendJson, startEvents } from "../support/scripted-upstream.ts";

const LIMITED = `sk-trv-${"KeyWithLimits".padEnd(43, "x")}`;
const BROKE = `sk-trv-${"KeyWithoutMoney".padEnd(43, "x")}`;
const { upstream, gateway } = await scriptedHarness((url) => ({
  config: {
    ...modelsOfEveryDialect(url),
    keys: [
      { name: "tests", key: TEST_KEY },
      { name: "limited", key: LIMITED, limits: { requests_per_minute: 2, tokens_per_minute: 100_000 } },
      { name: "broke", key: BROKE, limits: { budget_usd_per_day: 0.000_000_001 } },
    ],
  },
}));

/** The headers of a call, with only the keys that a test sets. */
async function call(dialect: SampledDialect, keys: Record<string, string>, stream = false): Promise<Response> {
  const [url, init] = buildCall(gateway.url, dialect, gateway.key, { stream });
  const { authorization: _bearer, "x-api-key": _key, ...headers } = init.headers as Record<string, string>;
  return fetch(url, { ...init, headers: { ...headers, ...keys } });
}

function answer(): void {
  const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 };
  upstream.play(({ path, body }, response) => {
    if (path.includes("streamGenerateContent")) {
      startEvents(response);
      response.end(wire.genaiChunk("a") + wire.genaiChunk("b", "STOP"));
    } else if (path.includes(":")) {
      sendJson(response, {
        candidates: [{ content: { role: "model", parts: [{ text: "ok" }] }, finishReason: "STOP" }],
      });
    } else if (path.includes("/messages")) {
      const message = { id: "m", type: "message", role: "assistant", content: [], stop_reason: "end_turn" };
      sendJson(response, { ...message, usage: { input_tokens: 1, output_tokens: 1 } });
    } else {
      expect(JSON.parse(body)).toHaveProperty("messages");
      const message = { role: "assistant", content: "ok" };
      sendJson(response, { id: "c", choices: [{ index: 0, message, finish_reason: "stop" }], usage });
    }
  });
}

describe("choices 2: of several keys, the one in the protocol's own header counts", () => {
  const right = gateway.key;
  const wrong = "sk-trv-wrong";
  const CASES: readonly [SampledDialect, string, Record<string, string>, number][] = [
    ["chat", "Bearer before the others", { authorization: `Bearer ${right}`, "x-api-key": wrong }, 200],
    ["chat", "a wrong Bearer is not made good", { authorization: `Bearer ${wrong}`, "x-api-key": right }, 401],
    ["chat", "only another header", { "x-goog-api-key": right }, 200],
    ["messages", "x-api-key before the others", { "x-api-key": right, authorization: `Bearer ${wrong}` }, 200],
    ["messages", "a wrong x-api-key is not made good", { "x-api-key": wrong, authorization: `Bearer ${right}` }, 401],
    ["messages", "only Bearer", { authorization: `Bearer ${right}` }, 200],
    ["genai", "Bearer before the others", { authorization: `Bearer ${right}`, "x-goog-api-key": wrong }, 200],
    ["genai", "x-goog-api-key before x-api-key", { "x-goog-api-key": right, "x-api-key": wrong }, 200],
    ["genai", "a wrong x-goog-api-key is not made good", { "x-goog-api-key": wrong, "x-api-key": right }, 401],
    ["genai", "only x-api-key", { "x-api-key": right }, 200],
  ];
  test.each(CASES)("%s: %s", async (dialect, _, keys, status) => {
    answer();
    const response = await call(dialect, keys);
    expect([response.status, await response.text()]).toEqual([status, expect.any(String)]);
  });

  test.each([...SCRIPTED_DIALECTS])("%s: a key in the URL is refused", async (dialect) => {
    const [url, init] = buildCall(gateway.url, dialect, right);
    const response = await fetch(`${url}?key=${right}`, init);
    expect(response.status).toBe(400);
    const text = await response.text();
    expect(text).toContain("?key=");
    expect(text).not.toContain(right);
  });
});

describe("choices 3: the spelling of finishReason depends on where the key came from", () => {
  const CASES: readonly [string, Record<string, string>, string][] = [
    ["Bearer", { authorization: `Bearer ${gateway.key}` }, "FINISH_REASON_STOP"],
    [
      "Bearer next to a vendor's key",
      { authorization: `Bearer ${gateway.key}`, "x-goog-api-key": "other" },
      "FINISH_REASON_STOP",
    ],
    ["only x-api-key", { "x-api-key": gateway.key }, "FINISH_REASON_STOP"],
    ["x-goog-api-key", { "x-goog-api-key": gateway.key }, "STOP"],
    ["the vendor's SDK", { authorization: `Bearer ${gateway.key}`, "x-goog-api-client": "gl-node" }, "STOP"],
  ];
  for (const [name, keys, word] of CASES) {
    for (const stream of [false, true]) {
      test(`${name}, ${stream ? "streamed" : "whole"}`, async () => {
        answer();
        const text = await (await call("genai", keys, stream)).text();
        expect(/"finishReason":"(\w+)"/.exec(text)?.[1]).toBe(word);
      });
    }
  }
});

describe("choices 2: betas", () => {
  const betas = { "partner-beta": "one-2026-01-01, two-2026-01-01", "anthropic-beta": "three-2026-01-01" };
  const named = ["one-2026-01-01", "two-2026-01-01", "three-2026-01-01"];

  test("S15, contract 5: code execution cannot be used, in any case, with or without its beta", async () => {
    for (const name of ["code-execution-2025-08-25", "CODE-EXECUTION-2025-08-25", "a-1,Code-Execution-2025-08-25"]) {
      const headers = { "partner-beta": name };
      expect((await callGateway(gateway.url, "messages", gateway.key, { headers })).status).toBe(400);
    }
    const body = { tools: [{ type: "code_execution_20250825", name: "code_execution" }] };
    const response = await callGateway(gateway.url, "messages", gateway.key, { body });
    expect([response.status, await response.text()]).toEqual([400, expect.stringContaining("tools[0].type")]);
  });

  test("are forwarded to a host that knows betas", async () => {
    answer();
    const response = await callGateway(gateway.url, "messages", gateway.key, { headers: betas });
    expect(response.status).toBe(200);
    expect(String(upstream.seen[0]?.headers["anthropic-beta"]).split(/, ?/)).toEqual(named);
    expect((await gateway.receipt(response)).fields).toEqual([]);
  });

  test.each(["chat", "genai"])("are noted in the receipt if the call goes to %s", async (target) => {
    answer();
    const options = { headers: betas, model: `test/${target}` };
    const response = await callGateway(gateway.url, "messages", gateway.key, options);
    expect(response.status).toBe(200);
    expect((await gateway.receipt(response)).fields.map(({ path, action }) => [path, action])).toEqual(
      named.map((name) => [`beta ${name}`, "dropped"]),
    );
    const strict = { headers: { ...betas, "x-trivium-strict": "true" }, model: `test/${target}` };
    expect((await callGateway(gateway.url, "messages", gateway.key, strict)).status).toBe(400);
  });
});

test("choices 4, 6, 9: every response header is in the OpenAPI document", async () => {
  interface Reported {
    headers?: Record<string, { $ref: string }>;
  }
  const document = (await (await fetch(`${gateway.url}/openapi.json`)).json()) as {
    paths: Record<string, { post: { responses: Record<string, { $ref?: string } & Reported> } }>;
    components: { responses: Record<string, Reported>; headers: Record<string, object> };
  };
  const { responses } = document.paths["/api/v1/chat/completions"]?.post ?? { responses: {} };
  const headersOf = (status: number) => {
    const { $ref, headers } = responses[status] ?? {};
    return headers ?? document.components.responses[$ref?.split("/").at(-1) ?? ""]?.headers ?? {};
  };
  answer();
  const body = { verbosity: "low", logit_bias: { 1: 1 } };
  const seen = new Set<string>();
  for (const [key, model] of [
    [LIMITED, "test/messages"],
    [LIMITED, "test/none"],
    [LIMITED, "test/chat"],
    [BROKE, "test/chat"],
    ["sk-trv-wrong", "test/chat"],
  ] as const) {
    const response = await callGateway(gateway.url, "chat", key, { model, body });
    await response.text();
    seen.add(String(response.status));
    // The last is the request id under the name used by the vendor's SDKs.
    const usual = new Set(["content-type", "content-length", "date", "connection", "x-request-id"]);
    const names = [...response.headers.keys()].filter((name) => !usual.has(name));
    for (const name of names) seen.add(name);
    const reported = headersOf(response.status);
    for (const name of names)
      expect({ status: response.status, name, ref: reported[name]?.$ref }).toMatchObject({
        ref: `#/components/headers/${name}`,
      });
  }
  expect([...seen]).toEqual(
    expect.arrayContaining([
      "200",
      "402",
      "404",
      "429",
      "retry-after",
      "x-should-retry",
      "x-trivium-dropped",
      "x-ratelimit-reset-tokens",
    ]),
  );
});
