import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { programsPresent } from "../testing/is-present.ts";
import { ExampleFolder, Page } from "./support/doc-examples.ts";
import { startTestGateway, type TestGateway } from "./support/test-gateway.ts";

const page = new Page("docs/interactions.md");
const canPaste = programsPresent("shell examples of docs/interactions.md", "curl");

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

test("every block of docs/interactions.md is run here", () => {
  expect(page.counts()).toEqual({ sh: 1, ts: 1 });
});

test("docs/interactions.md: Google's SDK continues a stored interaction, streamed, and deletes it", async () => {
  expect(await folder.typescript(page.one("ts", "previous_interaction_id"))).toContain("What is my name?");
});

describe.skipIf(!canPaste)("docs/interactions.md", () => {
  test("curl creates an interaction", async () => {
    const answer = JSON.parse(await folder.shell(page.one("sh", "curl"))) as Record<string, unknown>;
    expect(answer).toMatchObject({ object: "interaction", status: "completed", model: "sim/standard" });
  });
});
