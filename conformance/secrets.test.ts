import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type App, startApp } from "../src/app/start-app.ts";
import { system } from "../src/base/system.ts";
import { createLog } from "../src/observe/log.ts";
import { eventually } from "../testing/eventually.ts";
import { freePort } from "../testing/free-port.ts";
import { plainAnswer, plainUsage } from "../testing/plain-answer.ts";
import { scriptedModels } from "../testing/scripted-models.ts";
import { TEST_KEY } from "../testing/test-key.ts";
import { callGateway } from "./support/client-calls.ts";
import { TEST_ADMIN_SECRET } from "./support/test-gateway.ts";

const folder = mkdtempSync(join(tmpdir(), "trivium-secret-stores-"));
const REFERENCE = ["$", "{vault:secret/data/app#key}"].join("");
const FIRST = "first-key-of-the-vault";
const SECOND = "second-key-of-the-vault";

let stored: string | undefined = FIRST;
let isFrozen = false;
const seen: (string | null)[] = [];
const vault = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  fetch: async () => {
    if (isFrozen) await new Promise(() => {});
    if (stored === undefined) return new Response("", { status: 404 });
    return Response.json({ data: { data: { key: stored }, metadata: {} } });
  },
});
const provider = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  fetch: (request) => {
    seen.push(request.headers.get("authorization"));
    return Response.json(plainAnswer("chat", { text: "yes", usage: plainUsage("chat", 1, 1) }));
  },
});

const lines: string[] = [];
const log = createLog({
  clock: system.clock,
  level: "debug",
  format: "json",
  write: async (text) => void lines.push(text),
});
const environment = { VAULT_ADDR: `http://127.0.0.1:${vault.port}`, VAULT_TOKEN: "token-of-the-vault" };

function write(changes: object = {}, key = REFERENCE): void {
  const { providers, ...rest } = scriptedModels(`http://127.0.0.1:${provider.port}`) as {
    providers: Record<string, object>;
  };
  const withSecret = Object.fromEntries(
    Object.entries(providers).map(([name, one]) => [name, { ...one, api_key: key }]),
  );
  const config = {
    server: { port: freePort() },
    admin: { port: freePort(), secret: TEST_ADMIN_SECRET },
    simulator: false,
    keys: [{ name: "tests", key: TEST_KEY }],
    ...rest,
    providers: withSecret,
    ...changes,
  };
  writeFileSync(join(folder, "trivium.yaml"), JSON.stringify(config));
}

let app: App;
beforeAll(async () => {
  write();
  app = await startApp({ cwd: folder, environment, log });
});
afterAll(async () => {
  await app.stop();
  await Promise.all([vault.stop(true), provider.stop(true)]);
  rmSync(folder, { recursive: true, force: true });
});

const call = async (at = app) => {
  const body = { messages: [{ role: "user", content: "Hi" }], max_completion_tokens: 5 };
  const answer = await callGateway(at.url, "chat", TEST_KEY, { body });
  await answer.text();
  return answer.status;
};

describe("choices 18: secrets of stores in a running gateway", () => {
  test("a provider's key comes from the store, and a reload reads it again", async () => {
    expect(await call()).toBe(200);
    expect(seen.at(-1)).toBe(`Bearer ${FIRST}`);
    stored = SECOND;
    app.reload();
    await eventually("the new secret", async () => (await call()) === 200 && seen.at(-1) === `Bearer ${SECOND}`);
  });

  test("a secret that disappears keeps its last value, and a warning names it", async () => {
    stored = undefined;
    app.reload();
    await eventually("the new secret", () =>
      lines.some((line) => line.includes("failed to read the secret vault:secret/data/app#key again")),
    );
    expect(await call()).toBe(200);
    expect(seen.at(-1)).toBe(`Bearer ${SECOND}`);
    stored = FIRST;
    app.reload();
    await eventually("the new secret", async () => (await call()) === 200 && seen.at(-1) === `Bearer ${FIRST}`);
  });

  test("no secret is in the log, the configuration of the Admin API, or the metrics", async () => {
    const headers = { authorization: `Bearer ${TEST_ADMIN_SECRET}` };
    const shown = await Promise.all(
      ["/api/config", "/metrics", "/api/providers"].map(async (path) =>
        (await fetch(app.adminUrl + path, { headers })).text(),
      ),
    );
    for (const text of [...shown, ...lines]) {
      expect(text).not.toContain(FIRST);
      expect(text).not.toContain(SECOND);
      expect(text).not.toContain("token-of-the-vault");
    }
  });

  test("a start without the secret is refused with its name and the reason", async () => {
    stored = undefined;
    const start = startApp({ cwd: folder, environment, log });
    await expect(start).rejects.toThrow(
      /api_key refers to the secret vault:secret\/data\/app#key, which cannot be read: the store has no such secret \(404\)/,
    );
    stored = FIRST;
  });

  test("a field that operators see cannot come from a store", async () => {
    write({ data_dir: REFERENCE });
    await expect(startApp({ cwd: folder, environment, log })).rejects.toThrow("data_dir cannot refer to a secret");
  });

  test("a reference that is added while the gateway runs is read with the changed file", async () => {
    stored = FIRST;
    write({ data_dir: "./other" }, "a-key-of-the-file");
    const other = await startApp({ cwd: folder, environment, log });
    try {
      expect(await call(other)).toBe(200);
      expect(seen.at(-1)).toBe("Bearer a-key-of-the-file");
      const text = readFileSync(join(folder, "trivium.yaml"), "utf8");
      writeFileSync(join(folder, "trivium.yaml"), text.replaceAll("a-key-of-the-file", REFERENCE));
      other.reload();
      await eventually("the new secret", async () => (await call(other)) === 200 && seen.at(-1) === `Bearer ${FIRST}`);
    } finally {
      await other.stop();
    }
  });

  test("H29: a frozen store does not hold up the start for ever", async () => {
    write();
    isFrozen = true;
    await expect(startApp({ cwd: folder, environment, log })).rejects.toThrow("the store did not answer within 10 s");
    isFrozen = false;
  }, 30_000);
});
