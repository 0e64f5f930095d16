import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import Anthropic from "@anthropic-ai/sdk";
import { GoogleGenAI } from "@google/genai";
import OpenAI, { toFile } from "openai";
import { eventually } from "../../testing/eventually.ts";
import { type Simulator, startSimulator } from "../simulator.ts";
import { hasEnded, StoredBatches } from "./stored-batches.ts";

let simulator: Simulator;
let openai: OpenAI;
let azure: OpenAI;
let anthropic: Anthropic;
let genai: GoogleGenAI;

beforeAll(async () => {
  simulator = await startSimulator({ tokenDelayMs: 0, batchDelayMs: 60 });
  const { url } = simulator;
  openai = new OpenAI({ baseURL: `${url}/openai/v1`, apiKey: "key-of-openai", maxRetries: 0 });
  azure = new OpenAI({
    baseURL: `${url}/hosts/azure-openai/openai/v1`,
    apiKey: "key-of-azure",
    defaultHeaders: { "api-key": "key-of-azure" },
    maxRetries: 0,
  });
  anthropic = new Anthropic({ baseURL: `${url}/anthropic`, apiKey: "key-of-anthropic", maxRetries: 0 });
  genai = new GoogleGenAI({ apiKey: "key-of-gemini", httpOptions: { baseUrl: `${url}/gemini` } });
});
afterAll(() => simulator.stop());

/** Every state that a batch shows until the last one. */
async function follow<T>(read: () => Promise<T>, stateOf: (batch: T) => string | undefined, isLast: RegExp) {
  const states: string[] = [];
  return eventually(
    "the last state of a batch",
    async () => {
      const batch = await read();
      const state = stateOf(batch) ?? "";
      if (states.at(-1) !== state) states.push(state);
      return isLast.test(state) ? { batch, states } : undefined;
    },
    { seen: () => states },
  );
}

/** The SDKs' promises are not the runtime's. */
const statusOf = (asked: PromiseLike<unknown>): Promise<unknown> =>
  Promise.resolve(asked).then(
    () => "no error",
    (error: { status?: number }) => error.status,
  );

const jsonl = (text: string) =>
  text
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as Record<string, never>);
const ENDPOINT = "/v1/chat/completions";

