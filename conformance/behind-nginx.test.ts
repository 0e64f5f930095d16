import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { eventually } from "../testing/eventually.ts";
import { isPresent, programsPresent } from "../testing/is-present.ts";
import { startRedis } from "../testing/redis.ts";
import { scriptedModels } from "../testing/scripted-models.ts";
import { TEST_KEY } from "../testing/test-key.ts";
import { type HeldVideoHost, startHeldVideoHost } from "./media/held-video-host.ts";
import { callGateway } from "./support/client-calls.ts";
import { HoldingProvider } from "./support/limit-race.ts";
import { nginxPresent, startNginx, type TestNginx } from "./support/nginx.ts";
import { makeDatabase, type PostgresDatabase, postgresServer } from "./support/postgres-database.ts";
import { startTestGateway, TEST_ADMIN_SECRET, type TestGateway } from "./support/test-gateway.ts";

const PURPOSE = "instances behind nginx, on PostgreSQL and Redis";
const isPossible =
  isPresent(postgresServer !== undefined, `${PURPOSE}: no PostgreSQL (\`npm test\` starts one)`) &&
  programsPresent(PURPOSE, "redis-server") &&
  nginxPresent(PURPOSE);
const redis = isPossible ? await startRedis() : undefined;
const provider = new HoldingProvider();
afterAll(async () => {
  await provider.stop();
  await redis?.stop();
});

/** At the prices of `scriptedModels`: 10 tokens there and 10 back. */
const COST_NANO_USD = 30_000;
const CALLS = 600;
const AT_ONCE = 24;
const BUDGET_NANO_USD = 200 * COST_NANO_USD;
const KEYS = { poor: `sk-trv-${"KeyWithABudget".padEnd(43, "x")}` };
/** It looks like more than ten tokens: a budget holds for prompts that cost no more than they appear to. */
const ASKED = {
  max_completion_tokens: 10,
  messages: [{ role: "user", content: "Is it so, and was it so before, and will it be so tomorrow?" }],
};
const VOLCENGINE_POLL_MS = 10_000;
const POLL_FACTOR = 0.03;

const HELD_VIDEO = {
  id: "held/video",
  output_modalities: ["video"],
  pricings: { audio_and_video: [{ value: 0.02, unit: "perSecond", currency: "USD" }] },
  offers: [{ provider: "held", model: "doubao-seedance-1-5-pro-251215" }],
};

