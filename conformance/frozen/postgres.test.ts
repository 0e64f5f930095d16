import { describe, expect, test } from "bun:test";
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createKey, revokeKey } from "../../src/access/keys.ts";
import { system } from "../../src/base/system.ts";
import { openStorage } from "../../src/storage/open.ts";
import { scriptedModels } from "../../testing/scripted-models.ts";
import { TEST_KEY } from "../../testing/test-key.ts";
import { callGateway, errorOf } from "../support/client-calls.ts";
import { answeringUpstream, callAll, readiness, realTimes, timed, until } from "../support/fault-harness.ts";
import { faultTable, seconds } from "../support/fault-table.ts";
import { type FreezingRelay, startRelay } from "../support/freezing-relay.ts";
import { makeDatabase, type PostgresDatabase, postgresServer } from "../support/postgres-database.ts";
import { listeningAt, TRIVIUM } from "../support/program.ts";
import { startTestGateway, TEST_ADMIN_SECRET, type TestGateway } from "../support/test-gateway.ts";

const timings = realTimes ? {} : { statementMs: 500, heartbeatMs: 200 };
const statementMs = timings.statementMs ?? 5_000;
const record = faultTable();
const upstream = await answeringUpstream();

interface Harness {
  database: PostgresDatabase;
  relay: FreezingRelay;
  gateway: TestGateway;
  [Symbol.asyncDispose](): Promise<void>;
}

/** A gateway whose storage is the suite's PostgreSQL, reached through a relay. */
async function harness(): Promise<Harness> {
  const database = await makeDatabase();
  const relay = await startRelay(database.url);
  const relayed = new URL(database.url);
  relayed.port = String(relay.port);
  const gateway = await startTestGateway({
    config: { ...scriptedModels(upstream.url), storage: relayed.href },
    timings,
  });
  return {
    database,
    relay,
    gateway,
    [Symbol.asyncDispose]: async () => {
      await relay.thaw();
      await gateway.stop();
      await relay.stop();
      await database.drop();
    },
  };
}

const admin = (gateway: TestGateway, path: string, init: RequestInit = {}) =>
  fetch(gateway.adminUrl + path, { ...init, headers: { authorization: `Bearer ${gateway.adminSecret}` } });

async function stored(database: PostgresDatabase, ids: readonly string[]): Promise<number> {
  const rows: { id: string }[] = await database.sql.unsafe("SELECT id FROM receipts");
  const found = new Set(rows.map(({ id }) => id));
  return ids.filter((id) => found.has(id)).length;
}

/** A key created by another process, which the gateway has seen. */
async function makeKey(database: PostgresDatabase, gateway: TestGateway, name: string) {
  const storage = await openStorage(database.url.href, system.clock);
  const made = await createKey(storage, { name, project: "default" }, system, { who: "test" });
  await until("the key is seen", async () => (await callGateway(gateway.url, "chat", made.key)).status === 200);
  return { ...made, storage };
}

const FAULTS = [
  { fault: "PostgreSQL frozen", begin: (relay: FreezingRelay) => relay.freeze() },
  { fault: "PostgreSQL stopped", begin: (relay: FreezingRelay) => relay.refuse() },
];