describe("OpenAI's batches", () => {
  const chat = (custom_id: string, model: string, content: string) => ({
    custom_id,
    method: "POST",
    url: ENDPOINT,
    body: { model, messages: [{ role: "user", content }] },
  });
  const create = async (lines: readonly unknown[], client = openai, endpoint = ENDPOINT) => {
    const file = await toFile(Buffer.from(lines.map((line) => JSON.stringify(line)).join("\n")), "in.jsonl");
    const { id: input_file_id } = await client.files.create({ file, purpose: "batch" });
    const metadata = { mine: "yes" };
    return client.batches.create({
      input_file_id,
      endpoint: endpoint as "/v1/embeddings",
      completion_window: "24h",
      metadata,
    });
  };
  const end = (id: string, client = openai) =>
    follow(
      () => client.batches.retrieve(id),
      ({ status }) => status,
      /^(completed|failed|expired|cancelled)$/,
    );
  const read = async (id: string | undefined | null, client = openai) =>
    id ? jsonl(await (await client.files.content(id)).text()) : [];

  test("answers as calls are answered, and separates errors", async () => {
    const { id } = await create([
      chat("good", "standard", "One."),
      chat("bad", "fail-400", "Two."),
      chat("cut", "cut-mid-stream", "Three."),
      chat("none", "no-such-model", "Four."),
    ]);
    const { batch, states } = await end(id);
    // How many of them are seen depends on the machine; they come in this order.
    expect(["validating", "in_progress", "completed"].filter((state) => states.includes(state))).toEqual(states);
    expect(states.at(-1)).toBe("completed");
    expect(batch.request_counts).toEqual({ total: 4, completed: 1, failed: 3 });
    expect(batch.metadata).toEqual({ mine: "yes" });
    const [good] = await read(batch.output_file_id);
    const called = await openai.chat.completions.create({
      model: "standard",
      messages: [{ role: "user", content: "One." }],
    });
    expect(good).toMatchObject({
      custom_id: "good",
      error: null,
      response: { status_code: 200, body: { choices: JSON.parse(JSON.stringify(called.choices)) } },
    });
    const failed = await read(batch.error_file_id);
    expect(failed).toMatchObject([
      { custom_id: "bad", response: { status_code: 400, body: { error: { code: "invalid_value" } } } },
      { custom_id: "cut", response: { status_code: 500, body: { error: { type: "server_error" } } } },
      { custom_id: "none", response: { status_code: 404, body: { error: { code: "model_not_found" } } } },
    ]);
  });

  test("responses and embeddings run too", async () => {
    const line = { custom_id: "a", method: "POST" };
    const respond = { ...line, url: "/v1/responses", body: { model: "standard", input: "One." } };
    const embed = { ...line, url: "/v1/embeddings", body: { model: "text-embedding-3-small", input: "One." } };
    for (const one of [respond, embed]) {
      const { batch } = await end((await create([one], openai, one.url)).id);
      expect(await read(batch.output_file_id)).toMatchObject([{ custom_id: "a", response: { status_code: 200 } }]);
    }
  });

  test("a bad line fails the batch, with its number", async () => {
    const one = chat("a", "standard", "One.");
    const { batch } = await end((await create([one, one, { ...one, custom_id: "b", url: "/v1/responses" }])).id);
    expect(batch.status).toBe("failed");
    expect(batch.errors?.data).toMatchObject([
      { code: "duplicate_custom_id", line: 2 },
      { code: "mismatched_url", line: 3 },
    ]);
    expect(batch.output_file_id).toBeNull();
  });

  test("refuses a file that is not there, is for something else, or belongs to another key", async () => {
    const batch = { endpoint: ENDPOINT, completion_window: "24h" } as const;
    const file = await toFile(Buffer.from("{}"), "in.jsonl");
    expect(await statusOf(openai.batches.create({ ...batch, input_file_id: "file-none" }))).toBe(404);
    const { id: other } = await openai.files.create({ file, purpose: "user_data" });
    expect(await statusOf(openai.batches.create({ ...batch, input_file_id: other }))).toBe(400);
    const { id: mine } = await openai.files.create({ file, purpose: "batch" });
    const stranger = openai.withOptions({ apiKey: "key-of-another" });
    expect(await statusOf(stranger.batches.create({ ...batch, input_file_id: mine }))).toBe(404);
    const { id } = await create([chat("a", "standard", "One.")]);
    expect(await statusOf(stranger.batches.retrieve(id))).toBe(404);
    expect(await statusOf(stranger.batches.cancel(id))).toBe(404);
  });

  test("sim:batch-waits waits until it is cancelled, sim:batch-expires expires, sim:batch-fails fails", async () => {
    const waiting = await create([chat("a", "standard", "sim:batch-waits"), chat("b", "standard", "Two.")]);
    await follow(
      () => openai.batches.retrieve(waiting.id),
      ({ status }) => status,
      /^in_progress$/,
    );
    await openai.batches.cancel(waiting.id);
    const { batch: cancelled } = await end(waiting.id);
    expect(cancelled.status).toBe("cancelled");
    expect((await read(cancelled.error_file_id)).map(({ error }) => error)).toMatchObject([
      { code: "batch_cancelled" },
      { code: "batch_cancelled" },
    ]);
    expect(await statusOf(openai.batches.cancel(waiting.id))).toBe(409);
    const lines = [chat("a", "standard", "One."), chat("b", "standard", "sim:batch-expires")];
    const { batch: expired } = await end((await create(lines)).id);
    expect(expired.status).toBe("expired");
    expect(await read(expired.output_file_id)).toMatchObject([{ custom_id: "a" }]);
    expect(await read(expired.error_file_id)).toMatchObject([{ custom_id: "b", error: { code: "batch_expired" } }]);
    const { batch: failed } = await end((await create([chat("a", "standard", "sim:batch-fails")])).id);
    expect(failed).toMatchObject({ status: "failed", errors: { data: [{ message: "Simulated: the batch fails." }] } });
  });

  test("a line that stops in the middle does not keep the batch from being cancelled", async () => {
    const { id } = await create([chat("a", "stall-mid-stream", "One."), chat("b", "standard", "Two.")]);
    await follow(
      () => openai.batches.retrieve(id),
      ({ request_counts }) => String(request_counts?.completed),
      /^1$/,
    );
    await openai.batches.cancel(id);
    const { batch } = await end(id);
    expect(batch.status).toBe("cancelled");
    expect(await read(batch.output_file_id)).toMatchObject([{ custom_id: "b" }]);
    expect(await read(batch.error_file_id)).toMatchObject([{ custom_id: "a", error: { code: "batch_cancelled" } }]);
  });

  test("lists in pages, newest first", async () => {
    const made = [await create([chat("a", "standard", "One.")]), await create([chat("a", "standard", "Two.")])];
    const first = await openai.batches.list({ limit: 1 });
    expect(first.data.map(({ id }) => id)).toEqual([made[1]?.id ?? ""]);
    expect((await first.getNextPage()).data[0]?.id).toBe(made[0]?.id ?? "");
  });

  test("Azure has the same, below its own path", async () => {
    const { id } = await create([chat("a", "standard", "One.")], azure);
    const { batch } = await end(id, azure);
    expect(await read(batch.output_file_id, azure)).toMatchObject([{ custom_id: "a", response: { status_code: 200 } }]);
    expect(await statusOf(openai.batches.retrieve(id))).toBe(404);
  });
});

