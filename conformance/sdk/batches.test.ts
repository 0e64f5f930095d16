import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Anthropic from "@anthropic-ai/sdk";
import { GoogleGenAI } from "@google/genai";
import OpenAI, { toFile } from "openai";
import { eventually } from "../../testing/eventually.ts";
import { TEST_KEY } from "../../testing/test-key.ts";
import { startTestGateway, type TestGateway } from "../support/test-gateway.ts";

let gateway: TestGateway;
let openai: OpenAI;
let anthropic: Anthropic;
beforeAll(async () => {
  gateway = await startTestGateway({ config: { simulator: true } });
  openai = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: TEST_KEY, maxRetries: 0 });
  anthropic = new Anthropic({ baseURL: gateway.url, apiKey: TEST_KEY, maxRetries: 0 });
});
afterAll(() => gateway.stop());

type Line = Record<string, unknown>;
const chatLine = (custom_id: string, text: string, more: object = {}): Line => ({
  custom_id,
  method: "POST",
  url: "/v1/chat/completions",
  body: { model: "sim/echo-request", messages: [{ role: "user", content: text }], ...more },
});

const upload = async (lines: readonly (Line | string)[]) => {
  const text = lines.map((line) => (typeof line === "string" ? line : JSON.stringify(line))).join("\n");
  return (await openai.files.create({ file: await toFile(Buffer.from(text), "in.jsonl"), purpose: "batch" })).id;
};

const ENDED = new Set(["completed", "failed", "expired", "cancelled"]);
const ended = (id: string) =>
  eventually("the end of the batch", async () => {
    const batch = await openai.batches.retrieve(id);
    return ENDED.has(batch.status) ? batch : undefined;
  });
const create = async (
  lines: readonly (Line | string)[],
  endpoint: OpenAI.BatchCreateParams["endpoint"] = "/v1/chat/completions",
) => openai.batches.create({ input_file_id: await upload(lines), endpoint, completion_window: "24h" });

const readLines = async (id: string | undefined): Promise<Line[]> =>
  id === undefined
    ? []
    : (await (await openai.files.content(id)).text())
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line) as Line);

