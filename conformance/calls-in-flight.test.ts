import { afterAll, afterEach, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Anthropic from "@anthropic-ai/sdk";
import { GoogleGenAI } from "@google/genai";
import OpenAI from "openai";
import { system } from "../src/base/system.ts";
import { openStorage } from "../src/storage/open.ts";
import { eventually } from "../testing/eventually.ts";
import { programsPresent } from "../testing/is-present.ts";
import { startRedis } from "../testing/redis.ts";
import { scriptedModels } from "../testing/scripted-models.ts";
import { TEST_KEY } from "../testing/test-key.ts";
import { wire } from "../testing/upstream-wire.ts";
import { makeDatabase, postgresServer } from "./support/postgres-database.ts";
import { bareEnvironment, childrenOf, TRIVIUM } from "./support/program.ts";
import { startTestGateway, TEST_ADMIN_SECRET, type TestGateway } from "./support/test-gateway.ts";

const folder = mkdtempSync(join(tmpdir(), "trivium-calls-"));
const cleanUps: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const encoder = new TextEncoder();

/** A provider whose streams go on for as long as a client reads them. */
function endlessProvider() {
  const seen = { open: 0, asked: 0 };
  const chunks = (path: string): [first: string, next: string] => {
    if (path.includes("messages")) return [wire.messageStart() + wire.textBlock("Hello"), textDelta];
    if (path.includes("Content")) return [wire.genaiChunk("Hello"), wire.genaiChunk(" and")];
    return [wire.chatChunk({ role: "assistant", content: "Hello" }), wire.chatChunk({ content: " and" })];
  };
  const textDelta = wire.event({
    type: "content_block_delta",
    index: 0,
    delta: { type: "text_delta", text: " and" },
  });
  const server = Bun.serve({
    port: 0,
    idleTimeout: 60,
    fetch: (request) => {
      seen.asked++;
      seen.open++;
      const [first, next] = chunks(request.url);
      let timer: Timer | undefined;
      const body = new ReadableStream({
        start: (controller) => {
          controller.enqueue(encoder.encode(first));
          timer = setInterval(() => controller.enqueue(encoder.encode(next)), 50);
        },
        cancel: () => {
          clearInterval(timer);
          seen.open--;
        },
      });
      return new Response(body, { headers: { "content-type": "text/event-stream" } });
    },
  });
  cleanUps.push(async () => void (await server.stop(true)));
  return { url: server.url.origin, seen };
}

interface Listed {
  data: { id: string; dialect: string; instance: string; phase: string; characters: number }[];
  total: number;
  instances: number;
  unanswered: { id: string; place: string }[];
  problem: string | null;
}

const asAdmin = { headers: { authorization: `Bearer ${TEST_ADMIN_SECRET}`, connection: "close" } };

async function read<Answer>(url: string, method = "GET"): Promise<{ status: number; json: Answer }> {
  const response = await fetch(url, { ...asAdmin, method });
  return { status: response.status, json: (await response.json()) as Answer };
}

/** How a stream through each official SDK ends. */
const SDKS: Readonly<Record<string, (url: string) => Promise<string>>> = {
  chat: (url) =>
    ending(() =>
      new OpenAI({ baseURL: `${url}/api/v1`, apiKey: TEST_KEY }).chat.completions.create({
        model: "test/chat",
        stream: true,
        messages: [{ role: "user", content: "Go on" }],
      }),
    ),
  messages: (url) =>
    ending(() =>
      new Anthropic({ baseURL: `${url}/api/msg`, apiKey: TEST_KEY }).messages.create({
        model: "test/messages",
        max_tokens: 5_000,
        stream: true,
        messages: [{ role: "user", content: "Go on" }],
      }),
    ),
  genai: (url) =>
    ending(() =>
      new GoogleGenAI({ apiKey: TEST_KEY, httpOptions: { baseUrl: url } }).models.generateContentStream({
        model: "test/genai",
        contents: "Go on",
      }),
    ),
};

async function ending(open: () => Promise<AsyncIterable<unknown>>): Promise<string> {
  let events = 0;
  try {
    for await (const _event of await open()) events++;
    return `ended after ${events > 0 ? "some" : "no"} events`;
  } catch (thrown) {
    return `${events > 0 ? "after some events" : "at once"}: ${String(thrown)}`;
  }
}

async function receipt(adminUrl: string, id: string) {
  let found: Awaited<ReturnType<typeof read<{ data: Record<string, unknown> }>>> | undefined;
  await eventually("the calls to be in flight", async () => {
    found = await read(`${adminUrl}/api/receipts/${id}`);
    return found.status === 200;
  });
  return found?.json.data;
}

async function startWorkers(count: number, providerUrl: string) {
  const place = mkdtempSync(join(folder, "workers-"));
  const database = `sqlite:${join(place, "trivium.db")}`;
  const config = {
    ...scriptedModels(providerUrl, { first_byte: 30_000, idle: 30_000 }),
    server: { host: "127.0.0.1", port: 0 },
    admin: { host: "127.0.0.1", port: 0, secret: TEST_ADMIN_SECRET },
    storage: database,
    data_dir: place,
    simulator: false,
    keys: [{ name: "tests", key: TEST_KEY }],
  };
  writeFileSync(join(place, "trivium.yaml"), JSON.stringify(config));
  const program = Bun.spawn([TRIVIUM, "serve", "--workers", String(count), "--json"], {
    cwd: place,
    env: bareEnvironment(),
    stdout: "pipe",
    stderr: "ignore",
  });
  cleanUps.push(async () => {
    program.kill("SIGKILL");
    await program.exited;
  });
  let shown = "";
  const decoder = new TextDecoder();
  for await (const chunk of program.stdout) {
    shown += decoder.decode(chunk, { stream: true });
    if (shown.trimEnd().endsWith("\n}")) break;
  }
  const { url, admin_url: adminUrl } = JSON.parse(shown) as { url: string; admin_url: string };
  const storage = await openStorage(database, system.clock);
  await eventually(
    "the calls to be in flight",
    async () => (await storage.query("SELECT id FROM instances WHERE beats > 0")).length === count,
  );
  await storage.close();
  return { url, adminUrl, workers: () => childrenOf(program.pid) };
}

describe("decision 0129: three workers on SQLite", () => {
  test("each lists and stops the calls of all, and names a worker that is frozen", async () => {
    const { url: providerUrl, seen } = endlessProvider();
    const { url, adminUrl, workers } = await startWorkers(3, providerUrl);
    const streams = Array.from({ length: 4 }, () => Object.values(SDKS).map((open) => open(url))).flat();
    await eventually("the calls to be in flight", () => seen.open === streams.length);
    const list = () => read<Listed>(`${adminUrl}/api/calls`);
    // The provider has sent content before the gateway has read it.
    await eventually("the calls to be in flight", async () =>
      (await list()).json.data.every(({ phase, characters }) => phase === "stream" && characters > 0),
    );
    const lists = await Promise.all(Array.from({ length: 6 }, list));
    for (const { json } of lists)
      expect(json).toMatchObject({ total: streams.length, instances: 3, unanswered: [], problem: null });
    const calls = lists[0]?.json.data ?? [];
    expect(new Set(calls.map(({ instance }) => instance)).size).toBeGreaterThan(1);
    const stops = await Promise.all(calls.map(({ id }) => read(`${adminUrl}/api/calls/${id}/stop`, "POST")));
    expect(stops.map(({ status }) => status)).toEqual(calls.map(() => 200));
    for (const end of await Promise.all(streams)) {
      expect(end).toMatch(/^after some events: .*An operator of this gateway stopped this call/s);
    }
    await eventually("the calls to be in flight", () => seen.open === 0);
    // No SDK has sent its request again.
    expect(seen.asked).toBe(streams.length);
    for (const { id } of calls) {
      expect(await receipt(adminUrl, id)).toMatchObject({
        outcome: "stopped",
        stopped_by: "operator:admin",
        usage_source: "partial",
      });
    }
    expect((await read(`${adminUrl}/api/calls/${calls[0]?.id}/stop`, "POST")).status).toBe(404);
    // Which worker accepts a connection is up to the system, so the frozen one is asked by the others only.
    const [frozen = 0] = workers();
    process.kill(frozen, "SIGSTOP");
    try {
      let told: Listed | undefined;
      await eventually("the calls to be in flight", async () => {
        const asking = read<Listed>(`${adminUrl}/api/calls`).then(({ json }) => json);
        told = await Promise.race([asking, Bun.sleep(4_000).then(() => undefined)]);
        return told !== undefined;
      });
      expect(told).toMatchObject({ instances: 2, problem: null });
      expect(told?.unanswered.map(({ place }) => place)).toEqual([expect.stringContaining(`worker ${frozen}`)]);
    } finally {
      process.kill(frozen, "SIGCONT");
    }
  }, 120_000);
});

/** Runs the program against an Admin API. */
async function cli(adminUrl: string, ...words: string[]) {
  const environment = { ...bareEnvironment(), TRIVIUM_ADMIN_URL: adminUrl, TRIVIUM_ADMIN_SECRET: TEST_ADMIN_SECRET };
  const child = Bun.spawn([TRIVIUM, ...words], { cwd: folder, env: environment, stdout: "pipe", stderr: "pipe" });
  const [out, err, code] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
  return { out, err, code };
}

test("decision 0129: the command line lists and stops calls in flight", async () => {
  const { url: providerUrl, seen } = endlessProvider();
  const gateway = await startTestGateway({
    config: {
      ...scriptedModels(providerUrl, { first_byte: 30_000, idle: 30_000 }),
      guards: [{ name: "no-secrets", use: "secrets", action: "redact" }],
    },
  });
  cleanUps.push(() => gateway.stop());
  const streams = Object.values(SDKS).map((open) => open(gateway.url));
  await eventually("the calls to be in flight", () => seen.open === 3);
  const listed = await cli(gateway.adminUrl, "calls", "list");
  expect([listed.code, listed.err]).toEqual([0, ""]);
  expect(listed.out).toMatch(/^id +age_s +phase +model/);
  expect(listed.out.match(/stream +test\/(chat|messages|genai) +up-/g)).toHaveLength(3);
  const json = await cli(gateway.adminUrl, "calls", "list", "--model", "test/chat", "--json");
  const { data, total } = JSON.parse(json.out) as Listed;
  expect([total, data.map(({ dialect }) => dialect)]).toEqual([1, ["chat"]]);
  const id = data[0]?.id ?? "";
  expect(await cli(gateway.adminUrl, "calls", "stop", id)).toMatchObject({
    code: 0,
    out: `Stopped ${id}. Its receipt shows its cost.\n`,
  });
  expect(await streams[0]).toContain("stopped this call");
  const again = await cli(gateway.adminUrl, "calls", "stop", id);
  expect([again.code, again.err]).toEqual([1, expect.stringContaining("is in flight")]);
  expect((await cli(gateway.adminUrl, "guards")).out).toContain("no-secrets");
  for (const { id } of (await read<Listed>(`${gateway.adminUrl}/api/calls`)).json.data) {
    await read(`${gateway.adminUrl}/api/calls/${id}/stop`, "POST");
  }
  await Promise.all(streams);
}, 60_000);

test("decision 0129: the command line lists and ends live connections", async () => {
  const gateway = await startTestGateway({ config: { simulator: true } });
  cleanUps.push(() => gateway.stop());
  const socket = new WebSocket(`${gateway.url.replace("http", "ws")}/v1/responses`, {
    headers: { authorization: `Bearer ${gateway.key}` },
  });
  const closed = Promise.withResolvers<number>();
  const completed = Promise.withResolvers<void>();
  socket.onclose = ({ code }) => closed.resolve(code);
  socket.onmessage = ({ data }) => String(data).includes('"response.completed"') && completed.resolve();
  socket.onopen = () =>
    socket.send(JSON.stringify({ type: "response.create", model: "sim/standard", store: false, input: "Hello" }));
  await completed.promise;
  const { data } = JSON.parse((await cli(gateway.adminUrl, "live", "list", "--json")).out) as Listed;
  const id = data[0]?.id ?? "";
  const listed = await cli(gateway.adminUrl, "live");
  expect([listed.code, listed.err]).toEqual([0, ""]);
  expect(listed.out).toMatch(/^id +opened_at +protocol +turns +running/);
  expect(listed.out).toMatch(new RegExp(`\n${id} +\\S+ +responses +1 +0 +default `));
  expect((await cli(gateway.adminUrl, "live", "list", "--project", "other")).out.trim().split("\n")).toHaveLength(1);
  expect(await cli(gateway.adminUrl, "live", "end", id)).toMatchObject({
    code: 0,
    out: `Ended ${id}. Receipts with this session_id show what its turns have cost.\n`,
  });
  expect(await closed.promise).toBe(1008);
  expect((await cli(gateway.adminUrl, "live", "end", id)).err).toContain("There is no live connection");
}, 60_000);

const hasRedis = programsPresent("calls of several instances", "redis-server") && postgresServer !== undefined;

describe.skipIf(!hasRedis)("decision 0129: two instances on PostgreSQL", () => {
  test("one lists and stops the calls of the other, and the overview counts them", async () => {
    const { url: providerUrl, seen } = endlessProvider();
    const redis = await startRedis();
    cleanUps.push(async () => await redis?.stop());
    const database = await makeDatabase();
    cleanUps.push(() => database.drop());
    const config = {
      ...scriptedModels(providerUrl, { first_byte: 30_000, idle: 30_000 }),
      storage: database.url.href,
      redis: `${redis?.url}/1`,
      keys: [{ name: "tests", key: TEST_KEY }],
    };
    const start = async (): Promise<TestGateway> => {
      const gateway = await startTestGateway({ config, timings: { heartbeatMs: 200 } });
      cleanUps.push(() => gateway.stop());
      return gateway;
    };
    const [here, there] = [await start(), await start()];
    const streams = Object.values(SDKS).map((open) => open(there.url));
    await eventually("the calls to be in flight", () => seen.open === 3);
    const { json: listed } = await read<Listed>(`${here.adminUrl}/api/calls`);
    expect(listed).toMatchObject({ total: 3, instances: 2, unanswered: [], problem: null });
    expect(listed.data.map(({ dialect }) => dialect).sort()).toEqual(["chat", "genai", "messages"]);
    await eventually("the calls to be in flight", async () => {
      const { json } = await read<{ data: object }>(`${here.adminUrl}/api/overview`);
      return Bun.deepMatch({ running_calls: 3, instances: 2 }, json.data);
    });
    for (const { id } of listed.data) {
      expect((await read(`${here.adminUrl}/api/calls/${id}/stop`, "POST")).status).toBe(200);
      expect(await receipt(here.adminUrl, id)).toMatchObject({ outcome: "stopped", stopped_by: "operator:admin" });
    }
    for (const end of await Promise.all(streams)) expect(end).toMatch(/^after some events: .*stopped this call/s);
    await eventually("the calls to be in flight", () => seen.open === 0);
    await eventually("the calls to be in flight", async () => {
      const [row] =
        await database.sql`SELECT (SELECT COUNT(*) FROM questions) + (SELECT COUNT(*) FROM question_answers) AS n`;
      return Number(row.n) === 0;
    });
    expect((await read<Listed>(`${here.adminUrl}/api/calls`)).json).toMatchObject({ data: [], instances: 2 });
  }, 60_000);
});
