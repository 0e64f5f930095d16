import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import type { ServerResponse } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { eventually } from "../testing/eventually.ts";
import { programsPresent } from "../testing/is-present.ts";
import { plainAnswer, plainUsage } from "../testing/plain-answer.ts";
import { startRedis } from "../testing/redis.ts";
import { scriptedModels } from "../testing/scripted-models.ts";
import { TEST_KEY } from "../testing/test-key.ts";
import { makeDatabase, type PostgresDatabase, postgresServer } from "./support/postgres-database.ts";
import { type ScriptedUpstream, startScriptedUpstream } from "./support/scripted-upstream.ts";
import { startTestGateway, type TestGateway } from "./support/test-gateway.ts";

let upstream: ScriptedUpstream;
const folder = mkdtempSync(join(tmpdir(), "trivium-stored-"));
beforeAll(async () => {
  upstream = await startScriptedUpstream();
  upstream.play((_request, response) => answerHello(response));
});
afterAll(async () => {
  await upstream.stop();
  rmSync(folder, { recursive: true, force: true });
});

function answerHello(response: ServerResponse): void {
  const answer = plainAnswer("chat", { text: "Hello, Ada.", usage: plainUsage("chat", 10, 5) });
  response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(answer));
}

interface Instance {
  gateway: TestGateway;
  said: string[];
}

/** Instances share their limits through it; without it they refuse to run side by side. */
const redis = programsPresent("stored responses of several instances", "redis-server") ? await startRedis() : undefined;
afterAll(() => redis?.stop());

async function start(data: string, storage?: string, timings = {}): Promise<Instance> {
  const said: string[] = [];
  const gateway = await startTestGateway({
    config: {
      ...scriptedModels(upstream.url),
      data_dir: join(folder, data),
      ...(storage && { storage, redis: redis?.url }),
    },
    timings,
    log: { level: "info", write: async (text) => void said.push(text) },
  });
  return { gateway, said };
}

const headers = { authorization: `Bearer ${TEST_KEY}`, "content-type": "application/json" };

async function create({ gateway }: Instance, body: object): Promise<{ status: number; body: StoredBody }> {
  const response = await fetch(`${gateway.url}/v1/responses`, {
    method: "POST",
    headers,
    body: JSON.stringify({ model: "test/chat", ...body }),
  });
  return { status: response.status, body: (await response.json()) as StoredBody };
}

interface StoredBody {
  id: string;
  status: string;
  store: boolean;
  error: { code: string; message: string } | null;
}

const show = async ({ gateway }: Instance, id: string): Promise<StoredBody> =>
  (await (await fetch(`${gateway.url}/v1/responses/${id}`, { headers })).json()) as StoredBody;

const toldUpstream = (): unknown[] =>
  (JSON.parse(upstream.seen.at(-1)?.body ?? "{}") as { messages: { content: unknown }[] }).messages.map(
    ({ content }) => content,
  );

const GOES_ON = ["My name is Ada.", "Hello, Ada.", "What is my name?"];

describe("R12: previous_response_id", () => {
  test("across a restart, on SQLite; no content appears in the files of data_dir", async () => {
    const first = await start("restarted");
    const { body } = await create(first, { input: "My name is Ada." });
    await first.gateway.stop();
    const names = readdirSync(join(folder, "restarted"), { recursive: true, withFileTypes: true });
    const contents = names.filter((one) => one.isFile()).map((one) => readFileSync(join(one.parentPath, one.name)));
    expect(contents.length).toBeGreaterThan(1);
    for (const content of contents) expect(content.includes("Ada")).toBe(false);
    const second = await start("restarted");
    const { status } = await create(second, { input: "What is my name?", previous_response_id: body.id });
    await second.gateway.stop();
    expect(status).toBe(200);
    expect(toldUpstream()).toEqual(GOES_ON);
  });
});

