import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type Simulator, startSimulator } from "../simulator/simulator.ts";
import type { CallOptions } from "../testing/build-call.ts";
import { SCRIPTED_DIALECTS, type ScriptedDialect } from "../testing/sampled-dialects.ts";
import { TEST_KEY } from "../testing/test-key.ts";
import { callGateway, errorOf } from "./support/client-calls.ts";
import { simulatedProviders, startTestGateway, type TestGateway } from "./support/test-gateway.ts";

/** Calls whose client and model speak different protocols, on all twelve pairs, with the simulator as the upstream. */

const STRICT_KEY = `sk-trv-${"ConformanceStrictKey".padEnd(43, "x")}`;
const IMAGE = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

let simulator: Simulator;
let gateway: TestGateway;

const MODELS = [
  "standard",
  "thinker",
  "echo-request",
  "refusal",
  "blocked-prompt",
  "max-tokens",
  "empty",
  "no-usage",
  "fail-400",
  "fail-401",
  "fail-404",
  "fail-413",
  "fail-429",
  "fail-500",
  "fail-503",
  "fail-529",
  "error-in-stream",
  "cut-mid-stream",
  "cut-mid-event",
  "close-mid-stream",
  "garbage",
  "garbage-in-stream",
  "error-first-event",
];

/** Some of these models fail in every call, and must be called anyway. */
const everTried = (providers: Record<string, object>) =>
  Object.fromEntries(Object.entries(providers).map(([name, one]) => [name, { ...one, breaker: { failures: 1000 } }]));

beforeAll(async () => {
  simulator = await startSimulator({ tokenDelayMs: 1 });
  gateway = await startTestGateway({
    config: {
      providers: everTried(simulatedProviders(simulator.url)),
      models: [
        ...SCRIPTED_DIALECTS.flatMap((dialect) =>
          MODELS.map((model) => ({
            id: `${dialect}/${model}`,
            reasoning: true,
            max_output_tokens: 64_000,
            pricings: {},
            offers: [{ provider: `at-${dialect}`, model, dialect }],
          })),
        ),
        {
          id: "mixed/falls",
          max_output_tokens: 64_000,
          pricings: {},
          offers: [
            { provider: "at-messages", model: "fail-503" },
            { provider: "at-genai", model: "cut-before-first" },
            { provider: "at-chat", model: "standard" },
          ],
        },
      ],
      keys: [
        { name: "tests", key: TEST_KEY, provider_objects: true },
        { name: "strict", key: STRICT_KEY, strict: true },
      ],
    },
  });
});
afterAll(async () => {
  await gateway.stop();
  await simulator.stop();
});

const call = (dialect: ScriptedDialect, model: string, options: CallOptions = {}) =>
  callGateway(gateway.url, dialect, TEST_KEY, { model, ...options });

/** A field that only its own protocol knows, and the path under which the receipt must have it. */
const OWN_FIELD: Record<ScriptedDialect, { body: Record<string, unknown>; path: string }> = {
  chat: { body: { logit_bias: { "50256": -100 } }, path: "logit_bias" },
  messages: { body: { container: "c1" }, path: "container" },
  genai: {
    body: { safetySettings: [{ category: "HARM_CATEGORY_HARASSMENT", threshold: "BLOCK_NONE" }] },
    path: "safetySettings",
  },
  responses: { body: { truncation: "auto" }, path: "truncation" },
};

const PAIRS = SCRIPTED_DIALECTS.flatMap((client) =>
  SCRIPTED_DIALECTS.filter((upstream) => upstream !== client).map((upstream) => [client, upstream] as const),
);

