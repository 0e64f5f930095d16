import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { programsPresent } from "../testing/is-present.ts";
import { ExampleFolder, Page } from "./support/doc-examples.ts";
import { startTestGateway, type TestGateway } from "./support/test-gateway.ts";

const page = new Page("docs/batches.md");
const canPaste = programsPresent("shell examples of docs/batches.md", "curl", "grep", "head", "cut");

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

test("every block of docs/batches.md is run here", () => {
  expect(page.counts()).toEqual({ sh: 1, ts: 2 });
});

describe.skipIf(!canPaste)("docs/batches.md", () => {
  test("a batch of two requests is created, polled and read", async () => {
    const results = (await folder.shell(page.one("sh", "in.jsonl"))).trim().split("\n");
    expect(results.map((line) => (JSON.parse(line) as { custom_id: string }).custom_id)).toEqual(["a", "b"]);
  });
});

test("docs/batches.md: Anthropic's SDK reads the results", async () => {
  expect((await folder.typescript(page.one("ts", "anthropic"))).trim()).toBe("a succeeded\nb succeeded");
});

test("docs/batches.md: Google's SDK reads the results", async () => {
  expect((await folder.typescript(page.one("ts", "genai"))).trim()).toBe("1");
});
