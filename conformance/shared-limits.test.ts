import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { plainAnswer, plainUsage } from "../testing/plain-answer.ts";
import { startRedis } from "../testing/redis.ts";
import { scriptedModels } from "../testing/scripted-models.ts";
import { TEST_KEY } from "../testing/test-key.ts";
import { startTestGateway, type TestGateway } from "./support/test-gateway.ts";

const redis = await startRedis();
const folder = mkdtempSync(join(tmpdir(), "trivium-shared-"));
/** What a provider answers with, when the test lets it. */
let release = Promise.withResolvers<void>();
let asked = 0;
const upstream = Bun.serve({
  port: 0,
  idleTimeout: 60,
  fetch: async () => {
    asked++;
    await release.promise;
    return Response.json(plainAnswer("chat", { text: "yes", usage: plainUsage("chat", 10, 10) }));
  },
});
afterAll(async () => {
  await upstream.stop(true);
  await redis?.stop();
  rmSync(folder, { recursive: true, force: true });
});

type Limits = Record<string, number>;

async function startInstances(count: number, name: string, limits: Limits): Promise<TestGateway[]> {
  const config = {
    ...scriptedModels(upstream.url.origin, { first_byte: 30_000, idle: 30_000 }),
    storage: `sqlite:${join(folder, `${name}-${count}.db`)}`,
    keys: [{ name: "tests", key: TEST_KEY, limits }],
    ...(count > 1 && redis ? { redis: `${redis.url}/${++databases}` } : {}),
  };
  const instances: TestGateway[] = [];
  for (let at = 0; at < count; at++) instances.push(await startTestGateway({ config }));
  return instances;
}
let databases = 0;

const BODY = JSON.stringify({
  model: "test/chat",
  max_completion_tokens: 10,
  messages: [{ role: "user", content: "Is it so?" }],
});

const REQUEST = [
  "POST /api/v1/chat/completions HTTP/1.1",
  "host: 127.0.0.1",
  `authorization: Bearer ${TEST_KEY}`,
  "content-type: application/json",
  `content-length: ${BODY.length}`,
  "connection: close",
  "",
  BODY,
].join("\r\n");

/** Over a connection of its own: the runtime's own client sends no more than 256 requests at once. */
async function call({ app }: TestGateway): Promise<number> {
  const { promise, resolve } = Promise.withResolvers<number>();
  let answer = "";
  const socket = await Bun.connect({
    hostname: "127.0.0.1",
    port: Number(new URL(app.url).port),
    socket: {
      data: (_, bytes) => {
        answer += bytes.toString();
        const status = /^HTTP\/1\.1 (\d+)/.exec(answer)?.[1];
        if (status === undefined) return;
        resolve(Number(status));
        socket.end();
      },
      close: () => resolve(0),
      error: () => resolve(0),
    },
  });
  socket.write(REQUEST);
  return await promise;
}

/** Sends all calls at once, evenly, and answers the admitted ones only when all others are refused. */
async function race(instances: readonly TestGateway[], calls: number): Promise<{ admitted: number; most: number }> {
  release = Promise.withResolvers();
  asked = 0;
  let refused = 0;
  const sent = Array.from({ length: calls }, async (_, at) => {
    const gateway = instances[at % instances.length];
    const status = gateway === undefined ? 0 : await call(gateway);
    if (status !== 200) refused++;
    return status;
  });
  while (asked + refused < calls) await Bun.sleep(20);
  const most = asked;
  release.resolve();
  const statuses = await Promise.all(sent);
  return { admitted: statuses.filter((status) => status === 200).length, most };
}

/** What a key may use, of which each call needs the same. */
const LIMITS: readonly [what: string, limits: Limits][] = [
  ["requests a minute", { requests_per_minute: 500 }],
  ["tokens a minute", { tokens_per_minute: 12_000 }],
  ["concurrent calls", { concurrent: 500 }],
  ["money", { budget_usd_total: 0.016 }],
];

describe.skipIf(redis === undefined)("H23, choices 9: 2,000 calls at once against limits for fewer", () => {
  beforeAll(() => {
    if (redis === undefined) console.log("skipped: neither redis-server nor valkey-server is installed");
  });

  for (const [what, limits] of LIMITS) {
    test(`${what}: three instances admit no more than one does, and at least 98% of it`, async () => {
      const [alone] = await startInstances(1, what, limits);
      if (alone === undefined) throw new Error("no gateway");
      const one = await race([alone], 2_000);
      await alone.stop();
      const three = await startInstances(3, what, limits);
      const many = await race(three, 2_000);
      for (const gateway of three) await gateway.stop();
      console.log(`${what}: one process admitted ${one.admitted}, three instances ${many.admitted} of 2,000`);
      expect(one.admitted).toBeGreaterThan(300);
      expect(many.admitted).toBeLessThanOrEqual(one.admitted);
      expect(many.admitted).toBeGreaterThanOrEqual(Math.floor(0.98 * one.admitted));
    });
  }
});
