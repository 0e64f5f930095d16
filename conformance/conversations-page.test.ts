import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { programsPresent } from "../testing/is-present.ts";
import { ExampleFolder, Page } from "./support/doc-examples.ts";
import { startTestGateway, type TestGateway } from "./support/test-gateway.ts";

const page = new Page("docs/conversations.md");
const canPaste = programsPresent("shell examples of docs/conversations.md", "curl", "grep", "head");

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

test("every block of docs/conversations.md is run here", () => {
  expect(page.counts()).toEqual({ sh: 1, ts: 2 });
});

describe.skipIf(!canPaste)("docs/conversations.md", () => {
  test("the second turn gets the first, although another model answered it", async () => {
    expect(await folder.shell(page.one("sh", "conversations"))).toContain("My name is Ada.");
  });
});

test("docs/conversations.md: a conversation with OpenAI's SDK", async () => {
  expect((await folder.typescript(page.one("ts", "client.conversations.create"))).trim()).toBe("3 true");
});

test("docs/conversations.md: a stored completion with OpenAI's SDK", async () => {
  expect((await folder.typescript(page.one("ts", "client.chat.completions.list"))).trim()).toBe("true Hello.");
});
