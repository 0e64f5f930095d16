import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { programsPresent } from "../testing/is-present.ts";
import { ExampleFolder, Page } from "./support/doc-examples.ts";
import { startTestGateway, type TestGateway } from "./support/test-gateway.ts";

// Examples start programs, possibly on a slow machine.

const page = new Page("docs/responses.md");
const canPaste = programsPresent("shell examples of docs/responses.md", "curl", "grep", "head");

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

test("every block of docs/responses.md is run here", () => {
  expect(page.counts()).toEqual({ sh: 2, ts: 1 });
});

describe.skipIf(!canPaste)("docs/responses.md", () => {
  test("a conversation continues by the id of its last response", async () => {
    const answer = JSON.parse(await folder.shell(page.one("sh", "previous_response_id"))) as Record<string, unknown>;
    expect(answer).toMatchObject({ object: "response", status: "completed", store: true });
    expect(answer["previous_response_id"]).toMatch(/^resp_/);
  });

  test("a background response is polled until it is complete", async () => {
    const [define = ""] = page.one("sh", "previous_response_id").split("\nfirst=");
    const status = await folder.shell(`${define}\n${page.one("sh", "background")}`);
    expect(status).toMatch(/"status": ?"completed"/);
  });
});

test("docs/responses.md: OpenAI's SDK continues, lists the input of a response, and deletes it", async () => {
  expect(await folder.typescript(page.one("ts", "inputItems"))).toMatch(/^3 \S/);
});
