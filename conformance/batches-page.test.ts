import { expect } from "bun:test";
import { testPage } from "./support/doc-page.ts";

const { testShell, testExample } = testPage("docs/batches.md", {
  // The configuration is used in simulated-batches.test.ts.
  blocks: { sh: 2, ts: 2, yaml: 1 },
  programs: ["curl", "grep", "head", "cut"],
});

testShell("a batch of two requests is created, polled and read", async (page, folder) => {
  const results = (await folder.shell(page.one("sh", "in.jsonl"))).trim().split("\n");
  expect(results.map((line) => (JSON.parse(line) as { custom_id: string }).custom_id)).toEqual(["a", "b"]);
});

testShell("an operator lists the batch, and the receipts of its lines", async (page, folder) => {
  const shown = await folder.shell(`${page.one("sh", "in.jsonl")}\n${page.one("sh", "batches list")}`);
  expect(shown).toMatch(/^batch_\w{22} .* completed +2 +0 +2 /m);
  expect(shown).toContain('"state": "completed"');
  expect(shown.match(/^rcp_\S+ /gm)).toHaveLength(2);
});

testExample("Anthropic's SDK reads the results", async (page, folder) => {
  expect((await folder.typescript(page.one("ts", "anthropic"))).trim()).toBe("a succeeded\nb succeeded");
});

testExample("Google's SDK reads the results", async (page, folder) => {
  expect((await folder.typescript(page.one("ts", "genai"))).trim()).toBe("1");
});
