import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { createGoogleGenerativeAI } from "@ai-sdk/google";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { GoogleGenAI } from "@google/genai";
import { embed, embedMany } from "ai";
import { GoogleGenAI as GoogleGenAI1 } from "genai-1";
import OpenAI from "openai";
import OpenAI4 from "openai-4";
import OpenAI5 from "openai-5";
import { embedText } from "../../simulator/services/embed-text.ts";
import { countTokens } from "../../simulator/text/tokens.ts";
import { cosine, SERVICE_HOSTS, type ServiceSuite, startServiceSuite, USD_PER_MILLION } from "./service-harness.ts";

const TEXT = "The cat sat on the mat, and looked at the moon.";
const EMBEDDERS = SERVICE_HOSTS.filter(({ embedder }) => embedder !== undefined);
const nanoUsd = (tokens: number) => tokens * USD_PER_MILLION * 1000;

let suite: ServiceSuite;
let openai: OpenAI;
beforeAll(async () => {
  suite = await startServiceSuite();
  openai = new OpenAI({ baseURL: `${suite.gateway.url}/v1`, apiKey: suite.gateway.key, maxRetries: 0 });
});
afterAll(() => suite.stop());

/** The vector of one text from each client, by name. */
function clients(model: string): Record<string, (text: string) => Promise<readonly number[]>> {
  const { url, key } = suite.gateway;
  const [publisher = "", name = ""] = model.split("/");
  const options = { baseURL: `${url}/v1`, apiKey: key };
  const google = { apiKey: key, httpOptions: { baseUrl: url } };
  const cloud = { vertexai: true, apiKey: key, httpOptions: { baseUrl: url } };
  const created = async (client: { embeddings: OpenAI["embeddings"] }, text: string) =>
    (await client.embeddings.create({ model, input: text })).data[0]?.embedding ?? [];
  const contents = async (client: GoogleGenAI, text: string, of = model) => {
    const { embeddings } = await client.models.embedContent({ model: of, contents: text });
    return embeddings?.[0]?.values ?? [];
  };
  return {
    "openai 7": (text) => created(openai, text),
    "openai 7, numbers": async (text) =>
      (await openai.embeddings.create({ model, input: text, encoding_format: "float" })).data[0]?.embedding ?? [],
    "openai 5": (text) => created(new OpenAI5(options) as unknown as OpenAI, text),
    "openai 4": (text) => created(new OpenAI4(options) as unknown as OpenAI, text),
    "@google/genai 3": (text) => contents(new GoogleGenAI(google), text),
    "@google/genai 1": (text) => contents(new GoogleGenAI1(google) as unknown as GoogleGenAI, text),
    "@google/genai 3, as of a cloud": (text) =>
      contents(new GoogleGenAI(cloud), text, `publishers/${publisher}/models/${name}`),
    "AI SDK, openai-compatible": async (text) =>
      (
        await embed({
          model: createOpenAICompatible({ name: "trivium", ...options }).textEmbeddingModel(model),
          value: text,
        })
      ).embedding,
    "AI SDK, google": async (text) =>
      (
        await embed({
          model: createGoogleGenerativeAI({ baseURL: `${url}/v1beta`, apiKey: key }).textEmbeddingModel(model),
          value: text,
        })
      ).embedding,
  };
}

describe("the same text through every client", () => {
  test.each(["openai", "gemini", "vertex", "bedrock", "cohere"])("%s: has the same vector", async (host) => {
    const vectors = new Map<string, readonly number[]>();
    for (const [client, vectorOf] of Object.entries(clients(`${host}/embedder`)))
      vectors.set(client, await vectorOf(TEXT));
    const [first = []] = vectors.values();
    expect(first.length).toBeGreaterThan(1000);
    for (const [client, vector] of vectors) {
      expect({ client, size: vector.length, cosine: cosine(first, vector).toFixed(6) }).toEqual({
        client,
        size: first.length,
        cosine: "1.000000",
      });
    }
  });
});

