import { expect } from "bun:test";
import { testPage } from "./support/doc-page.ts";

const { testExample } = testPage("docs/messages.md", { blocks: { ts: 1 } });

testExample("Anthropic's SDK names fallback models", async (page, folder) => {
  expect(await folder.typescript(page.one("ts", "fallbacks"))).toMatch(/^1 /);
});