describe("Anthropic's batches", () => {
  const request = (custom_id: string, model: string, content: string) => ({
    custom_id,
    params: { model, max_tokens: 100, messages: [{ role: "user" as const, content }] },
  });
  const end = (id: string) =>
    follow(
      () => anthropic.messages.batches.retrieve(id),
      ({ processing_status }) => processing_status,
      /^ended$/,
    );
  const read = async (id: string) => Array.fromAsync(await anthropic.messages.batches.results(id));

  test("answers as calls are answered, with errors of single lines", async () => {
    const { batches } = anthropic.messages;
    const made = await batches.create({
      requests: [request("a", "standard", "One."), request("b", "fail-529", "Two.")],
    });
    expect(made).toMatchObject({
      processing_status: "in_progress",
      results_url: null,
      request_counts: { processing: 2 },
    });
    const { batch } = await end(made.id);
    expect(batch.request_counts).toEqual({ processing: 0, succeeded: 1, errored: 1, canceled: 0, expired: 0 });
    const called = await anthropic.messages.create(request("a", "standard", "One.").params);
    expect(await read(made.id)).toMatchObject([
      {
        custom_id: "a",
        result: { type: "succeeded", message: { content: JSON.parse(JSON.stringify(called.content)) } },
      },
      { custom_id: "b", result: { type: "errored", error: { type: "error", error: { type: "overloaded_error" } } } },
    ]);
    expect(await batches.delete(made.id)).toEqual({ id: made.id, type: "message_batch_deleted" });
    expect(await statusOf(batches.retrieve(made.id))).toBe(404);
  });

  test("cancels, and expires", async () => {
    const { batches } = anthropic.messages;
    const { id } = await batches.create({ requests: [request("a", "standard", "sim:batch-waits")] });
    expect(await statusOf(batches.delete(id))).toBe(400);
    expect((await batches.cancel(id)).processing_status).toBe("canceling");
    expect((await end(id)).batch).toMatchObject({ request_counts: { canceled: 1 } });
    expect((await read(id)).map(({ result }) => result.type)).toEqual(["canceled"]);
    const late = await batches.create({ requests: [request("a", "standard", "sim:batch-expires")] });
    await end(late.id);
    expect((await read(late.id)).map(({ result }) => result.type)).toEqual(["expired"]);
  });

  test("refuses what the host refuses", async () => {
    const create = (requests: object[]) => anthropic.messages.batches.create({ requests: requests as never });
    const good = request("a", "standard", "One.");
    const bad: object[][] = [[], [good, good], [{ ...good, custom_id: "a b" }], [{ custom_id: "a" }]];
    for (const requests of [...bad, [{ ...good, params: { ...good.params, stream: true } }]])
      expect(await statusOf(create(requests))).toBe(400);
  });
});