describe("every host", () => {
  test.each(EMBEDDERS.map((host) => [host.name, host] as const))(
    "%s: makes the vectors of its texts, counted and priced to the token",
    async (name, { size = 0, counts = true }) => {
      const input = [TEXT, "Stocks fell on Monday.", TEXT];
      const { data, response } = await openai.embeddings.create({ model: `${name}/embedder`, input }).withResponse();
      expect(data.data.map(({ index }) => index)).toEqual([0, 1, 2]);
      for (const [place, text] of input.entries()) {
        expect(cosine(data.data[place]?.embedding ?? [], embedText(text, size)).toFixed(6)).toBe("1.000000");
      }
      const receipt = await suite.gateway.receipt(response);
      const tokens = receipt.usage.input ?? 0;
      if (counts) expect(tokens).toBe(input.reduce((sum, text) => sum + countTokens(text), 0));
      expect(data.usage).toEqual({ prompt_tokens: tokens, total_tokens: tokens });
      expect(receipt).toMatchObject({
        usage_source: counts ? "measured" : "estimated",
        cost_nano_usd: nanoUsd(tokens),
        price_rule: `prompt ${USD_PER_MILLION} USD/MTok`,
      });
    },
  );

  test.each(EMBEDDERS.map((host) => [host.name, host] as const))(
    "%s: many texts are sent in as many requests as needed, and return in order",
    async (name, { batch = 1, counts = true, sized }) => {
      // Two full requests and a part of a third, where a client may send as many.
      const count = Math.min(2 * batch + 8, 2_000);
      const input = Array.from({ length: count }, (_, index) => `text number ${index}`);
      suite.asked();
      const asking = { model: `${name}/embedder`, input, ...(sized ? { dimensions: 256 } : {}) };
      const { data, response } = await openai.embeddings.create(asking).withResponse();
      const asked = suite.asked();
      expect(data.data.map(({ index }) => index)).toEqual(input.map((_, index) => index));
      // Spot checks at the edges of requests, and in their middle.
      for (const place of [0, 1, batch - 1, batch, batch + 1, count / 2, count - 1]) {
        const vector = data.data[place]?.embedding;
        if (vector === undefined) continue;
        expect({ place, same: cosine(vector, embedText(input[place] ?? "", vector.length)).toFixed(6) }).toEqual({
          place,
          same: "1.000000",
        });
      }
      // Tokens may make some smaller.
      expect(asked).toBeGreaterThanOrEqual(Math.ceil(count / batch));
      expect(asked).toBeLessThanOrEqual(Math.ceil(count / batch) + 10);
      const receipt = await suite.gateway.receipt(response);
      if (counts) expect(receipt.usage.input).toBe(input.reduce((sum, text) => sum + countTokens(text), 0));
      expect(receipt.cost_nano_usd).toBe(nanoUsd(receipt.usage.input ?? 0));
    },
  );

  test.each(EMBEDDERS.filter(({ sized }) => sized).map(({ name }) => name))(
    "%s: vectors of another size",
    async (name) => {
      const { data } = await openai.embeddings.create({ model: `${name}/embedder`, input: TEXT, dimensions: 256 });
      expect(cosine(data[0]?.embedding ?? [], embedText(TEXT, 256)).toFixed(6)).toBe("1.000000");
    },
  );

  test.each(EMBEDDERS.filter(({ sized }) => !sized).map(({ name }) => name))(
    "%s: another size of fixed-size vectors is refused, not ignored",
    async (name) => {
      const failed = await openai.embeddings
        .create({ model: `${name}/embedder`, input: TEXT, dimensions: 256 })
        .catch((thrown: unknown) => thrown);
      expect(failed).toMatchObject({ status: 400, param: "dimensions" });
    },
  );
});

describe("properties of the simulator's vectors", () => {
  test("texts that share words are alike, and a question is nearest to its answer", async () => {
    const texts = ["Paris is the capital of France.", "A cat sleeps on the sofa.", "Stocks fell on Monday."];
    const input = ["What is the capital of France?", ...texts];
    const { data } = await openai.embeddings.create({ model: "openai/embedder", input });
    const [question = [], ...answers] = data.map(({ embedding }) => embedding);
    const [first = 0, ...others] = answers.map((vector) => cosine(question, vector));
    expect(first).toBeGreaterThan(0.4);
    for (const other of others) expect(other).toBeLessThan(0.2);
  });
});