describe.skipIf(postgresServer === undefined)("an unavailable database", () => {
  test.each(FAULTS)(
    "H29, H21: $fault: calls, revocations and health continue, and every row is kept",
    async ({ fault, begin }) => {
      await using at = await harness();
      const { database, relay, gateway } = at;
      const here = await makeKey(database, gateway, "revoked here");
      const there = await makeKey(database, gateway, "revoked elsewhere");
      const before = await callAll(gateway, 1);
      expect(await readiness(gateway)).toMatchObject({ status: 200, body: { status: "ready" } });

      await begin(relay);
      const during = await callAll(gateway, 4);
      await until(
        "rows are reported as waiting",
        async () => (await readiness(gateway)).body.reason?.includes("receipts wait") === true,
      );
      const reported = await readiness(gateway);
      expect(reported).toMatchObject({
        status: 200,
        body: { reason: expect.stringContaining("receipts wait for the store") },
      });
      expect(reported.ms).toBeLessThan(1_000);

      // What needs the store says so, in the caller's protocol and in time.
      const headers = { authorization: `Bearer ${gateway.key}` };
      const asked = [
        fetch(`${gateway.url}/api/v1/generation?id=${before.ids[0]}`, { headers }),
        admin(gateway, "/api/usage"),
        admin(gateway, "/api/keys"),
      ];
      for (const [answer, ms] of await Promise.all(asked.map(timed))) {
        const retryAfter = answer.headers.get("retry-after");
        expect({ ...(await errorOf(answer)), raw: "", retryAfter }).toEqual({
          status: 503,
          type: "api_error",
          message:
            "The gateway's database does not answer. Calls to models still work; retry this request in a moment.",
          raw: "",
          retryAfter: "5",
        });
        expect(ms).toBeLessThan(statementMs * 1.2 + 2_000);
      }

      const polled = await fetch(`${gateway.url}/api/genai/v1/publishers/a/models/b:fetchPredictOperation`, {
        method: "POST",
        headers: { ...headers, "content-type": "application/json" },
        body: JSON.stringify({ operationName: `publishers/a/models/b/operations/${"x".repeat(22)}` }),
      });
      expect(await errorOf(polled)).toMatchObject({ status: 503, type: "UNAVAILABLE" });

      // A key revoked here stops at once; one revoked elsewhere once the store is available again.
      const revoking = admin(gateway, `/api/keys/${here.id}`, { method: "DELETE" });
      const revokedMs = await until(
        "a key revoked here is refused",
        async () => (await callGateway(gateway.url, "chat", here.key)).status === 401,
      );
      expect(await errorOf(await revoking)).toMatchObject({
        status: 503,
        message: expect.stringContaining("no longer works"),
      });
      await revokeKey(there.storage, there.id, system, { who: "test" });
      expect((await callGateway(gateway.url, "chat", there.key)).status).toBe(200);

      const later = await callAll(gateway, 1);
      await relay.thaw();
      const seenMs = await until(
        "the revocation is seen",
        async () => (await callGateway(gateway.url, "chat", there.key)).status === 401,
      );
      const readyMs = await until("ready", async () => (await readiness(gateway)).body.status === "ready");
      const ids = [...before.ids, ...during.ids, ...later.ids];
      const rowsMs = await until("every row is kept", async () => (await stored(database, ids)) === ids.length);
      const [row] = await database.sql.unsafe("SELECT revoked_at_ms FROM api_keys WHERE id = $1", [here.id]);
      expect(Number(row.revoked_at_ms)).toBeGreaterThan(0);
      await Promise.all([here.storage.close(), there.storage.close()]);
      const [{ lostReceipts }, stopMs] = await timed(gateway.app.stop());
      expect(lostReceipts).toBe(0);
      record({
        fault,
        calls: `${during.ids.length} of ${during.ids.length} answered, slowest ${seconds(during.slowestMs)}`,
        revocations: `here ${seconds(revokedMs)}; elsewhere ${seconds(seenMs)} after`,
        readiness: `200 degraded in ${Math.ceil(reported.ms)} ms`,
        shutdown: `after it: ${seconds(stopMs)}`,
        recovery: `${seconds(seenMs + readyMs + rowsMs)}, all ${ids.length} rows kept`,
      });
    },
  );

  test("H29: silent connections are replaced automatically", async () => {
    await using at = await harness();
    const { database, relay, gateway } = at;
    const there = await makeKey(database, gateway, "revoked elsewhere");
    relay.forget();
    const forgottenMs = performance.now();
    const during = await callAll(gateway, 2);
    await revokeKey(there.storage, there.id, system, { who: "test" });
    await until(
      "the revocation is seen",
      async () => (await callGateway(gateway.url, "chat", there.key)).status === 401,
    );
    await until("every row is kept", async () => (await stored(database, during.ids)) === during.ids.length);
    await until("ready", async () => (await readiness(gateway)).body.status === "ready");
    const recoveryMs = performance.now() - forgottenMs;
    await there.storage.close();
    record({
      fault: "open connections forgotten",
      calls: `${during.ids.length} of ${during.ids.length} answered, slowest ${seconds(during.slowestMs)}`,
      revocations: "elsewhere, within the recovery",
      readiness: "200",
      shutdown: "-",
      recovery: `${seconds(recoveryMs)} from its beginning, all ${during.ids.length} rows kept`,
    });
  });

  test.each(["SIGTERM", "SIGKILL"] as const)(
    "H21, H29: %s while the database is frozen ends the program in time, and the next start stores every row",
    async (signal) => {
      const database = await makeDatabase();
      const relay = await startRelay(database.url);
      const relayed = new URL(database.url);
      relayed.port = String(relay.port);
      const folder = mkdtempSync(join(tmpdir(), "trivium-frozen-"));
      const config = {
        server: { port: 0, drain_seconds: 1 },
        admin: { port: 0, secret: TEST_ADMIN_SECRET },
        storage: relayed.href,
        simulator: false,
        keys: [{ name: "tests", key: TEST_KEY }],
        ...scriptedModels(upstream.url),
      };
      writeFileSync(join(folder, "trivium.yaml"), JSON.stringify(config));
      const start = async () => {
        const child = Bun.spawn([TRIVIUM, "serve", "--workers", "1"], {
          cwd: folder,
          stdin: "ignore",
          stdout: "pipe",
          stderr: "pipe",
        });
        children.push(child);
        const log = child.stderr.text();
        const { url } = await listeningAt(child.stdout);
        return { child, log, url };
      };
      const children: Bun.Subprocess[] = [];
      try {
        const { child, log, url } = await start();
        relay.freeze();
        const { ids } = await callAll({ url, key: TEST_KEY }, 2);
        const journals = () => readdirSync(join(folder, "data", "journal"));
        expect(journals()).toHaveLength(1);
        child.kill(signal);
        const [code, stopMs] = await timed(child.exited);
        expect(code).toBe(signal === "SIGTERM" ? 0 : 137);
        expect(stopMs).toBeLessThan(20_000);
        const printed = await log;
        expect(printed).not.toContain("was lost");
        expect(printed).not.toContain("hello");
        expect(await stored(database, ids)).toBe(0);
        await relay.thaw();
        const [again, recoveryMs] = await timed(start());
        expect(await stored(database, ids)).toBe(ids.length);
        again.child.kill("SIGTERM");
        expect(await again.child.exited).toBe(0);
        expect(await again.log).toContain("stored the receipts of a journal");
        record({
          fault: `PostgreSQL frozen, then ${signal}`,
          calls: `${ids.length} of ${ids.length} answered`,
          revocations: "-",
          readiness: "-",
          shutdown: `${seconds(stopMs)}, exit code ${code}`,
          recovery: `next start, ready after ${seconds(recoveryMs)}, all ${ids.length} rows kept`,
        });
      } finally {
        for (const child of children) child.kill("SIGKILL");
        rmSync(folder, { recursive: true, force: true });
        await relay.stop();
        await database.drop();
      }
    },
  );

  test("H29: a slow statement on a live server costs no connection", async () => {
    // A busy server also stops a statement within it.
    const TIMEOUT_MS = 1_500;
    await using at = await harness();
    const storage = await openStorage(at.database.url.href, system.clock, TIMEOUT_MS);
    const backends = async () => {
      // Autovacuum comes and goes.
      const rows = await at.database.sql.unsafe(
        "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND backend_type = 'client backend'",
      );
      return rows.map(({ pid }: { pid: number }) => pid);
    };
    await storage.query("SELECT 1");
    const before = await backends();
    const [thrown, ms] = await timed(storage.query("SELECT pg_sleep(20)").catch((error: unknown) => error));
    expect(String(thrown)).toBe(`StorageTimeout: The store did not answer within ${TIMEOUT_MS} ms.`);
    expect(ms).toBeLessThan(10_000);
    const running = () =>
      at.database.sql.unsafe("SELECT 1 FROM pg_stat_activity WHERE query LIKE '%pg_sleep(20)' AND state = 'active'");
    await until("the server has stopped it", async () => (await running()).length === 0);
    // A transaction past its deadline is rolled back, however much of it was done.
    const late = storage.transaction(async (queries) => {
      await queries.query("INSERT INTO projects (id, created_at_ms) VALUES ('late', 1)");
      await queries.query("SELECT pg_sleep(20)");
    });
    await expect(late).rejects.toThrow(`did not answer within ${TIMEOUT_MS} ms`);
    expect(await at.database.sql.unsafe("SELECT 1 FROM projects WHERE id = 'late'")).toHaveLength(0);
    expect(await backends()).toEqual(expect.arrayContaining(before));
    await storage.close();
  });
});