test("a background response is finished and stored before a stopping gateway exits", async () => {
  const release = Promise.withResolvers<void>();
  upstream.play(async (_request, response) => {
    await release.promise;
    answerHello(response);
  });
  const first = await start("stopped");
  const { body } = await create(first, { input: "Take your time.", background: true });
  await eventually("the call", () => upstream.open > 0);
  const stopped = first.gateway.stop();
  release.resolve();
  await stopped;
  const second = await start("stopped");
  const found = await show(second, body.id);
  await second.gateway.stop();
  expect(found).toMatchObject({ id: body.id, status: "completed" });
});

test("without a readable key nothing is stored, the log says why, and calls are answered", async () => {
  upstream.play((_request, response) => answerHello(response));
  mkdirSync(join(folder, "keyless", "responses.key"), { recursive: true });
  const keyless = await start("keyless");
  const { status, body } = await create(keyless, { input: "My name is Ada." });
  const refused = await create(keyless, { input: "What is my name?", previous_response_id: body.id });
  await keyless.gateway.stop();
  expect([status, body.store, refused.status]).toEqual([200, false, 400]);
  expect(keyless.said.join("")).toContain(
    "responses and bodies are not stored: their encryption key can be neither read from data_dir nor created there",
  );
});

describe.skipIf(postgresServer === undefined || redis === undefined)(
  "stored responses of instances on one PostgreSQL",
  () => {
    let database: PostgresDatabase;
    let one: Instance;
    let two: Instance;
    beforeAll(async () => {
      database = await makeDatabase();
      upstream.play((_request, response) => answerHello(response));
      one = await start("one", database.url.href);
      mkdirSync(join(folder, "two"));
      cpSync(join(folder, "one", "responses.key"), join(folder, "two", "responses.key"));
      two = await start("two", database.url.href);
    });
    afterAll(async () => {
      await one.gateway.stop();
      await two.gateway.stop();
      await database.drop();
    });

    test("R12: each instance continues and deletes what the other has stored", async () => {
      const { body } = await create(one, { input: "My name is Ada." });
      expect((await create(two, { input: "What is my name?", previous_response_id: body.id })).status).toBe(200);
      expect(toldUpstream()).toEqual(GOES_ON);
      expect(await show(two, body.id)).toEqual(await show(one, body.id));
      const deleted = await fetch(`${two.gateway.url}/v1/responses/${body.id}`, { method: "DELETE", headers });
      expect(deleted.status).toBe(200);
      expect((await create(one, { input: "Again?", previous_response_id: body.id })).status).toBe(400);
    });

    test("an instance with another key answers 400, and logs what to do", async () => {
      const { body } = await create(one, { input: "My name is Ada." });
      const stranger = await start("stranger", database.url.href);
      const refused = await create(stranger, { input: "What is my name?", previous_response_id: body.id });
      await stranger.gateway.stop();
      expect([refused.status, refused.body.error?.code]).toEqual([400, "previous_response_not_found"]);
      expect(stranger.said.join("")).toContain(
        "every instance on one storage needs the same responses.key in its data_dir",
      );
    });

    test("a background response is made by one instance, and polled and cancelled at the other", async () => {
      const release = Promise.withResolvers<void>();
      upstream.play(async (_request, response) => {
        await release.promise;
        answerHello(response);
      });
      const { body } = await create(one, { input: "Take your time.", background: true });
      expect(body.status).toBe("queued");
      expect((await show(two, body.id)).status).toBe("in_progress");
      release.resolve();
      await eventually("the response", async () => (await show(two, body.id)).status !== "in_progress");
      expect(await show(two, body.id)).toMatchObject({ id: body.id, status: "completed" });

      upstream.play(() => {});
      const endless = await create(one, { input: "For ever.", background: true });
      await eventually("the endless call", () => upstream.open > 0);
      const cancelled = await fetch(`${two.gateway.url}/v1/responses/${endless.body.id}/cancel`, {
        method: "POST",
        headers,
      });
      expect(((await cancelled.json()) as StoredBody).status).toBe("cancelled");
      await eventually("its end", () => upstream.open === 0 && one.gateway.app.active() === 0);
      expect((await show(one, endless.body.id)).status).toBe("cancelled");
      expect(await database.sql`SELECT id FROM operations`).toHaveLength(0);
    });
  },
);
