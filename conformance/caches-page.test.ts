import { afterAll, beforeAll, expect, test } from "bun:test";
import { ExampleFolder, Page } from "./support/doc-examples.ts";
import { startTestGateway, type TestGateway } from "./support/test-gateway.ts";

const page = new Page("docs/caches.md");

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

test("every block of docs/caches.md is run here", () => {
  expect(page.counts()).toEqual({ ts: 1 });
});

test("docs/caches.md: a cache is created, read, extended and deleted", async () => {
  expect((await folder.typescript(page.one("ts", "caches"))).trim()).toBe("true");
});
