import { describe, expect, test } from "bun:test";
import { Validator } from "@seriousme/openapi-schema-validator";
import { Compile } from "typebox/compile";
import { GatewayError } from "../canon/error.ts";
import type { Operation as StoredOperation } from "../canon/operation.ts";
import type { Receipt } from "../canon/receipt.ts";
import { listedModel } from "../catalogue/listed-model.ts";
import type { Model } from "../catalogue/model.ts";
import { DIALECTS } from "../dialects/index.ts";
import { receiptView } from "../ledger/receipt-view.ts";
import { decodeGeneration } from "../media/images-api/decode-images.ts";
import { encodeImages } from "../media/images-api/encode-images.ts";
import { createImageEventEncoder } from "../media/images-api/image-events.ts";
import { encodePredictions } from "../media/predict/encode-predictions.ts";
import { encodeOperation } from "../media/predict-long-running/encode-operation.ts";
import { ENDPOINTS } from "./endpoints/index.ts";
import { failureStatuses } from "./openapi/errors.ts";
import { openApiDocument } from "./openapi.ts";
import { ROUTES } from "./routes.ts";

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

const document = openApiDocument({
  publicUrl: "http://127.0.0.1:8787",
  version: "1.2.3",
  endpoints: ENDPOINTS,
}) as Document;

/** A check made only from the document, as a reader of it would make one. */
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

