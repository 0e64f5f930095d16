import { afterAll, beforeAll, expect, test } from "bun:test";
import { ExampleFolder, Page } from "./support/doc-examples.ts";
import { startTestGateway, type TestGateway } from "./support/test-gateway.ts";

const page = new Page("docs/live.md");

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

test("every block of docs/live.md is run here", () => {
  expect(page.counts()).toEqual({ ts: 1, json: 1, yaml: 1 });
});

test("docs/live.md: OpenAI's SDK creates a response and continues it", async () => {
  expect((await folder.typescript(page.one("ts", "ResponsesWS"))).trim()).toBe("completed rcp_\ncompleted rcp_");
});

test("docs/live.md: the error event is as shown", () => {
  const shown = JSON.parse(page.one("json", "error")) as object;
  expect(shown).toMatchObject({ type: "error", status: 429, error: { headers: { "retry-after": "12" } } });
});

test("docs/live.md: the limits of the example are the defaults, and are read", async () => {
  const config = Bun.YAML.parse(page.one("yaml", "live:")) as object;
  const limited = await startTestGateway({
    config: { ...config, simulator: true },
    environment: { AGENTS_KEY: "sk-trv-".padEnd(50, "a") },
  });
  await limited.stop();
});