describe("choices 12: batches in OpenAI's form", () => {
  test("every line runs as a call, in any model, and its result is in the output in order", async () => {
    const made = await create([
      chatLine("one", "first words"),
      chatLine("two", "second words", { model: "sim/standard" }),
      "",
      chatLine("three", "third words"),
    ]);
    expect(made).toMatchObject({ object: "batch", status: "validating", endpoint: "/v1/chat/completions" });
    const batch = await ended(made.id);
    expect(batch).toMatchObject({ status: "completed", request_counts: { total: 3, completed: 3, failed: 0 } });
    expect(batch.error_file_id).toBeUndefined();
    const lines = await readLines(batch.output_file_id);
    expect(lines.map((line) => line["custom_id"])).toEqual(["one", "two", "three"]);
    expect(lines[0]).toMatchObject({ error: null, response: { status_code: 200 } });
    expect(JSON.stringify(lines[0])).toContain("first words");
    expect((await openai.batches.list()).data[0]?.id).toBe(made.id);
  });

  test("a line that is refused fails alone, in the error file", async () => {
    const batch = await ended(
      (await create([chatLine("good", "words"), chatLine("bad", "words", { model: "no/such" })])).id,
    );
    expect(batch).toMatchObject({ status: "completed", request_counts: { total: 2, completed: 1, failed: 1 } });
    const [bad] = await readLines(batch.error_file_id);
    expect(bad).toMatchObject({ custom_id: "bad", response: { status_code: 404, body: { error: {} } } });
    expect((await readLines(batch.output_file_id)).map((line) => line["custom_id"])).toEqual(["good"]);
  });

  test.each([
    ["a line that is not JSON", [chatLine("a", "x"), "{"], 2, "invalid_json_line"],
    ["a line without an id", [{ ...chatLine("a", "x"), custom_id: undefined }], 1, "missing_custom_id"],
    ["a repeated id", [chatLine("a", "x"), chatLine("b", "x"), chatLine("a", "y")], 3, "duplicate_custom_id"],
    ["another endpoint", [{ ...chatLine("a", "x"), url: "/v1/responses" }], 1, "invalid_line"],
    ["a stream", [chatLine("a", "x", { stream: true })], 1, "invalid_line"],
    ["a background response", [chatLine("a", "x", { background: true })], 1, "invalid_line"],
  ] as const)("%s fails the batch, and nothing runs", async (_name, lines, line, code) => {
    const batch = await ended((await create(lines)).id);
    expect(batch).toMatchObject({ status: "failed", errors: { data: [{ line, code }] } });
    expect(batch.output_file_id).toBeUndefined();
  });

  test("the other endpoints run in batches too", async () => {
    const responses = await ended(
      (
        await create(
          [{ custom_id: "r", method: "POST", url: "/v1/responses", body: { model: "sim/standard", input: "hello" } }],
          "/v1/responses",
        )
      ).id,
    );
    expect(responses.request_counts).toEqual({ total: 1, completed: 1, failed: 0 });
    const [line] = await readLines(responses.output_file_id);
    expect(line).toMatchObject({ response: { body: { object: "response", status: "completed" } } });
  });

  test("a batch survives the deletion of its input, and is cancelled on request", async () => {
    const lines = Array.from({ length: 60 }, (_, index) => chatLine(`n${index}`, `words ${index}`));
    const made = await create(lines);
    await openai.files.delete(made.input_file_id);
    const cancelled = await openai.batches.cancel(made.id);
    expect(["cancelling", "cancelled"]).toContain(cancelled.status);
    const batch = await ended(made.id);
    expect(batch.status).toBe("cancelled");
    const done = await readLines(batch.output_file_id);
    expect(done.length).toBe(batch.request_counts?.completed ?? -1);
    const whole = await ended((await create(lines)).id);
    expect(whole.request_counts).toEqual({ total: 60, completed: 60, failed: 0 });
  });

  test("H43: a batch that expires keeps and bills what was done, and says which lines were not", async () => {
    const lines = Array.from({ length: 2_000 }, (_, index) => chatLine(`n${index}`, `words ${index}`));
    const input_file_id = await upload(lines);
    const made = await openai.batches.create({
      input_file_id,
      endpoint: "/v1/chat/completions",
      completion_window: "1s" as "24h",
    });
    const batch = await ended(made.id);
    expect(batch.status).toBe("expired");
    const [done, undone] = [await readLines(batch.output_file_id), await readLines(batch.error_file_id)];
    expect(done.length + undone.length).toBe(2_000);
    expect(batch.request_counts).toEqual({ total: 2_000, completed: done.length, failed: undone.length });
    expect(undone.at(-1)).toMatchObject({ response: null, error: { code: "batch_expired" } });
  });

  test("wrong fields are refused with their path", async () => {
    const refused = (body: object) =>
      openai.batches.create(body as OpenAI.BatchCreateParams).catch((error: unknown) => error);
    const input_file_id = await upload([chatLine("a", "x")]);
    const right = { input_file_id, endpoint: "/v1/chat/completions", completion_window: "24h" };
    expect(await refused({ ...right, input_file_id: "file-no" })).toMatchObject({
      status: 400,
      param: "input_file_id",
    });
    expect(await refused({ ...right, endpoint: "/v1/files" })).toMatchObject({ status: 400, param: "endpoint" });
    expect(await refused({ ...right, completion_window: "2d" })).toMatchObject({
      status: 400,
      param: "completion_window",
    });
  });
});

