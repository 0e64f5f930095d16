import { expect } from "bun:test";
import { testPage } from "./support/doc-page.ts";

const { testShell, testExample } = testPage("docs/responses.md", {
  blocks: { sh: 2, ts: 1 },
  programs: ["curl", "grep", "head"],
});

testShell("a conversation continues by the id of its last response", async (page, folder) => {
  const answer = JSON.parse(await folder.shell(page.one("sh", "previous_response_id"))) as Record<string, unknown>;
  expect(answer).toMatchObject({ object: "response", status: "completed", store: true });
  expect(answer["previous_response_id"]).toMatch(/^resp_/);
});

testShell("a background response is polled until it is complete", async (page, folder) => {
  const [define = ""] = page.one("sh", "previous_response_id").split("\nfirst=");
  const status = await folder.shell(`${define}\n${page.one("sh", "background")}`);
  expect(status).toMatch(/"status": ?"completed"/);
});

testExample("OpenAI's SDK continues, lists the input of a response, and deletes it", async (page, folder) => {
  expect(await folder.typescript(page.one("ts", "inputItems"))).toMatch(/^3 \S/);
});
