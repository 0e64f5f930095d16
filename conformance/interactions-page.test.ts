import { expect } from "bun:test";
import { testPage } from "./support/doc-page.ts";

const { testShell, testExample } = testPage("docs/interactions.md", {
  blocks: { sh: 1, ts: 1 },
  programs: ["curl"],
});

testExample("Google's SDK continues a stored interaction, streamed, and deletes it", async (page, folder) => {
  expect(await folder.typescript(page.one("ts", "previous_interaction_id"))).toContain("What is my name?");
});

testShell("curl creates an interaction", async (page, folder) => {
  const answer = JSON.parse(await folder.shell(page.one("sh", "curl"))) as Record<string, unknown>;
  expect(answer).toMatchObject({ object: "interaction", status: "completed", model: "sim/standard" });
});
