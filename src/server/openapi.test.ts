import { describe, expect, test } from "bun:test";
import { Validator } from "@seriousme/openapi-schema-validator";
import { Compile } from "typebox/compile";
import type { Receipt } from "../canon/receipt.ts";
import { chatModelList, genaiModelList, messagesModelList } from "../catalogue/lists.ts";
import { receiptView } from "../ledger/receipt-view.ts";
import { openApiDocument } from "./openapi.ts";

interface Media {
  schema: Record<string, unknown>;
}
interface Operation {
  operationId: string;
  security: object[];
  requestBody?: { content: Record<string, Media> };
  responses: Record<string, { content?: Record<string, Media> }>;
}
interface Document {
  servers: { url: string }[];
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, Record<string, unknown>> };
}

const document = openApiDocument({ publicUrl: "http://127.0.0.1:8787", version: "1.2.3" }) as Document;

/** A check made from the document alone, as a reader of it would make one. */
function checkAgainst(schema: Record<string, unknown>): (value: unknown) => boolean {
  const whole = JSON.parse(JSON.stringify({ ...schema, components: document.components })) as object;
  const validator = Compile(whole);
  return (value) => validator.Check(value);
}

function operation(path: string, method = "post"): Operation {
  const found = document.paths[path]?.[method];
  if (found === undefined) throw new Error(`the document has no ${method} ${path}`);
  return found;
}

function requestCheck(path: string): (value: unknown) => boolean {
  const schema = operation(path).requestBody?.content["application/json"]?.schema;
  return checkAgainst(schema ?? {});
}

function answerCheck(path: string, method: string): (value: unknown) => boolean {
  return checkAgainst(operation(path, method).responses["200"]?.content?.["application/json"]?.schema ?? {});
}

test("it is a valid OpenAPI 3.1 document", async () => {
  const validator = new Validator();
  const result = await validator.validate(JSON.parse(JSON.stringify(document)));
  expect(result.errors ?? []).toEqual([]);
  expect(result.valid).toBe(true);
  expect(validator.version).toBe("3.1");
});

test("every reference leads somewhere", () => {
  const references = [...JSON.stringify(document).matchAll(/"\$ref":"([^"]+)"/g)].map(([, target]) => target ?? "");
  expect(references.length).toBeGreaterThan(100);
  for (const target of new Set(references)) {
    const found = target
      .split("/")
      .slice(1)
      .reduce<unknown>((value, key) => (value as Record<string, unknown> | undefined)?.[key], document);
    expect(found, target).toBeDefined();
  }
});

test("it says where it is served", () => {
  expect(document.servers).toEqual([{ url: "http://127.0.0.1:8787" }]);
});

describe("decisions 1: the addresses of both doors", () => {
  const verbs = ["generateContent", "streamGenerateContent", "countTokens"];
  const posts = [
    "/api/v1/chat/completions",
    "/v1/chat/completions",
    ...["/api/msg", "/api/anthropic", ""].flatMap((root) => [
      `${root}/v1/messages`,
      `${root}/v1/messages/count_tokens`,
    ]),
    ...["/api/genai", "/api/vertex-ai", ""].flatMap((root) =>
      verbs.map((verb) => `${root}/v1/publishers/{provider}/models/{model}:${verb}`),
    ),
    ...verbs.map((verb) => `/v1beta/models/{provider}/{model}:${verb}`),
  ];
  const lists = ["/api/v1/models", "/v1/models", "/api/msg/v1/models", "/api/genai/v1beta/models", "/v1beta/models"];
  const gets = [...lists, ...lists.map((path) => `${path}/{provider}/{model}`), "/healthz", "/readyz", "/openapi.json"];

  test.each(posts)("POST %s needs a key and has a request", (path) => {
    expect(operation(path).security.length).toBe(3);
    expect(operation(path).requestBody).toBeDefined();
    expect(Object.keys(operation(path).responses)).toEqual(expect.arrayContaining(["200", "400", "401", "429", "502"]));
  });

  test.each(gets)("GET %s is open", (path) => {
    expect(operation(path, "get").security).toEqual([]);
  });

  test("the receipt needs a key", () => {
    expect(operation("/api/v1/generation", "get").security.length).toBe(3);
  });

  test("operation ids are unique", () => {
    const ids = Object.values(document.paths).flatMap((item) => Object.values(item).map((each) => each.operationId));
    expect(new Set(ids).size).toBe(ids.length);
  });

  test("streams are event streams", () => {
    for (const path of [
      "/api/v1/chat/completions",
      "/api/msg/v1/messages",
      posts.find((each) => each.endsWith(":streamGenerateContent")) ?? "",
    ]) {
      expect(operation(path).responses["200"]?.content?.["text/event-stream"]).toBeDefined();
    }
  });

  test("decisions 4: overload is 529 in messages and 503 elsewhere", () => {
    expect(operation("/api/msg/v1/messages").responses["529"]).toBeDefined();
    expect(operation("/api/msg/v1/messages").responses["503"]).toBeUndefined();
    expect(operation("/api/v1/chat/completions").responses["503"]).toBeDefined();
  });
});