for (const [index, count] of [2, 3].entries()) {
  describe.skipIf(!isPossible)(`choices 9: ${count} instances behind nginx, on PostgreSQL and Redis`, () => {
    let database: PostgresDatabase;
    let nginx: TestNginx;
    let host: HeldVideoHost;
    const instances: TestGateway[] = [];

    beforeAll(async () => {
      database = await makeDatabase();
      host = startHeldVideoHost();
      const { providers, models } = scriptedModels(provider.url) as { providers: object; models: object[] };
      const config = {
        storage: database.url.href,
        redis: `${redis?.url}/${index}`,
        providers: { ...providers, held: { kind: "volcengine", base_url: host.url, api_key: "secret" } },
        models: [...models, HELD_VIDEO],
        keys: [
          { name: "tests", key: TEST_KEY },
          { name: "poor", key: KEYS.poor, limits: { budget_usd_total: BUDGET_NANO_USD / 1e9 } },
        ],
      };
      const timings = { mediaPollFactor: POLL_FACTOR, operationLeaseMs: 3_000 };
      for (let at = 0; at < count; at++) instances.push(await startTestGateway({ config, timings }));
      nginx = await startNginx(instances.map(({ url }) => url));
    });
    afterAll(async () => {
      await nginx?.stop();
      for (const instance of instances) await instance.stop();
      await host?.stop();
      await database?.drop();
    });

    const call = async (key: string): Promise<number> => {
      const answer = await callGateway(nginx.url, "chat", key, { body: ASKED });
      await answer.text();
      return answer.status;
    };
    /** Sends all of them, some at a time; returns how often each status was seen. */
    const callMany = async (key: string): Promise<Record<number, number>> => {
      const statuses: Record<number, number> = {};
      let left = CALLS;
      const client = async () => {
        while (left-- > 0) {
          const status = await call(key);
          statuses[status] = (statuses[status] ?? 0) + 1;
        }
      };
      await Promise.all(Array.from({ length: AT_ONCE }, client));
      return statuses;
    };
    const rowsOf = async (keyName: string): Promise<{ rows: number; cost: number; writers: number }> => {
      const [found] = await database.sql`SELECT COUNT(*) AS rows, COUNT(DISTINCT id) AS ids,
        COALESCE(SUM(cost_nano_usd), 0) AS cost, COUNT(DISTINCT instance) AS writers
        FROM receipts WHERE key_id = ${`static:${keyName}`}`;
      expect(found.rows).toBe(found.ids);
      return { rows: Number(found.rows), cost: Number(found.cost), writers: Number(found.writers) };
    };
    test("under load every response has one row, written by the instance that sent it", async () => {
      provider.release();
      const statuses = await callMany(TEST_KEY);
      expect(statuses).toEqual({ 200: CALLS });
      await eventually("the instances to agree", async () => (await rowsOf("tests")).rows >= CALLS);
      expect(await rowsOf("tests")).toEqual({ rows: CALLS, cost: CALLS * COST_NANO_USD, writers: count });
    });

    test("H23: a budget is used up and never exceeded, to the nano-dollar", async () => {
      provider.release();
      const statuses = await callMany(KEYS.poor);
      const admitted = statuses[200] ?? 0;
      expect(statuses).toEqual({ 200: admitted, 402: CALLS - admitted });
      await eventually("the instances to agree", async () => (await rowsOf("poor")).rows >= admitted);
      const { rows, cost } = await rowsOf("poor");
      console.log(`${count} instances: ${admitted} calls of a budget for ${BUDGET_NANO_USD / COST_NANO_USD}`);
      expect([rows, cost]).toEqual([admitted, admitted * COST_NANO_USD]);
      expect(cost).toBeLessThanOrEqual(BUDGET_NANO_USD);
      expect(cost).toBeGreaterThanOrEqual(0.98 * BUDGET_NANO_USD);
    });

    test("a revoked key is refused by all instances within a second, and behind nginx", async () => {
      const admin = (at: number, method: string, path: string, body?: object) =>
        fetch(`${instances[at]?.adminUrl}${path}`, {
          method,
          headers: { authorization: `Bearer ${TEST_ADMIN_SECRET}`, "content-type": "application/json" },
          ...(body && { body: JSON.stringify(body) }),
        });
      const made = await admin(0, "POST", "/api/keys", { name: "short-lived" });
      const { data } = (await made.json()) as { data: { id: string; key: string } };
      const statusAt = async (url: string) =>
        (await fetch(`${url}/api/v1/generation?id=none`, { headers: { authorization: `Bearer ${data.key}` } })).status;
      const places = [...instances.map(({ url }) => url), ...instances.map(() => nginx.url)];
      const all = async (status: number) => {
        for (const url of places) if ((await statusAt(url)) !== status) return false;
        return true;
      };
      await eventually("the instances to agree", () => all(404));
      await admin(count - 1, "DELETE", `/api/keys/${data.id}`);
      await eventually("the instances to agree", () => all(401));
    });

    test("an operation is polled by one instance and reported by all", async () => {
      const VIDEOS = 4;
      host.finish(false);
      const headers = { authorization: `Bearer ${TEST_KEY}`, "content-type": "application/json" };
      const path = "/api/genai/v1/publishers/held/models/video";
      const submit = async () => {
        const body = JSON.stringify({ instances: [{ prompt: "a wave" }], parameters: { durationSeconds: 4 } });
        const answer = await fetch(`${nginx.url}${path}:predictLongRunning`, { method: "POST", headers, body });
        return ((await answer.json()) as { name: string }).name;
      };
      const names = await Promise.all(Array.from({ length: VIDEOS }, submit));
      const isDone = async (url: string, operationName: string) => {
        const body = JSON.stringify({ operationName });
        const answer = await fetch(`${url}${path}:fetchPredictOperation`, { method: "POST", headers, body });
        return ((await answer.json()) as { done?: boolean }).done === true;
      };
      const before = host.asked.length;
      const beganMs = performance.now();
      await Bun.sleep(3_000);
      // Client polls do not cause provider polls.
      for (const name of names) for (const { url } of instances) expect(await isDone(url, name)).toBe(false);
      const polls = host.asked.length - before;
      const intervals = (performance.now() - beganMs) / (VOLCENGINE_POLL_MS * POLL_FACTOR);
      console.log(`${count} instances: ${polls} polls of ${VIDEOS} operations in ${intervals.toFixed(1)} intervals`);
      expect(polls).toBeLessThanOrEqual(VIDEOS * (intervals + 1));
      expect(polls).toBeGreaterThanOrEqual(VIDEOS);
      host.finish(true);
      await eventually("all to say that it is done", async () => {
        for (const name of names) for (const { url } of instances) if (!(await isDone(url, name))) return false;
        return true;
      });
    });
  });
}
