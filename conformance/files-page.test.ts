import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { programsPresent } from "../testing/is-present.ts";
import { ExampleFolder, Page } from "./support/doc-examples.ts";
import { startTestGateway, type TestGateway } from "./support/test-gateway.ts";

const page = new Page("docs/files.md");
const canPaste = programsPresent("shell examples of docs/files.md", "curl", "grep", "head");

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

test("every block of docs/files.md is run here", () => {
  expect(page.counts()).toEqual({ sh: 1, ts: 1 });
});

describe.skipIf(!canPaste)("docs/files.md", () => {
  test("a file is uploaded, and its content reaches a model", async () => {
    expect(await folder.shell(page.one("sh", "notes.txt"))).toContain("The harbour opens at nine.");
  });
});

test("docs/files.md: one SDK uploads a file, and the others use it", async () => {
  expect((await folder.typescript(page.one("ts", "anthropic"))).trim()).toBe("true true");
});