describe("Gemini's batches", () => {
  const contents = (text: string) => [{ role: "user", parts: [{ text }] }];
  const end = (name = "") =>
    follow(
      () => genai.batches.get({ name }),
      ({ state }) => state,
      /(SUCCEEDED|FAILED|CANCELLED|EXPIRED)$/,
    );

  test("answers inline requests inline, as calls are answered", async () => {
    const src = [
      { contents: contents("One."), metadata: { key: "a" } },
      { contents: [{ role: "user", parts: [] }], metadata: { key: "b" } },
    ];
    const job = await genai.batches.create({ model: "standard", src, config: { displayName: "mine" } });
    expect(job).toMatchObject({ state: "JOB_STATE_PENDING", displayName: "mine" });
    const { batch, states } = await end(job.name);
    expect(states.at(-1)).toBe("JOB_STATE_SUCCEEDED");
    const called = await genai.models.generateContent({ model: "standard", contents: contents("One.") });
    const [good, bad] = batch.dest?.inlinedResponses ?? [];
    expect(good?.metadata).toEqual({ key: "a" });
    expect(good?.response?.candidates?.[0]?.content).toEqual(called.candidates?.[0]?.content ?? {});
    expect(bad).toMatchObject({ metadata: { key: "b" }, error: { code: 3 } });
    const listed = await Array.fromAsync(await genai.batches.list());
    expect(listed.map(({ name }) => name)).toContain(job.name);
    await genai.batches.delete({ name: job.name ?? "" });
    expect(await statusOf(genai.batches.get({ name: job.name ?? "" }))).toBe(404);
  });

  test("answers a file with a file", async () => {
    const line = (key: string) => JSON.stringify({ key, request: { contents: contents(`Line ${key}.`) } });
    const file = new Blob([`${line("a")}\n${line("b")}\n`], { type: "application/jsonl" });
    const { name: src = "" } = await genai.files.upload({ file, config: { mimeType: "application/jsonl" } });
    const job = await genai.batches.create({ model: "standard", src: { fileName: src } });
    const { batch } = await end(job.name);
    const url = `${simulator.url}/gemini/download/v1beta/${batch.dest?.fileName}:download?alt=media`;
    const sent = await fetch(url, { headers: { "x-goog-api-key": "key-of-gemini" } });
    expect(jsonl(await sent.text())).toMatchObject([
      { key: "a", response: { candidates: [{}] } },
      { key: "b", response: { candidates: [{}] } },
    ]);
    const stranger = await fetch(url, { headers: { "x-goog-api-key": "another-key" } });
    expect(stranger.status).toBe(403);
  });

  test("cancels, expires and fails", async () => {
    const create = async (text: string) =>
      (await genai.batches.create({ model: "standard", src: [{ contents: contents(text) }] })).name ?? "";
    const waiting = await create("sim:batch-waits");
    await genai.batches.cancel({ name: waiting });
    expect((await end(waiting)).batch).toMatchObject({ state: "JOB_STATE_CANCELLED" });
    expect((await end(await create("sim:batch-expires"))).batch.state).toBe("JOB_STATE_EXPIRED" as never);
    expect((await end(await create("sim:batch-fails"))).batch.state).toBe("JOB_STATE_FAILED" as never);
  });

  test("refuses an unknown model, and requests for another", async () => {
    const create = (model: string, named?: string) =>
      genai.batches.create({ model, src: [{ contents: contents("One."), ...(named ? { model: named } : {}) }] });
    expect(await statusOf(create("no-such-model"))).toBe(404);
    expect(await statusOf(create("standard", "thinker"))).toBe(400);
  });
});

describe("bounds", () => {
  const batch = (body = "{}") => ({
    owner: "key",
    host: "openai" as const,
    given: {},
    lines: [{ id: "a", path: "/", body }],
    headers: new Headers(),
    failures: [],
  });
  const store = (delayMs: number, nowMs = Date.now) =>
    new StoredBatches({ nowMs, delayMs, answer: async () => Response.json({}) });

  test("at most 20 batches run at once", () => {
    const batches = store(60_000);
    const made = Array.from({ length: 21 }, () => batches.create(batch()));
    expect(made.filter((one) => one !== undefined)).toHaveLength(20);
    batches.stop();
  });

  test("the oldest that have ended make room", async () => {
    const batches = store(0);
    const made: (string | undefined)[] = [];
    for (let count = 0; count < 105; count++) {
      const one = batches.create(batch());
      made.push(one?.id);
      await eventually("the batch to end", () => one !== undefined && hasEnded(one), { seen: () => one });
    }
    expect(made).not.toContain(undefined);
    expect(batches.of("key", "openai").length).toBeLessThanOrEqual(100);
    expect(batches.find(made[0] ?? "", "key")).toBeUndefined();
    expect(batches.find(made[104] ?? "", "key")).toBeDefined();
  });

  test("a batch expires after a day", async () => {
    let nowMs = 0;
    const batches = store(0, () => nowMs);
    const made = batches.create(batch('"sim:batch-waits"'));
    nowMs = 24 * 3_600_000;
    expect(batches.find(made?.id ?? "", "key")).toBeDefined();
    await eventually("the batch to expire", () => made?.phase === "expired", { seen: () => made });
    expect(made?.results).toEqual(["expired"]);
  });
});
