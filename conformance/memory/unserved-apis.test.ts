import { beforeAll, expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { Harness } from "../../testing/harness.ts";

/** Contract 1: APIs of the vendor that the gateway does not serve, as its SDK calls them. */

const RESOURCES = new URL("../../node_modules/@anthropic-ai/sdk/src/resources/", import.meta.url);
const SERVED = new Set(["/v1/messages", "/v1/models", "/v1/files"]);

const paths = new Set(
  readdirSync(RESOURCES, { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".ts"))
    .flatMap((file) => [...readFileSync(new URL(file, RESOURCES), "utf8").matchAll(/(?:\w\(\s*|path)['`](\/v1\/\w+)/g)])
    .map(([, path = ""]) => path),
);

let harness: Harness;
beforeAll(async () => {
  harness = await Harness.start();
});

test("contract 1: the SDK's resources are found", () => {
  expect(paths.size).toBeGreaterThan(10);
});

test.each([...paths].filter((path) => !SERVED.has(path)))(
  "contract 1: GET %s is 404 in the vendor's form and says what is not served",
  async (path) => {
    const { status, text } = await harness.get(`${path}?beta=true`, { "anthropic-version": "2026-10-21" });
    expect([status, JSON.parse(text)]).toMatchObject([
      404,
      { type: "error", error: { type: "not_found_error", message: expect.stringContaining("API is not supported") } },
    ]);
  },
);
