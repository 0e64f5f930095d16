import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import Anthropic from "@anthropic-ai/sdk";
import OpenAI, { toFile } from "openai";
import { eventually } from "../testing/eventually.ts";
import { plainAnswer, plainUsage } from "../testing/plain-answer.ts";
import type { ReceiptData } from "../testing/receipt-data.ts";
import { scriptedModels } from "../testing/scripted-models.ts";
import { TEST_KEY } from "../testing/test-key.ts";
import { type ScriptedUpstream, sendJson, startScriptedUpstream } from "./support/scripted-upstream.ts";
import { startTestGateway, TEST_ADMIN_SECRET, type TestGateway } from "./support/test-gateway.ts";

interface ShownBatch {
  id: string;
  state: string;
  project: string;
  key: string;
  progress: Record<string, number>;
  cost_nano_usd: number;
  held_nano_usd: number;
  input_file_id: string | null;
  output_file_id: string | null;
  error_file_id: string | null;
  errors: { code: string; line: number | null }[];
}

const POOR = "trv_poor_key_of_this_test_000001";
const MAX_CONCURRENT = 2;

let upstream: ScriptedUpstream;
let gateway: TestGateway;
let openai: OpenAI;
let anthropic: Anthropic;

beforeAll(async () => {
  upstream = await startScriptedUpstream();
  gateway = await startTestGateway({
    config: {
      ...scriptedModels(upstream.url),
      batch: { max_concurrent: MAX_CONCURRENT, assumed_output_tokens: 100 },
      keys: [
        { name: "tests", key: TEST_KEY },
        // Two responses of 100 tokens cost 0.0004 USD, and one of 4096 tokens 0.008 USD.
        { name: "poor", key: POOR, limits: { budget_usd_total: 0.001 } },
      ],
    },
  });
  openai = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: TEST_KEY, maxRetries: 0 });
  anthropic = new Anthropic({ baseURL: gateway.url, apiKey: TEST_KEY, maxRetries: 0 });
});
afterAll(async () => {
  await gateway.stop();
  await upstream.stop();
});

const HELLO = [{ role: "user" as const, content: "Hello" }];

function answerAll(): void {
  upstream.play(({ path }, response) => {
    const dialect = path.includes("/messages") ? "messages" : "chat";
    sendJson(response, plainAnswer(dialect, { text: "Hello.", usage: plainUsage(dialect, 10, 5) }));
  });
}

