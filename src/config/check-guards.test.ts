import { afterAll, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readConfig } from "../app/read-config.ts";
import { ConfigError } from "./config-error.ts";

const folder = mkdtempSync(join(tmpdir(), "trivium-guards-"));
afterAll(() => rmSync(folder, { recursive: true }));

function load(text: string) {
  const configPath = join(folder, "trivium.yaml");
  writeFileSync(configPath, text);
  return readConfig({ configPath, cwd: folder, environment: {} });
}

function problems(text: string): string[] {
  try {
    load(text);
  } catch (thrown) {
    if (thrown instanceof ConfigError) return thrown.problems.map(({ line, message }) => `${line}: ${message}`);
    throw thrown;
  }
  return [];
}

describe("decision 0123: guards in the configuration", () => {
  test("defaults: both directions, block on failure, two seconds, 200 characters", () => {
    const { guards } = load("guards:\n  - { name: people, use: pii, action: redact }\n");
    expect(guards).toEqual([
      {
        name: "people",
        use: "pii",
        action: "redact",
        on: ["request", "response"],
        onFailure: "block",
        timeoutMs: 2000,
        window: 200,
      },
    ]);
  });

  test.each([
    ["- { name: a, use: pii }", "2: guards[0] requires action"],
    [
      "- { name: a, use: pi, action: redact }",
      "2: guards[0].use must be one of secrets, pii, words, moderation, webhook; did you mean pii?",
    ],
    ["- { name: a, use: words, action: block }", "2: guards[0] requires words, because it has use: words"],
    ["- { name: a, use: pii, action: block, words: [x] }", "2: guards[0].words is only for guards with use: words"],
    ["- { name: a, use: webhook, action: block }", "2: guards[0] requires url, because it has use: webhook"],
    [
      "- { name: a, use: webhook, action: block, url: ftp://x }",
      "2: guards[0].url must be an http or https URL without fragment or credentials",
    ],
    ["- { name: a, use: moderation, action: block }", "2: guards[0] requires model, because it has use: moderation"],
    [
      "- { name: a, use: pii, action: block, window: 10 }",
      "2: guards[0].window must be a whole number from 64 to 4096",
    ],
    [
      `- { name: a, use: words, action: block, window: 64, words: [${"x".repeat(65)}] }`,
      "2: guards[0].words contains a phrase of 65 characters; the longest is guards[0].window, which is 64",
    ],
    [
      "- { name: a, use: pii, action: block }\n  - { name: a, use: secrets, action: block }",
      '3: guards contains two guards with the name "a"; names must be unique',
    ],
  ])("%s: %s", (guard, problem) => {
    expect(problems(`guards:\n  ${guard}\n`)).toEqual([problem]);
  });

  test("secrets of a webhook are not shown", () => {
    const config = load(
      "guards:\n  - { name: hook, use: webhook, action: block, url: 'http://h/x?k=hidden', secret: hidden-sixteen-chars }\n",
    );
    expect(JSON.stringify(config)).not.toContain("hidden");
  });
});
