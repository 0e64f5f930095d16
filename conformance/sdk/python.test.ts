import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import type { DialectName } from "../../src/canon/dialect-name.ts";
import { isOptional } from "../../testing/is-present.ts";
import { plainAnswer, plainUsage } from "../../testing/plain-answer.ts";
import { modelsOfEveryDialect } from "../../testing/scripted-models.ts";
import { TEST_KEY } from "../../testing/test-key.ts";
import { type ScriptedUpstream, sendJson, startScriptedUpstream } from "../support/scripted-upstream.ts";
import { startTestGateway, type TestGateway } from "../support/test-gateway.ts";
import { documentedParts, partWith, UPLOADED_FILES, UPLOADED_KINDS } from "../support/uploaded-parts.ts";

const interpreters = [...(process.env["TRIVIUM_TEST_PYTHON"] ?? "").split(":"), "python3"].filter(Boolean);
const python = interpreters.find(
  (one) =>
    Bun.which(one) !== null &&
    Bun.spawnSync([one, "-c", "import anthropic, openai, google.genai"], { stderr: "ignore" }).success,
);
const isThere = isOptional(python !== undefined, "Python SDKs: openai, anthropic and google-genai are not installed");

let upstream: ScriptedUpstream;
let gateway: TestGateway;
beforeAll(async () => {
  upstream = await startScriptedUpstream();
  gateway = await startTestGateway({ config: { ...modelsOfEveryDialect(upstream.url), simulator: true } });
});
afterAll(async () => {
  await gateway.stop();
  await upstream.stop();
});

async function run(script: string, env: Record<string, string> = {}): Promise<string> {
  const child = Bun.spawn([python ?? "", join(import.meta.dir, "python", script)], {
    env: {
      PATH: process.env["PATH"] ?? "",
      PYTHONDONTWRITEBYTECODE: "1",
      TRIVIUM_URL: gateway.url,
      TRIVIUM_API_KEY: TEST_KEY,
      ...env,
    },
    stdout: "pipe",
    stderr: "pipe",
  });
  const [code, printed, problems] = await Promise.all([child.exited, child.stdout.text(), child.stderr.text()]);
  expect([code, problems]).toEqual([0, expect.any(String)]);
  return printed;
}

const wireOf = (path: string): DialectName =>
  path.includes("/messages")
    ? "messages"
    : path.includes(":")
      ? "genai"
      : path.includes("responses")
        ? "responses"
        : "chat";

describe.skipIf(!isThere)("choices 12: files and batches with the Python SDKs", () => {
  test("a file that any SDK uploads arrives at every wire as docs/files.md shows it, in every protocol", async () => {
    upstream.play(({ path }, response) => {
      const wire = wireOf(path);
      sendJson(response, plainAnswer(wire, { text: "Seen.", usage: plainUsage(wire, 10, 2) }));
    });
    const files = Object.entries(UPLOADED_FILES).map(([name, bytes]) => [name, bytes.toString("base64")]);
    const printed = await run("files_in_calls.py", { TRIVIUM_TEST_FILES: JSON.stringify(Object.fromEntries(files)) });
    const calls = printed
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as { mark: string; problem: string | null });
    const arrived = new Map<string, Set<string>>();
    for (const { mark, problem } of calls) {
      const [, , kind = "", , wire = ""] = mark.split(":");
      const sent = upstream.seen.find(({ body }) => body.includes(mark));
      const name = UPLOADED_KINDS[kind];
      const part = sent === undefined || name === undefined ? "refused" : (partWith(sent.body, name) ?? "dropped");
      if (process.env["TRIVIUM_TEST_LOG"]) console.log(mark, part, problem ?? "");
      const cell = `${kind} ${wire}`;
      arrived.set(cell, (arrived.get(cell) ?? new Set()).add(part));
    }
    expect(calls).toHaveLength(3 * 4 * 4 * 4);
    expect(Object.fromEntries([...arrived].map(([cell, parts]) => [cell, [...parts].sort()]))).toEqual(
      documentedParts(),
    );
  }, 240_000);

  test("batches in all three forms", async () => {
    const results = JSON.parse(await run("batches.py")) as Record<
      string,
      { status: string; lines: Record<string, string>; listed: boolean }
    >;
    expect(Object.entries(results).map(([vendor, { status, listed }]) => [vendor, status, listed])).toEqual([
      ["openai", "completed", true],
      ["anthropic", "ended", true],
      ["google", "JOB_STATE_SUCCEEDED", true],
    ]);
    for (const { lines } of Object.values(results))
      for (const name of ["alpha", "beta"]) expect(lines[name]).toContain(`${name} words`);
  }, 180_000);
});
