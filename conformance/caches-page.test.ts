import { expect } from "bun:test";
import { testPage } from "./support/doc-page.ts";

const { testExample } = testPage("docs/caches.md", { blocks: { ts: 1 } });

testExample("a cache is created, read, extended and deleted", async (page, folder) => {
  expect((await folder.typescript(page.one("ts", "caches"))).trim()).toBe("true");
});
