import { afterAll, beforeAll, expect, test } from "bun:test";
import { programsPresent } from "../../testing/is-present.ts";
import { ExampleFolder, Page } from "../support/doc-examples.ts";
import { startTestGateway, type TestGateway } from "../support/test-gateway.ts";

// Examples start programs, possibly on a slow machine.

const page = new Page("docs/embeddings.md");
const canPaste = programsPresent("shell examples of docs/embeddings.md", "curl");

let gateway: TestGateway;
let folder: ExampleFolder;
beforeAll(async () => {
  gateway = await startTestGateway({ config: { simulator: true } });
  folder = new ExampleFolder({ TRIVIUM_URL: gateway.url, TRIVIUM_API_KEY: gateway.key });
});
afterAll(async () => {
  await gateway.stop();
  folder.remove();
});

test("every block of docs/embeddings.md is run here, or loaded in scripts/docs.test.ts", () => {
  expect(page.counts()).toEqual({ sh: 2, ts: 2, yaml: 1 });
});

test.skipIf(!canPaste)("its curl command makes vectors of the requested size", async () => {
  const answer = JSON.parse(await folder.shell(page.one("sh", "/v1/embeddings"))) as {
    data: { embedding: number[] }[];
    model: string;
  };
  expect(answer.model).toBe("sim/embedding");
  expect(answer.data.map(({ embedding }) => embedding.length)).toEqual([4, 4]);
});

test.skipIf(!canPaste)("its ranking command returns the best document", async () => {
  const answer = JSON.parse(await folder.shell(page.one("sh", "/v1/rerank"))) as { results: object[] };
  expect(answer.results).toEqual([
    { index: 1, relevance_score: expect.any(Number), document: { text: "Foxes live in dens." } },
  ]);
});

test("its example with openai finds the nearest text", async () => {
  expect(await folder.typescript(page.one("ts", 'from "openai"'))).toMatch(/^0 \d+\n$/);
});

test("its example with @google/genai has vectors of the requested size", async () => {
  expect(await folder.typescript(page.one("ts", 'from "@google/genai"'))).toBe("[ 256, 256 ]\n");
});
