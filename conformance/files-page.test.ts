import { expect } from "bun:test";
import { testPage } from "./support/doc-page.ts";

const { testShell, testExample } = testPage("docs/files.md", {
  blocks: { sh: 1, ts: 1 },
  programs: ["curl", "grep", "head"],
});

testShell("a file is uploaded, and its content reaches a model", async (page, folder) => {
  expect(await folder.shell(page.one("sh", "notes.txt"))).toContain("The harbour opens at nine.");
});

testExample("one SDK uploads a file, and the others use it", async (page, folder) => {
  expect((await folder.typescript(page.one("ts", "anthropic"))).trim()).toBe("true true");
});