async function admin(
  method: string,
  path: string,
  { body, secret = TEST_ADMIN_SECRET }: { body?: object; secret?: string } = {},
) {
  const headers = { authorization: `Bearer ${secret}`, "content-type": "application/json" };
  const answer = await fetch(`${gateway.adminUrl}${path}`, {
    method,
    headers,
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await answer.text();
  return { status: answer.status, text, data: (text.startsWith("{") ? JSON.parse(text).data : undefined) as never };
}

const shown = async (id: string): Promise<ShownBatch> =>
  (await admin("GET", `/api/batches/${encodeURIComponent(id)}`)).data;

const receiptsOf = async (id: string): Promise<(ReceiptData & { outcome: string })[]> =>
  (await admin("GET", `/api/receipts?limit=100&batch=${encodeURIComponent(id)}`)).data;

const until = (id: string, fits: (batch: ShownBatch) => boolean): Promise<ShownBatch> =>
  eventually(`a state of the batch ${id}`, async () => {
    const batch = await shown(id);
    return fits(batch) ? batch : undefined;
  });

const hasEnded = ({ state }: ShownBatch): boolean => ["completed", "failed", "cancelled", "expired"].includes(state);

async function createChatBatch(models: readonly string[], client = openai): Promise<string> {
  const lines = models.map((model, at) =>
    JSON.stringify({
      custom_id: `row ${at + 1}`,
      method: "POST",
      url: "/v1/chat/completions",
      body: { model, messages: HELLO },
    }),
  );
  const file = await toFile(Buffer.from(lines.join("\n")), "in.jsonl");
  const { id: input_file_id } = await client.files.create({ file, purpose: "batch" });
  const terms = { endpoint: "/v1/chat/completions", completion_window: "24h" } as const;
  return (await client.batches.create({ input_file_id, ...terms })).id;
}

describe("decision 0112: receipts of a batch", () => {
  test("each has the batch, the line and the client's id, wherever receipts are shown", async () => {
    answerAll();
    const id = await createChatBatch(["test/chat", "test/messages"]);
    await until(id, hasEnded);
    const receipts = await receiptsOf(id);
    const positions = receipts.map(({ batch }) => batch).toSorted((a, b) => (a?.line ?? 0) - (b?.line ?? 0));
    expect(positions).toEqual([
      { id, line: 1, custom_id: "row 1" },
      { id, line: 2, custom_id: "row 2" },
    ]);
    const headers = { authorization: `Bearer ${TEST_KEY}` };
    const own = await fetch(`${gateway.url}/api/v1/generation?id=${receipts[0]?.id}`, { headers });
    expect(((await own.json()) as { data: ReceiptData }).data.batch?.id).toBe(id);
    const csv = (await admin("GET", `/api/usage/export?format=csv&batch=${id}`)).text.trim().split("\r\n");
    expect(csv[0]).toContain(",batch_id,batch_line,batch_custom_id,");
    expect(csv.slice(1).map((line) => line.includes(`,${id},`))).toEqual([true, true]);
  });

  test("a batch is found by its id in every form, and other calls have none", async () => {
    answerAll();
    const request = { model: "test/messages", max_tokens: 10, messages: HELLO };
    const { id } = await anthropic.messages.batches.create({ requests: [{ custom_id: "a", params: request }] });
    await until(id, hasEnded);
    const random = id.slice("msgbatch_".length);
    for (const form of [id, `batch_${random}`, `batches/${random}`]) {
      expect((await receiptsOf(form)).map(({ batch }) => batch)).toEqual([
        { id: `batch_${random}`, line: 1, custom_id: "a" },
      ]);
    }
    expect(await receiptsOf(`batch_${"x".repeat(22)}`)).toEqual([]);
    const call = await openai.chat.completions.create({ model: "test/chat", messages: HELLO }).withResponse();
    expect((await gateway.receipt(call.response)).batch).toBeNull();
    const refused = await admin("GET", "/api/receipts?batch=file-1");
    expect([refused.status, refused.text]).toEqual([400, expect.stringContaining("batch must be the id of a batch")]);
  });
});

describe("decision 0112: an operator", () => {
  test("sees the progress, the cost and the files of a batch", async () => {
    answerAll();
    const id = await createChatBatch(["test/chat", "no/such-model", "test/chat"]);
    const batch = await until(id, hasEnded);
    expect(batch).toMatchObject({
      id,
      state: "completed",
      mode: "own",
      dialect: "chat",
      endpoint: "/v1/chat/completions",
      project: "default",
      progress: { total: 3, done: 3, succeeded: 2, failed: 1, cancelled: 0, expired: 0, running: 0, waiting: 0 },
      // Each has 10 tokens at 1 USD and 5 at 2 USD per million.
      cost_nano_usd: 40_000,
      held_nano_usd: 0,
      errors: [],
    });
    for (const file of [batch.input_file_id, batch.output_file_id, batch.error_file_id]) {
      expect(file).toMatch(/^file-\w{22}$/);
      const [object] = (await admin("GET", `/api/objects?id=${file}`)).data as { id: string; kind: string }[];
      expect(object).toMatchObject({ id: file, kind: "file", project: "default" });
    }
  });

  test("lists batches by state, key and project, in pages", async () => {
    const all = (await admin("GET", "/api/batches?limit=100")).data as ShownBatch[];
    expect(all.length).toBeGreaterThanOrEqual(3);
    const { key = "" } = all[0] ?? {};
    const count = async (query: string) => ((await admin("GET", `/api/batches?${query}`)).data as ShownBatch[]).length;
    expect(await count("state=completed&limit=100")).toBe(all.length);
    expect(await count("state=failed")).toBe(0);
    expect(await count(`key=${key}&project=default&limit=100`)).toBe(all.length);
    expect(await count("project=other")).toBe(0);
    const ids: string[] = [];
    for (let next = ""; ; ) {
      const page = JSON.parse((await admin("GET", `/api/batches?limit=1${next}`)).text) as {
        data: ShownBatch[];
        next: string | null;
      };
      ids.push(...page.data.map(({ id }) => id));
      if (page.next === null) break;
      next = `&after=${page.next}`;
    }
    expect(ids).toEqual(all.map(({ id }) => id));
    expect((await admin("GET", "/api/batches?state=gone")).status).toBe(400);
    expect((await admin("GET", `/api/batches/batch_${"x".repeat(22)}`)).status).toBe(404);
  });

  test("cancels a batch: what runs is finished and billed, and the act is in the audit log", async () => {
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    upstream.play(async (_request, response) => {
      await released;
      sendJson(response, plainAnswer("chat", { text: "Hello.", usage: plainUsage("chat", 10, 5) }));
    });
    const id = await createChatBatch(Array.from({ length: 6 }, () => "test/chat"));
    await until(id, ({ progress }) => progress["running"] === MAX_CONCURRENT);
    expect((await shown(id)).progress).toMatchObject({ total: 6, done: 0, waiting: 4 });
    const kept = await admin("DELETE", `/api/objects/${id}`);
    expect([kept.status, kept.text]).toEqual([400, expect.stringContaining("Cancel it first")]);
    const cancelled = await admin("POST", `/api/batches/${id}/cancel`);
    expect([cancelled.status, (cancelled.data as ShownBatch).state]).toEqual([202, "cancelling"]);
    release();
    const ended = await until(id, hasEnded);
    expect(ended).toMatchObject({
      state: "cancelled",
      progress: { total: 6, done: 6, succeeded: MAX_CONCURRENT, cancelled: 4 },
      cost_nano_usd: MAX_CONCURRENT * 20_000,
    });
    const acts = (await admin("GET", `/api/audit?target=${id}`)).data as object[];
    expect((await admin("DELETE", `/api/objects/${id}`)).status).toBe(200);
    expect((await admin("GET", `/api/batches/${id}`)).status).toBe(404);
    expect(await receiptsOf(id)).toHaveLength(MAX_CONCURRENT);
    expect(acts).toMatchObject([
      { act: "batch.cancel", before: { state: "in_progress" }, after: { state: "cancelling" } },
    ]);
  });

  test("sees why a batch failed, and cannot cancel it any more", async () => {
    answerAll();
    const file = await toFile(Buffer.from("not JSON"), "in.jsonl");
    const { id: input_file_id } = await openai.files.create({ file, purpose: "batch" });
    const terms = { endpoint: "/v1/chat/completions", completion_window: "24h" } as const;
    const { id } = await openai.batches.create({ input_file_id, ...terms });
    expect(await until(id, hasEnded)).toMatchObject({
      state: "failed",
      progress: { total: 0, done: 0 },
      errors: [{ code: "invalid_json_line", line: 1 }],
    });
    const refused = await admin("POST", `/api/batches/${id}/cancel`);
    expect([refused.status, refused.text]).toEqual([400, expect.stringContaining("already ended")]);
    const metrics = (await admin("GET", "/metrics")).text;
    expect(metrics).toMatch(/^trivium_batch_lines_total\{outcome="succeeded"\} [1-9]/m);
    expect(metrics).toMatch(/^trivium_batch_lines_total\{outcome="failed"\} 1$/m);
    for (const name of ["trivium_objects", "trivium_object_bytes", "trivium_batches", "trivium_batch_lines_waiting"]) {
      expect(metrics).toContain(`\n${name}`);
    }
  });
});

describe("decision 0112: what is reserved and stored", () => {
  test("a line without a limit for its response reserves batch.assumed_output_tokens", async () => {
    answerAll();
    const poor = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: POOR, maxRetries: 0 });
    const few = await until(await createChatBatch(["test/chat", "test/chat"], poor), hasEnded);
    expect(few.state).toBe("completed");
    const many = await until(
      await createChatBatch(
        Array.from({ length: 10 }, () => "test/chat"),
        poor,
      ),
      hasEnded,
    );
    expect(many).toMatchObject({ state: "failed", errors: [{ code: "insufficient_budget" }] });
  });

  test("a project's own project_mb applies instead of the configured one, at once and in both directions", async () => {
    expect((await admin("POST", "/api/projects", { body: { id: "small", project_mb: 0.01 } })).status).toBe(201);
    const { key } = (await admin("POST", "/api/keys", { body: { name: "k", project: "small" } })).data as {
      key: string;
    };
    const client = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: key, maxRetries: 0 });
    const upload = async () =>
      client.files
        .create({ file: await toFile(Buffer.alloc(8_000), "a.bin"), purpose: "user_data" })
        .catch((error: unknown) => error);
    expect(await upload()).toMatchObject({ bytes: 8_000 });
    const refused = await upload();
    expect(refused).toMatchObject({ status: 403, code: "storage_limit_exceeded" });
    expect(String(refused)).toContain("project_mb");
    const raised = await admin("PATCH", "/api/projects/small", { body: { project_mb: 0.02 } });
    expect((raised.data as { project_mb: number }).project_mb).toBe(0.02);
    expect(await upload()).toMatchObject({ bytes: 8_000 });
    expect(await upload()).toMatchObject({ status: 403 });
    const removed = await admin("PATCH", "/api/projects/small", { body: { project_mb: null } });
    expect((removed.data as { project_mb: null }).project_mb).toBeNull();
    expect(await upload()).toMatchObject({ bytes: 8_000 });
    expect((await admin("PATCH", "/api/projects/small", { body: { project_mb: -1 } })).status).toBe(400);
  });
});