describe("tasks", () => {
  const sent = () => suite.simulator.stats().last?.body as Record<string, unknown>;

  test("a client's task becomes the host's own", async () => {
    const create = (name: string, input_type: string) =>
      openai.embeddings.create({ model: `${name}/embedder`, input: TEXT, input_type } as OpenAI.EmbeddingCreateParams);
    await create("cohere", "RETRIEVAL_QUERY");
    expect(sent()).toMatchObject({ input_type: "search_query" });
    await create("voyage", "search_document");
    expect(sent()).toMatchObject({ input_type: "document" });
    await create("gemini", "similarity");
    expect(sent()).toMatchObject({ requests: [{ taskType: "SEMANTIC_SIMILARITY" }] });
    await create("vertex", "query");
    expect(sent()).toMatchObject({ instances: [{ task_type: "RETRIEVAL_QUERY" }] });
    await create("qwen", "query");
    expect(sent()).toMatchObject({ parameters: { text_type: "query" } });
  });

  test("for one that the host does not know, the receipt says what happened", async () => {
    const google = new GoogleGenAI({ apiKey: suite.gateway.key, httpOptions: { baseUrl: suite.gateway.url } });
    const ask = (model: string) =>
      google.models.embedContent({
        model,
        contents: TEXT,
        config: { taskType: "SEMANTIC_SIMILARITY", title: "A cat" },
      });
    const dropped = await ask("openai/embedder");
    expect(dropped.sdkHttpResponse?.headers?.["x-trivium-dropped"]).toBe("requests[].taskType,requests[].title");
    const near = await ask("cohere/embedder");
    expect(near.sdkHttpResponse?.headers?.["x-trivium-approximated"]).toBe("requests[].taskType");
  });
});

describe("several texts through clients that batch", () => {
  test("AI SDK's embedMany, and genai's list of contents with its own setting", async () => {
    const { url, key } = suite.gateway;
    const values = Array.from({ length: 250 }, (_, index) => `value ${index}`);
    const model = createGoogleGenerativeAI({ baseURL: `${url}/v1beta`, apiKey: key }).textEmbeddingModel(
      "gemini/embedder",
    );
    const { embeddings } = await embedMany({ model, values });
    expect(embeddings).toHaveLength(250);
    expect(cosine(embeddings[249] ?? [], embedText("value 249", 3072)).toFixed(6)).toBe("1.000000");
    const google = new GoogleGenAI({ apiKey: key, httpOptions: { baseUrl: url } });
    const answer = await google.models.embedContent({
      model: "voyage/embedder",
      contents: values,
      config: { outputDimensionality: 512 },
    });
    expect(answer.embeddings?.map(({ values: numbers = [] }) => numbers.length)).toEqual(Array(250).fill(512));
  });
});