describe("the request schemas in the document take and refuse what the checks do", () => {
  const message = { role: "user", content: "Hello" };
  const contents = [{ parts: [{ text: "Hello" }] }];
  const genai = "/api/genai/v1/publishers/{provider}/models/{model}";
  const cases: [path: string, good: unknown, bad: unknown][] = [
    ["/api/v1/chat/completions", { model: "a/b", messages: [message] }, { model: "a/b", messages: [message], n: 2 }],
    [
      "/api/msg/v1/messages",
      { model: "a/b", max_tokens: 1, messages: [message] },
      { model: "a/b", max_tokens: 1, messages: [{ role: "user", content: [{ type: "image", source: {} }] }] },
    ],
    ["/api/msg/v1/messages/count_tokens", { model: "a/b", messages: [message] }, { model: "a/b", messages: [] }],
    [
      `${genai}:generateContent`,
      { contents, generationConfig: { responseSchema: { type: "ARRAY", items: { type: "STRING" } } } },
      { contents, generationConfig: { responseSchema: { type: "ARRAY", items: { type: "tuple" } } } },
    ],
    [`${genai}:streamGenerateContent`, { contents }, { contents: [{ parts: [] }] }],
    [`${genai}:countTokens`, { generateContentRequest: { contents } }, { generateContentRequest: {} }],
  ];
  test.each(cases)("%s", (path, good, bad) => {
    const accepts = requestCheck(path);
    expect(accepts(good)).toBe(true);
    expect(accepts(bad)).toBe(false);
  });
});

describe("the answers of the program fit the document", () => {
  test("decisions 6: the receipt", () => {
    const receipt: Receipt = {
      id: "r",
      project: "p",
      key: "k",
      createdAtMs: 0,
      model: "a/b",
      provider: "a",
      upstreamModel: "b",
      verb: "generate",
      clientDialect: "chat",
      upstreamDialect: "messages",
      lane: "translated",
      stream: false,
      outcome: "ok",
      offers: [{ provider: "a", outcome: "answered", ms: 3 }],
      fields: [{ path: "seed", action: "dropped", reason: "unknown there" }],
      usage: { input: 1 },
      usageSource: "measured",
      priceRule: "list price",
      costNanoUsd: 10,
      totalMs: 4,
    };
    const fits = answerCheck("/api/v1/generation", "get");
    expect(fits(receiptView(receipt))).toBe(true);
    expect(fits({ data: { ...receiptView(receipt).data, lane: "fast" } })).toBe(false);
  });

  test("contract 2.9: the three model lists", () => {
    const model = {
      id: "a/b",
      displayName: "B",
      inputModalities: ["text" as const],
      outputModalities: ["text" as const],
      reasoning: false,
      pricings: { prompt: [{ value: 1, unit: "perMTokens" as const, currency: "USD" as const }] },
    };
    const models = [model] as unknown as Parameters<typeof chatModelList>[0];
    expect(answerCheck("/api/v1/models", "get")(chatModelList(models, 0))).toBe(true);
    expect(answerCheck("/api/msg/v1/models", "get")(messagesModelList(models, 0))).toBe(true);
    expect(answerCheck("/api/genai/v1beta/models", "get")(genaiModelList(models, 0))).toBe(true);
    expect(answerCheck("/api/v1/models", "get")(messagesModelList(models, 0))).toBe(false);
    expect(answerCheck("/v1/models", "get")(messagesModelList(models, 0))).toBe(true);
  });
});
