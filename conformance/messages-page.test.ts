import { afterAll, beforeAll, expect, test } from "bun:test";
import { ExampleFolder, Page } from "./support/doc-examples.ts";
import { startTestGateway, type TestGateway } from "./support/test-gateway.ts";

const page = new Page("docs/messages.md");

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

test("every block of docs/messages.md is run here", () => {
  expect(page.counts()).toEqual({ ts: 1 });
});

test("docs/messages.md: Anthropic's SDK names fallback models", async () => {
  expect(await folder.typescript(page.one("ts", "fallbacks"))).toMatch(/^1 /);
});
