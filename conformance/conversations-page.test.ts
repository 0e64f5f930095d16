import { expect } from "bun:test";
import { testPage } from "./support/doc-page.ts";

const { testShell, testExample } = testPage("docs/conversations.md", {
  blocks: { sh: 1, ts: 2 },
  programs: ["curl", "grep", "head"],
});

testShell("the second turn gets the first, although another model answered it", async (page, folder) => {
  expect(await folder.shell(page.one("sh", "conversations"))).toContain("My name is Ada.");
});

testExample("a conversation with OpenAI's SDK", async (page, folder) => {
  expect((await folder.typescript(page.one("ts", "client.conversations.create"))).trim()).toBe("3 true");
});

testExample("a stored completion with OpenAI's SDK", async (page, folder) => {
  expect((await folder.typescript(page.one("ts", "client.chat.completions.list"))).trim()).toBe("true Hello.");
});
