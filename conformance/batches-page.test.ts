import { expect } from "bun:test";
import { testPage } from "./support/doc-page.ts";

const { testShell, testTypescript } = testPage("docs/batches.md", {
  blocks: { sh: 1, ts: 2 },
  programs: ["curl", "grep", "head", "cut"],
});

testShell("a batch of two requests is created, polled and read", async (page, folder) => {
  const results = (await folder.shell(page.one("sh", "in.jsonl"))).trim().split("\n");
  expect(results.map((line) => (JSON.parse(line) as { custom_id: string }).custom_id)).toEqual(["a", "b"]);
});

testTypescript("Anthropic's SDK reads the results", async (page, folder) => {
  expect((await folder.typescript(page.one("ts", "anthropic"))).trim()).toBe("a succeeded\nb succeeded");
});

testTypescript("Google's SDK reads the results", async (page, folder) => {
  expect((await folder.typescript(page.one("ts", "genai"))).trim()).toBe("1");
});