describe.each(PAIRS)("a %s client of a model that speaks %s", (client, upstream) => {
  test("choices 6: the receipt has both protocols, the lane, the usage and the cost", async () => {
    for (const stream of [false, true]) {
      const response = await call(client, `${upstream}/standard`, { stream });
      expect(response.status).toBe(200);
      await response.text();
      const receipt = await gateway.receipt(response);
      expect(receipt).toMatchObject({
        lane: "translated",
        stream,
        dialect: { client, upstream },
        usage_source: "measured",
      });
      expect(receipt.usage["input"]).toBeGreaterThan(0);
      expect(receipt.usage["output"]).toBeGreaterThan(0);
      expect(receipt.stop?.unified).toBe("stop");
    }
  });

  test("H09: a field that the target cannot honour is in the receipt and in the header", async () => {
    const { body, path } = OWN_FIELD[client];
    const response = await call(client, `${upstream}/standard`, { body });
    expect(response.status).toBe(200);
    expect(response.headers.get("x-trivium-dropped")?.split(",")).toContain(path);
    const { fields } = await gateway.receipt(response);
    expect(fields).toContainEqual({ path, action: "dropped", reason: expect.stringMatching(/\w/) });
  });

  test("H09: strict calls get a 400 that names it, by header and by key; others are unaffected", async () => {
    const { body, path } = OWN_FIELD[client];
    const before = simulator.stats().requests;
    const byHeader = await call(client, `${upstream}/standard`, { body, headers: { "x-trivium-strict": "true" } });
    const byKey = await call(client, `${upstream}/standard`, { body, key: STRICT_KEY });
    for (const response of [byHeader, byKey]) {
      const error = await errorOf(response);
      expect(error.status).toBe(400);
      expect(error.message).toContain(path);
    }
    expect(simulator.stats().requests).toBe(before);
    const plain = await call(client, `${upstream}/standard`, { headers: { "x-trivium-strict": "true" } });
    expect(plain.status).toBe(200);
    await plain.text();
  });

  const STATUS: [string, Partial<Record<ScriptedDialect, number>> & { all: number }][] = [
    ["fail-400", { all: 400 }],
    ["fail-401", { all: 502 }],
    ["fail-404", { all: 404 }],
    ["fail-413", { all: 413 }],
    ["fail-429", { all: 429 }],
    ["fail-500", { all: 502 }],
    ["fail-503", { all: 503, messages: 529 }],
    ["fail-529", { all: 503, messages: 529 }],
    ["garbage", { all: 502 }],
    ["error-first-event", { all: 503, messages: 529 }],
  ];
  test.each(STATUS)("choices 4: the upstream's %s is reported in the caller's protocol", async (model, expected) => {
    const told = async (stream: boolean) => errorOf(await call(client, `${upstream}/${model}`, { stream }));
    // At once: most of the time goes by between tries.
    for (const { status, type, message } of await Promise.all(
      (model === "error-first-event" ? [true] : [false, true]).map(told),
    )) {
      const wanted = expected[client] ?? expected.all;
      // An error event has a type instead of a status, which decides how it is reported.
      if (model === "error-first-event") expect([wanted, 502, 429]).toContain(status);
      else expect(status).toBe(wanted);
      expect(type).not.toBe("");
      expect(message).not.toContain("upstream-secret-key");
    }
  });

  test.each(["error-in-stream", "cut-mid-stream", "cut-mid-event", "close-mid-stream", "garbage-in-stream"])(
    "H16: %s ends the client's stream with its protocol's error, and with no proper end",
    async (model) => {
      const response = await call(client, `${upstream}/${model}`, { stream: true });
      expect(response.status).toBe(200);
      const text = await response.text();
      expect(text).toContain('"error":{');
      expect(text).not.toMatch(
        /\[DONE\]|message_stop|"finishReason"|"finish_reason":"|response\.(?:completed|incomplete)"/,
      );
      const receipt = await gateway.receipt(response);
      expect(receipt.usage_source).toBe("partial");
    },
  );

  test("contract 7: a refusal, a blocked prompt and a limit end the response in the client's protocol", async () => {
    const word = async (model: string) => {
      const body = JSON.parse(await (await call(client, `${upstream}/${model}`)).text());
      return (
        body.choices?.[0].finish_reason ??
        body.stop_reason ??
        body.candidates?.[0].finishReason ??
        body.incomplete_details?.reason ??
        body.output?.[0].content?.[0].type ??
        body.error?.code
      );
    };
    const WORDS: Record<ScriptedDialect, { filtered: string[]; length: string }> = {
      chat: { filtered: ["content_filter", "stop"], length: "length" },
      messages: { filtered: ["refusal"], length: "max_tokens" },
      genai: {
        filtered: ["FINISH_REASON_SAFETY", "FINISH_REASON_PROHIBITED_CONTENT"],
        length: "FINISH_REASON_MAX_TOKENS",
      },
      responses: { filtered: ["content_filter", "refusal"], length: "max_output_tokens" },
    };
    expect(await word("max-tokens")).toBe(WORDS[client].length);
    expect(WORDS[client].filtered).toContain(await word("refusal"));
  });

  test("a response without text, and one without usage, are valid", async () => {
    for (const stream of [false, true]) {
      for (const model of ["empty", "no-usage"]) {
        const response = await call(client, `${upstream}/${model}`, { stream });
        expect(response.status).toBe(200);
        const text = await response.text();
        expect(text).not.toContain('"error":{');
        const { usage_source } = await gateway.receipt(response);
        expect(usage_source).toBe(model === "no-usage" ? "estimated" : "measured");
      }
    }
  });

  test("S12: a URL in the gateway's own network is not fetched; an inline image arrives", async () => {
    const inside = await call(client, `${upstream}/standard`, { body: prompt(client, "https://127.0.0.1/a.png") });
    // Targets that fetch media themselves get the URL unchanged.
    if (inside.status !== 200) expect((await errorOf(inside)).message).toContain("could not be fetched");
    const arrived = await call(client, `${upstream}/standard`, { body: prompt(client, undefined) });
    expect(arrived.status).toBe(200);
    expect(await arrived.text()).toContain("image/png");
  });
});