describe("errors, in each client's own protocol", () => {
  test("openai: the path and what is expected", async () => {
    const post = async (body: object) => {
      const headers = { authorization: `Bearer ${suite.gateway.key}`, "content-type": "application/json" };
      const answer = await fetch(`${suite.gateway.url}/v1/embeddings`, {
        method: "POST",
        headers,
        body: JSON.stringify(body),
      });
      const { error } = (await answer.json()) as { error: { message: string; param: string | null } };
      return [answer.status, error.param, error.message] as const;
    };
    const model = "openai/embedder";
    expect(await post({ model })).toEqual([
      400,
      "input",
      expect.stringMatching(/^input must be a string.*; it is missing\.$/),
    ]);
    expect(await post({ model, input: "" })).toEqual([400, "input", "input must not be an empty string."]);
    expect(await post({ model, input: [] })).toEqual([400, "input", "input must not be an empty array."]);
    expect(await post({ model, input: ["a", ""] })).toEqual([400, "input[1]", "input[1] must not be empty."]);
    expect(await post({ model, input: ["a", 3] })).toEqual([
      400,
      "input[1]",
      "input[1] is a number, but input[0] is a string; all items must have the same type.",
    ]);
    expect(await post({ model, input: Array(10_000).fill("a") })).toEqual([
      400,
      "input",
      "input has 10000 items; at most 2048 can be sent per request.",
    ]);
    expect(await post({ model, input: "a", dimensions: 0 })).toEqual([400, "dimensions", expect.any(String)]);
    expect(await post({ model, input: "a", encoding_format: "int8" })).toEqual([
      400,
      "encoding_format",
      expect.any(String),
    ]);
    expect((await post({ model, input: "a", output_dtype: "int8" }))[1]).toBe("output_dtype");
    expect((await post({ model, input: "a", embedding_types: ["float", "binary"] }))[1]).toBe("embedding_types[1]");
    expect(await post({ model, input: "a", input_type: "poem" })).toEqual([
      400,
      "input_type",
      expect.stringMatching(/^input_type is "poem"; it must be one of query, document/),
    ]);
    expect(await post({ model: "x".repeat(1000), input: "a" })).toEqual([404, "model", expect.any(String)]);
    expect(await post({ input: "a" })).toEqual([400, "model", expect.any(String)]);
    expect(await post({ model: "cohere/embedder", input: [[1, 2]] })).toEqual([
      400,
      "input",
      expect.stringMatching(/does not accept tokens; send text/),
    ]);
  });

  test("genai: status and message, with its own field names", async () => {
    const { url, key } = suite.gateway;
    const post = async (path: string, body: object) => {
      const headers = { "x-goog-api-key": key, "content-type": "application/json" };
      const answer = await fetch(`${url}/v1beta/models/${path}`, {
        method: "POST",
        headers,
        body: JSON.stringify(body),
      });
      const { error } = (await answer.json()) as { error: { code: number; status: string; message: string } };
      return [answer.status, error.code, error.status, error.message] as const;
    };
    expect(await post("gemini/embedder:embedContent", {})).toEqual([
      400,
      400,
      "INVALID_ARGUMENT",
      "content must be an object; it is missing.",
    ]);
    expect(await post("gemini/embedder:batchEmbedContents", { requests: [{ content: { parts: [{}] } }] })).toEqual([
      400,
      400,
      "INVALID_ARGUMENT",
      expect.stringMatching(/requests\[0\]\.content\.parts\[0\] has no text/),
    ]);
    const request = { content: { parts: [{ text: "a" }] } };
    expect(await post("gemini/embedder:batchEmbedContents", { requests: Array(10_000).fill(request) })).toEqual([
      400,
      400,
      "INVALID_ARGUMENT",
      expect.stringMatching(/requests/),
    ]);
    expect(await post("mistral/embedder:embedContent", { ...request, outputDimensionality: 5 })).toEqual([
      400,
      400,
      "INVALID_ARGUMENT",
      expect.stringMatching(/outputDimensionality/),
    ]);
    expect(await post("gemini/nothing:embedContent", request)).toEqual([404, 404, "NOT_FOUND", expect.any(String)]);
  });

  test.each([
    ["sim:busy", 429],
    ["sim:broken", 502],
    ["sim:overloaded", 503],
  ])("a host that responds to %s with an error is a %d for every client, whichever host", async (word, status) => {
    const google = new GoogleGenAI({ apiKey: suite.gateway.key, httpOptions: { baseUrl: suite.gateway.url } });
    for (const name of ["openai", "gemini", "cohere", "bedrock", "qwen", "voyage"]) {
      const model = `${name}/embedder`;
      const one = await openai.embeddings.create({ model, input: word }).catch((thrown: unknown) => thrown);
      const other = await google.models.embedContent({ model, contents: word }).catch((thrown: unknown) => thrown);
      expect({ name, one, other }).toMatchObject({ name, one: { status }, other: { status } });
    }
  });
});