describe("choices 12: batches in Anthropic's form", () => {
  const request = (custom_id: string, content: string, model = "sim/echo-request") => ({
    custom_id,
    params: { model, max_tokens: 200, messages: [{ role: "user" as const, content }] },
  });

  test("runs messages, and streams their results", async () => {
    const made = await anthropic.messages.batches.create({
      requests: [request("a", "alpha words"), request("b", "beta words"), request("c", "x", "no/such")],
    });
    expect(made).toMatchObject({ type: "message_batch", processing_status: "in_progress" });
    expect(made.request_counts).toEqual({ processing: 3, succeeded: 0, errored: 0, canceled: 0, expired: 0 });
    const batch = await eventually("the end of the batch", async () => {
      const shown = await anthropic.messages.batches.retrieve(made.id);
      return shown.processing_status === "ended" ? shown : undefined;
    });
    expect(batch.request_counts).toEqual({ processing: 0, succeeded: 2, errored: 1, canceled: 0, expired: 0 });
    const results: Record<string, unknown> = {};
    for await (const { custom_id, result } of await anthropic.messages.batches.results(made.id)) {
      results[custom_id] = result;
    }
    expect(results["a"]).toMatchObject({ type: "succeeded", message: { type: "message", role: "assistant" } });
    expect(JSON.stringify(results["b"])).toContain("beta words");
    expect(results["c"]).toMatchObject({ type: "errored", error: { type: "error" } });
    const listed = await anthropic.messages.batches.list();
    expect(listed.data[0]?.id).toBe(made.id);
  });

  test("a repeated id is refused at once", async () => {
    const refused = await anthropic.messages.batches
      .create({ requests: [request("a", "x"), request("a", "y")] })
      .catch((error: unknown) => error);
    expect(refused).toMatchObject({ status: 400 });
    expect(String(refused)).toContain("requests[1].custom_id");
  });
});

describe("choices 12: batches in Google's form", () => {
  const ended = (genai: GoogleGenAI, name: string) =>
    eventually("the end of the batch", async () => {
      const job = await genai.batches.get({ name });
      return ["JOB_STATE_PENDING", "JOB_STATE_RUNNING"].includes(job.state ?? "") ? undefined : job;
    });

  test("runs inline requests, and returns their results inline", async () => {
    const genai = new GoogleGenAI({ apiKey: TEST_KEY, httpOptions: { baseUrl: gateway.url } });
    const contents = (text: string) => [{ role: "user", parts: [{ text }] }];
    const made = await genai.batches.create({
      model: "sim/echo-request",
      src: [{ contents: contents("gamma words") }, { contents: contents("delta words"), model: "no/such" }],
      config: { displayName: "greek" },
    });
    expect(made).toMatchObject({ displayName: "greek" });
    const job = await ended(genai, made.name ?? "");
    expect(String(job.state)).toBe("JOB_STATE_SUCCEEDED");
    const [first, second] = job.dest?.inlinedResponses ?? [];
    expect(JSON.stringify(first?.response)).toContain("gamma words");
    expect(second?.error).toMatchObject({ code: 404 });
    const listed: (string | undefined)[] = [];
    for await (const each of await genai.batches.list()) listed.push(each.name);
    expect(listed).toContain(made.name);
  });

  test("runs the requests of a file, and returns a file", async () => {
    const genai = new GoogleGenAI({ apiKey: TEST_KEY, httpOptions: { baseUrl: gateway.url } });
    const lines = ["one", "two"].map((key) =>
      JSON.stringify({ key, request: { contents: [{ role: "user", parts: [{ text: `words of ${key}` }] }] } }),
    );
    const file = await genai.files.upload({
      file: new Blob([lines.join("\n")], { type: "application/jsonl" }),
      config: { mimeType: "application/jsonl" },
    });
    const made = await genai.batches.create({ model: "sim/echo-request", src: file.name ?? "" });
    const job = await ended(genai, made.name ?? "");
    expect(job.dest?.fileName).toMatch(/^files\//);
    const output = await openai.files.content(`file-${job.dest?.fileName?.slice(-22)}`);
    const results = (await output.text()).trim().split("\n");
    expect(results.map((line) => (JSON.parse(line) as { key: string }).key)).toEqual(["one", "two"]);
    expect(results[1]).toContain("words of two");

    // Finding V1: with the vendor's own SDK too, and at both of its paths.
    const folder = await mkdtemp(join(tmpdir(), "trivium-batch-"));
    const downloadPath = join(folder, "results.jsonl");
    await genai.files.download({ file: job.dest?.fileName ?? "", downloadPath });
    expect((await readFile(downloadPath, "utf8")).trim().split("\n")).toEqual(results);
    await rm(folder, { recursive: true });
    const path = `/download/v1beta/${job.dest?.fileName}:download?alt=media`;
    const response = await fetch(gateway.url + path, { headers: { "x-goog-api-key": TEST_KEY } });
    expect((await response.text()).trim().split("\n")).toEqual(results);
    const stranger = await fetch(gateway.url + path, { headers: { "x-goog-api-key": "sk-trv-wrong" } });
    expect(stranger.status).toBe(401);
  });
});