function prompt(client: ScriptedDialect, url: string | undefined): Record<string, unknown> {
  const data = `data:image/png;base64,${IMAGE}`;
  const words = "What is in this image?";
  switch (client) {
    case "chat":
      return {
        messages: [
          {
            role: "user",
            content: [
              { type: "text", text: words },
              { type: "image_url", image_url: { url: url ?? data } },
            ],
          },
        ],
      };
    case "messages": {
      const source = url ? { type: "url", url } : { type: "base64", media_type: "image/png", data: IMAGE };
      return {
        messages: [
          {
            role: "user",
            content: [
              { type: "text", text: words },
              { type: "image", source },
            ],
          },
        ],
      };
    }
    case "genai": {
      const image = url
        ? { fileData: { mimeType: "image/png", fileUri: url } }
        : { inlineData: { mimeType: "image/png", data: IMAGE } };
      return { contents: [{ role: "user", parts: [{ text: words }, image] }] };
    }
    case "responses": {
      const content = [
        { type: "input_text", text: words },
        { type: "input_image", image_url: url ?? data },
      ];
      return { input: [{ role: "user", content }] };
    }
  }
}

describe("offers of several protocols", () => {
  test.each([...SCRIPTED_DIALECTS])(
    "H17: a %s client falls back from one protocol to the next until one answers",
    async (client) => {
      for (const stream of [false, true]) {
        const response = await call(client, "mixed/falls", { stream });
        expect(response.status).toBe(200);
        await response.text();
        const receipt = await gateway.receipt(response);
        expect(receipt.provider).toBe("at-chat");
        expect(receipt.offers.map(({ provider }) => provider)).toEqual([
          "at-messages",
          "at-messages",
          "at-genai",
          "at-genai",
          "at-chat",
        ]);
        expect(receipt.lane).toBe(client === "chat" ? "native" : "translated");
      }
    },
  );
});

describe("H11: tokens are counted for every model", () => {
  const count = async (client: Exclude<ScriptedDialect, "chat">, upstream: ScriptedDialect) => {
    const model = `${upstream}/standard`;
    const [path, body] = {
      messages: [
        "/api/msg/v1/messages/count_tokens",
        { model, system: "Be brief.", messages: [{ role: "user", content: "Hello there" }] },
      ],
      genai: [
        `/api/genai/v1/publishers/${upstream}/models/standard:countTokens`,
        {
          systemInstruction: { parts: [{ text: "Be brief." }] },
          contents: [{ role: "user", parts: [{ text: "Hello there" }] }],
        },
      ],
      responses: ["/api/v1/responses/input_tokens", { model, instructions: "Be brief.", input: "Hello there" }],
    }[client] as [string, object];
    const response = await fetch(gateway.url + path, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        authorization: `Bearer ${TEST_KEY}`,
        "partner-version": "2023-06-01",
      },
      body: JSON.stringify(body),
    });
    expect(response.status).toBe(200);
    const answer = (await response.json()) as { input_tokens?: number; totalTokens?: number };
    const { fields } = await gateway.receipt(response);
    return {
      tokens: answer.input_tokens ?? answer.totalTokens,
      estimated: fields.some(({ path }) => path === "(count)"),
    };
  };

  test("by the upstream's own counter if it has one, whatever the client speaks", async () => {
    const native = await count("messages", "messages");
    expect(await count("genai", "messages")).toEqual({ ...native, estimated: false });
    expect((await count("genai", "genai")).estimated).toBe(false);
    expect(await count("messages", "genai")).toEqual(await count("genai", "genai"));
    expect(await count("responses", "genai")).toEqual(await count("genai", "genai"));
    expect(await count("responses", "messages")).toEqual({ ...native, estimated: false });
    const own = await count("responses", "responses");
    expect(own.estimated).toBe(false);
    for (const client of ["messages", "genai"] as const) expect(await count(client, "responses")).toEqual(own);
  });

  test("elsewhere by an estimate that the receipt marks as one", async () => {
    for (const client of ["messages", "genai", "responses"] as const) {
      const { tokens, estimated } = await count(client, "chat");
      expect(tokens).toBeGreaterThan(0);
      expect(estimated).toBe(true);
    }
  });
});