test("every reference resolves", () => {
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

test("it names its own URL", () => {
  expect(document.servers).toEqual([{ url: "http://127.0.0.1:8787" }]);
});

describe("choices 1: the endpoints of both doors", () => {
  const verbs = [
    "generateContent",
    "streamGenerateContent",
    "countTokens",
    "predict",
    "predictLongRunning",
    "fetchPredictOperation",
  ];
  const posts = [
    ...["/api/v1", "/v1"].flatMap((root) => [
      `${root}/chat/completions`,
      `${root}/images/generations`,
      `${root}/images/edits`,
    ]),
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
  const gets = ["/healthz", "/readyz", "/openapi.json"];

  test.each(posts)("POST %s needs a key and has a request", (path) => {
    expect(operation(path).security.length).toBe(3);
    expect(operation(path).requestBody).toBeDefined();
    expect(Object.keys(operation(path).responses)).toEqual(expect.arrayContaining(["200", "400", "401", "429", "502"]));
  });

  test.each(gets)("GET %s is open", (path) => {
    expect(operation(path, "get").security).toEqual([]);
  });

  test.each([...lists, ...lists.map((path) => `${path}/{provider}/{model}`)])("GET %s takes a key, or none", (path) => {
    const { security, responses } = operation(path, "get");
    expect([security.length, security[0]]).toEqual([4, {}]);
    expect(Object.keys(responses)).toEqual(["200", "400", "401", "403", "404", "429"]);
  });

  test("the receipt requires a key", () => {
    expect(operation("/api/v1/generation", "get").security.length).toBe(3);
  });

  test("S09: a file requires a key unless its URL is signed, and another project's is a 404", () => {
    for (const method of ["get", "head"]) {
      const { security, responses } = operation("/files/{id}", method);
      expect(security).toContainEqual({});
      expect(security.length).toBe(4);
      expect(responses["404"]).toBeDefined();
      expect(responses["401"]).toBeUndefined();
    }
    expect(Object.keys(operation("/files/{id}", "get").responses)).toEqual(["200", "206", "304", "404", "416"]);
  });

  test("contract 4: every route that takes a key is documented", () => {
    const paths = Object.keys(document.paths);
    const filled = paths.map((path) => path.replaceAll("{provider}", "acme").replaceAll(/\{\w+\}/g, "m"));
    const missing = ROUTES.filter(({ path, access }) => {
      if (access !== "key") return false;
      return !filled.some((each) => (typeof path === "string" ? path === each : path.test(each)));
    });
    expect(missing.map(({ method, path }) => `${method} ${path}`)).toEqual([]);
  });

  test("operation ids are unique", () => {
    const ids = Object.values(document.paths).flatMap((item) => Object.values(item).map((each) => each.operationId));
    expect(new Set(ids).size).toBe(ids.length);
  });

  test("streams are event streams", () => {
    for (const path of [
      "/api/v1/chat/completions",
      "/api/v1/images/generations",
      "/api/v1/images/edits",
      "/api/msg/v1/messages",
      posts.find((each) => each.endsWith(":streamGenerateContent")) ?? "",
    ]) {
      expect(operation(path).responses["200"]?.content?.["text/event-stream"]).toBeDefined();
    }
  });

  test("choices 4: overload is 529 in messages and 503 elsewhere", () => {
    expect(operation("/api/msg/v1/messages").responses["529"]).toBeDefined();
    expect(failureStatuses("messages").get("503")).toBe("upstream unfunded.");
    expect(failureStatuses("chat").get("503")).toContain("overloaded");
    expect(operation("/api/v1/chat/completions").responses["503"]).toBeDefined();
  });
});

describe("the request schemas in the document accept and reject the same as the checks", () => {
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
    [
      `${genai}:predict`,
      { instances: [{ prompt: "a fox" }], parameters: { sampleCount: 2, sampleImageSize: "2K" }, quality: "low" },
      { instances: [{ prompt: "a fox" }], parameters: { outputOptions: { mimeType: "image/gif" } } },
    ],
    [
      `${genai}:predictLongRunning`,
      { instances: [{ prompt: "a fox" }], parameters: { resolution: "720p", durationSeconds: 5 } },
      { instances: [{ prompt: "a fox" }, { prompt: "a cat" }] },
    ],
    [`${genai}:fetchPredictOperation`, { operationName: "publishers/a/models/b/operations/c" }, { name: "c" }],
    [
      "/api/v1/images/generations",
      { model: "a/b", prompt: "a fox", n: 2, size: "1024x1536", stream: true, partial_images: 3 },
      { model: "a/b", prompt: "a fox", partial_images: 4 },
    ],
    [
      "/api/v1/images/edits",
      { model: "a/b", prompt: "a hat", image: "data:image/png;base64,iVBORw0KGgo=" },
      { model: "a/b", prompt: "a hat", output_format: "gif" },
    ],
  ];
  test.each(cases)("%s", (path, good, bad) => {
    const accepts = requestCheck(path);
    expect(accepts(good)).toBe(true);
    expect(accepts(bad)).toBe(false);
  });
});

test("contract 4: an edit is a form whose images are files, with the fields that its check knows", () => {
  const content = operation("/api/v1/images/edits").requestBody?.content ?? {};
  expect(Object.keys(content)).toEqual(["multipart/form-data", "application/json"]);
  const { ImageEditForm: form, ImageEditRequest: body } = document.components.schemas as Record<
    string,
    { properties: Record<string, { contentMediaType?: string }>; required: string[] }
  >;
  expect(
    Object.keys(form?.properties ?? {})
      .filter((name) => name !== "image[]")
      .sort(),
  ).toEqual(Object.keys(body?.properties ?? {}).sort());
  expect(form?.properties["mask"]?.contentMediaType).toBe("application/octet-stream");
  expect(form?.required).toEqual(["model", "prompt"]);
});

describe("the program's responses match the document", () => {
  const made = { kind: "made", image: { mimeType: "image/png", base64: "iVBORw0KGgo=" } } as const;
  const failed = { kind: "failed", error: new GatewayError("overloaded", "The provider is overloaded.") } as const;
  const results = [made, { kind: "filtered", reason: "violence" } as const, failed];
  const usage = { input: 10, imageInput: 5, imageOutput: 100 };

  test("contract 2.5: predictions, generated, blocked and failed", () => {
    const fits = answerCheck("/api/genai/v1/publishers/{provider}/models/{model}:predict", "post");
    const answer = encodePredictions({ results });
    expect(fits(answer)).toBe(true);
    expect(fits({ predictions: [{ bytesBase64Encoded: 1 }] })).toBe(false);
  });

  test("contract 2.14: images as a whole and as events", () => {
    const request = decodeGeneration({ model: "a/b", prompt: "a fox", stream: true });
    expect(answerCheck("/api/v1/images/generations", "post")(encodeImages({ results, usage }, request, 1))).toBe(true);
    const media = operation("/api/v1/images/generations").responses["200"]?.content?.["text/event-stream"];
    const fits = checkAgainst(media?.schema ?? {});
    const encoder = createImageEventEncoder(request, 1);
    const texts = [encoder.partial(made.image), encoder.completed(made.image, { usage })];
    for (const text of texts) expect(fits(JSON.parse(/^data: (.*)$/m.exec(text)?.[1] ?? ""))).toBe(true);
    const completed = JSON.parse(/^data: (.*)$/m.exec(texts[1] ?? "")?.[1] ?? "");
    expect(fits({ ...completed, b64_json: undefined, url: "https://gateway.example/files/f" })).toBe(false);
  });

  test("contract 2.2: an operation in each of its states", () => {
    const part = { count: 1, dueAtMs: 0, failures: 0, videos: [], filtered: [] };
    const operation: StoredOperation = {
      id: "op",
      project: "p",
      keyId: "k",
      receiptId: "r",
      model: "a/b",
      provider: "a",
      credential: "c",
      state: "running",
      job: {
        upstreamModel: "b",
        count: 2,
        seconds: 5,
        resolution: "720p",
        audio: true,
        pricings: {},
        notes: [],
        offers: [],
      },
      parts: [
        { ...part, state: "waiting", progress: 40 },
        { ...part, state: "failed", error: { kind: "upstream_failed", message: "It broke." } },
      ],
      requestDigest: "d",
      claimed: true,
      createdAtMs: 0,
      deadlineAtMs: 1,
      dueAtMs: 0,
    };
    const fits = answerCheck("/api/genai/v1/publishers/{provider}/models/{model}:fetchPredictOperation", "post");
    const video = { url: "http://127.0.0.1/files/file_1", mimeType: "video/mp4" };
    for (const state of ["submitting", "running", "done", "failed"] as const) {
      expect(fits(encodeOperation({ ...operation, state }, state === "done" ? [video] : []))).toBe(true);
    }
    expect(fits({ done: true })).toBe(false);
  });

  test("choices 6: the receipt", () => {
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
      kind: "text" as const,
      offers: [
        { provider: "p", pricings: { prompt: [{ value: 1, unit: "perMTokens" as const, currency: "USD" as const }] } },
      ],
    };
    const models = [listedModel(model as unknown as Model)];
    const query = new URLSearchParams();
    const listOf = (dialect: "chat" | "messages" | "genai", door: "contract" | "dropin" = "contract") =>
      DIALECTS[dialect].http.models.list(models, { door, query });
    expect(answerCheck("/api/v1/models", "get")(listOf("chat"))).toBe(true);
    expect(answerCheck("/api/msg/v1/models", "get")(listOf("messages"))).toBe(true);
    expect(answerCheck("/api/genai/v1beta/models", "get")(listOf("genai"))).toBe(true);
    expect(answerCheck("/api/v1/models", "get")(listOf("messages"))).toBe(false);
    for (const dialect of ["chat", "messages", "genai"] as const)
      expect(answerCheck("/v1/models", "get")(listOf(dialect, "dropin"))).toBe(true);
  });
});
