import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { countTokens } from "../../simulator/text/tokens.ts";
import {
  SERVICE_HOSTS,
  type ServiceSuite,
  startServiceSuite,
  USD_PER_MILLION,
  USD_PER_SEARCH,
} from "./service-harness.ts";

const QUERY = "Where do foxes live?";
const DOCUMENTS = ["Stocks fell on Monday.", "Foxes live in dens.", "A fox is an animal.", "The sea is deep."];
const RERANKERS = SERVICE_HOSTS.filter(({ reranker }) => reranker !== undefined);

let suite: ServiceSuite;
beforeAll(async () => {
  suite = await startServiceSuite();
});
afterAll(() => suite.stop());

interface RerankBody {
  id?: string;
  model?: string;
  results?: { index: number; relevance_score: number; document?: { text: string } }[];
  meta?: { billed_units: { search_units?: number; input_tokens?: number } };
  message?: string;
  error?: { message: string; param: string | null };
}

async function rerank(body: object, path = "/v1/rerank") {
  const headers = { authorization: `Bearer ${suite.gateway.key}`, "content-type": "application/json" };
  const response = await fetch(suite.gateway.url + path, { method: "POST", headers, body: JSON.stringify(body) });
  return { response, status: response.status, body: (await response.json()) as RerankBody };
}

describe("every host that ranks", () => {
  test.each(RERANKERS.map((host) => [host.name, host] as const))(
    "%s: the best first, by their index in the request, billed by its price unit",
    async (name, { searches, kind = name }) => {
      const model = `${name}/reranker`;
      const { response, status, body } = await rerank({
        model,
        query: QUERY,
        documents: DOCUMENTS,
        return_documents: true,
      });
      expect([status, body.model]).toEqual([200, model]);
      expect(body.results?.map(({ index }) => index).slice(0, 2)).toEqual([1, 2]);
      expect(body.results).toHaveLength(DOCUMENTS.length);
      for (const { index, document } of body.results ?? []) expect(document?.text).toBe(DOCUMENTS[index] ?? "");
      const receipt = await suite.gateway.receipt(response);
      const tokens = DOCUMENTS.reduce((sum, text) => sum + countTokens(text) + countTokens(QUERY), 0);
      expect(receipt).toMatchObject(
        searches
          ? { usage: { searches: 1, input: null }, cost_nano_usd: USD_PER_SEARCH * 1e9 }
          : { usage: { searches: null, input: tokens }, cost_nano_usd: tokens * USD_PER_MILLION * 1000 },
      );
      // One cloud does not report what it counted.
      expect(receipt.usage_source).toBe(kind === "bedrock" ? "estimated" : "measured");
      expect(body.meta?.billed_units).toEqual(searches ? { search_units: 1 } : { input_tokens: tokens });
      expect(receipt.id).toBe(body.id ?? "");
    },
  );

  test.each(RERANKERS.map(({ name }) => name))("%s: documents are returned as they were sent", async (name) => {
    const documents = DOCUMENTS.map((text, place) => ({ text, id: `doc-${place}`, meta: { place } }));
    const { body } = await rerank({ model: `${name}/reranker`, query: QUERY, documents, return_documents: true });
    for (const { index, document } of body.results ?? []) expect(document as unknown).toEqual(documents[index]);
  });

  test.each(RERANKERS.map(({ name }) => name))("%s: no more than requested", async (name) => {
    const { body } = await rerank({ model: `${name}/reranker`, query: QUERY, documents: DOCUMENTS, top_n: 1 });
    expect(body.results?.map(({ index }) => index)).toEqual([1]);
  });

  test("qwen: more documents than it accepts are sent in several requests, and ranked as one", async () => {
    const documents = Array.from({ length: 1200 }, (_, index) => `stone ${index}`);
    documents[1100] = "Foxes live in dens.";
    documents[40] = "A fox is an animal.";
    suite.asked();
    const { body } = await rerank({ model: "qwen/reranker", query: QUERY, documents, top_n: 2 });
    expect([suite.asked(), body.results?.map(({ index }) => index)]).toEqual([3, [1100, 40]]);
  });
});

describe("requests", () => {
  test.each(["/v1/rerank", "/v2/rerank", "/api/v1/rerank"])(
    "%s accepts texts, and objects with a text",
    async (path) => {
      const documents = [{ text: "Foxes live in dens." }, "The sea is deep."];
      const { status, body } = await rerank({ model: "cohere/reranker", query: QUERY, documents }, path);
      expect([status, body.results?.[0]?.index]).toEqual([200, 0]);
    },
  );

  test("H09: fields that the host does not know are noted by their names", async () => {
    const asked = { query: QUERY, documents: DOCUMENTS, max_tokens_per_doc: 100, colour: "red" };
    const dropped = async (name: string) =>
      (await rerank({ model: `${name}/reranker`, ...asked })).response.headers.get("x-trivium-dropped");
    expect([await dropped("cohere"), await dropped("voyage")]).toEqual(["colour", "max_tokens_per_doc,colour"]);
  });

  test("mistakes are refused with their path", async () => {
    const model = "cohere/reranker";
    const refused = async (body: object) => {
      const { status, body: answer } = await rerank({ model, query: QUERY, documents: DOCUMENTS, ...body });
      return [status, answer.error?.param];
    };
    const { body } = await rerank({ model, documents: DOCUMENTS });
    expect([body.message, body.id?.slice(0, 4)]).toEqual(["query must be a non-empty string; it is missing.", "req_"]);
    expect(body.error?.message).toBe(body.message ?? "");
    expect(await refused({ query: "" })).toEqual([400, "query"]);
    expect(await refused({ documents: [] })).toEqual([400, "documents"]);
    expect(await refused({ documents: ["a", 3] })).toEqual([400, "documents[1]"]);
    expect(await refused({ documents: Array(10_000).fill("a") })).toEqual([400, "documents"]);
    expect(await refused({ top_n: 0 })).toEqual([400, "top_n"]);
    expect(await refused({ model: "openai/embedder" })).toEqual([400, "model"]);
    expect(await refused({ model: "nobody/nothing" })).toEqual([404, "model"]);
    expect(await refused({ query: "sim:busy" })).toEqual([429, null]);
  });
});
