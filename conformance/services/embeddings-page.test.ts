import { expect } from "bun:test";
import { testPage } from "../support/doc-page.ts";

// The YAML block is loaded in scripts/docs.test.ts.
const { testShell, testExample } = testPage("docs/embeddings.md", {
  blocks: { sh: 2, ts: 2, yaml: 1 },
  programs: ["curl"],
});

testShell("curl makes vectors of the requested size", async (page, folder) => {
  const answer = JSON.parse(await folder.shell(page.one("sh", "/v1/embeddings"))) as {
    data: { embedding: number[] }[];
    model: string;
  };
  expect(answer.model).toBe("sim/embedding");
  expect(answer.data.map(({ embedding }) => embedding.length)).toEqual([4, 4]);
});

testShell("the ranking command returns the best document", async (page, folder) => {
  const answer = JSON.parse(await folder.shell(page.one("sh", "/v1/rerank"))) as { results: object[] };
  expect(answer.results).toEqual([
    { index: 1, relevance_score: expect.any(Number), document: { text: "Foxes live in dens." } },
  ]);
});

testExample("openai finds the nearest text", async (page, folder) => {
  expect(await folder.typescript(page.one("ts", 'from "openai"'))).toMatch(/^0 \d+\n$/);
});

testExample("@google/genai makes vectors of the requested size", async (page, folder) => {
  expect(await folder.typescript(page.one("ts", 'from "@google/genai"'))).toBe("[ 256, 256 ]\n");
});
