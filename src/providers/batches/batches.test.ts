import { describe, expect, test } from "bun:test";
import { parseObject } from "../../base/json.ts";
import type { MediaAnswer, MediaRequest } from "../../media/adapter.ts";
import { ANTHROPIC_BATCHES } from "./anthropic.ts";
import type { BatchApi, BatchHost, BatchResult } from "./batch-api.ts";
import { GEMINI_BATCHES } from "./gemini.ts";
import { OPENAI_BATCHES } from "./openai.ts";

/** Answers each path with a text, and keeps what it was asked. */
class ScriptedHost implements BatchHost {
  readonly asked: MediaRequest[] = [];
  readonly #answers: Readonly<Record<string, string>>;

  constructor(answers: Readonly<Record<string, string>>) {
    this.#answers = answers;
  }

  #text(request: MediaRequest): string {
    this.asked.push(request);
    const found = this.#answers[`${request.method} ${request.url}`];
    if (found === undefined) throw new Error(`nothing at ${request.method} ${request.url}`);
    return found;
  }

  async ask(request: MediaRequest): Promise<MediaAnswer> {
    const text = this.#text(request);
    return { status: 200, text, body: parseObject(text), retryAfterSeconds: undefined };
  }

  async *lines(request: MediaRequest): AsyncGenerator<string> {
    yield* this.#text(request).split("\n");
  }
}

async function resultsOf(api: BatchApi, host: BatchHost, id: string): Promise<BatchResult[]> {
  const progress = await api.poll(host, id);
  if (progress.state !== "ended") throw new Error(`it is ${progress.state}`);
  return Array.fromAsync(api.results(host, progress.results));
}

/** What was sent while it was read: exactly as much as was announced. */
async function sentText({ body }: MediaRequest = { method: "GET", url: "" }): Promise<string> {
  const streamed =
    body === undefined
      ? undefined
      : "streamed" in body
        ? body.streamed
        : "streamedForm" in body
          ? body.streamedForm.file
          : undefined;
  const text = Buffer.concat(await Array.fromAsync(streamed?.open() ?? []));
  expect(text.length).toBe(streamed?.bytes ?? -1);
  return text.toString();
}

const batch = (api: BatchApi, bodies: readonly string[]) => ({
  marker: "tmark",
  model: "the-model",
  endpoint: Object.values(api.endpoints)[0] ?? "",
  headers: {},
  lines: bodies.map((body, index) =>
    Buffer.from(api.line(`tmark-${index + 1}`, body, Object.values(api.endpoints)[0] ?? "")),
  ),
});

const lost = {
  marker: "tmark",
  headers: {},
  count: 2,
  sentAtMs: Date.UTC(2026, 10, 18, 12),
  isOther: async () => false,
};

describe("decision 0108: OpenAI's batch API", () => {
  test("uploads the lines, records the creation, then creates the batch with its marker", async () => {
    const host = new ScriptedHost({ "POST /files": '{"id":"file-1"}', "POST /batches": '{"id":"batch_1"}' });
    let askedBefore = 0;
    const submitted = OPENAI_BATCHES.submit(host, batch(OPENAI_BATCHES, ['{"a":1}', '{"b":2}']), async () => {
      askedBefore = host.asked.length;
    });
    expect(await submitted).toBe("batch_1");
    expect(askedBefore).toBe(1);
    const [upload, creation] = host.asked;
    const text = await sentText(upload);
    expect(
      text
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line) as unknown),
    ).toEqual([
      { custom_id: "tmark-1", method: "POST", url: "/v1/chat/completions", body: { a: 1 } },
      { custom_id: "tmark-2", method: "POST", url: "/v1/chat/completions", body: { b: 2 } },
    ]);
    expect(creation?.body).toEqual({
      json: {
        input_file_id: "file-1",
        endpoint: "/v1/chat/completions",
        completion_window: "24h",
        metadata: { trivium: "tmark" },
      },
    });
  });

  test("H05: reads results of both files, with the digits and the order of their bodies", async () => {
    const output =
      '{"custom_id":"tmark-1","response":{"status_code":200,"body":{"2":1,"1":12345678901234567890}},"error":null}';
    const errors = [
      '{"custom_id":"tmark-2","response":{"status_code":400,"body":{"error":{"message":"no"}}},"error":null}',
      '{"custom_id":"tmark-3","response":null,"error":{"code":"batch_expired","message":"late"}}',
      '{"custom_id":"tmark-4","response":null,"error":{"code":"batch_cancelled","message":"stop"}}',
      '{"custom_id":"tmark-5","response":null,"error":{"code":"request_timeout","message":"slow"}}',
      "not JSON",
    ];
    const host = new ScriptedHost({
      "GET /batches/batch_1": '{"status":"expired","output_file_id":"out","error_file_id":"err"}',
      "GET /files/out/content": output,
      "GET /files/err/content": errors.join("\n"),
    });
    expect(await resultsOf(OPENAI_BATCHES, host, "batch_1")).toEqual([
      { id: "tmark-1", outcome: { type: "response", status: 200, body: '{"2":1,"1":12345678901234567890}' } },
      { id: "tmark-2", outcome: { type: "response", status: 400, body: '{"error":{"message":"no"}}' } },
      { id: "tmark-3", outcome: { type: "expired" } },
      { id: "tmark-4", outcome: { type: "cancelled" } },
      {
        id: "tmark-5",
        outcome: { type: "response", status: 500, body: '{"error":{"code":"request_timeout","message":"slow"}}' },
      },
      { id: undefined, outcome: { type: "response", status: 500, body: '{"error":{}}' } },
    ]);
  });

  test("finds a batch by its marker on a later page", async () => {
    const host = new ScriptedHost({
      "GET /batches?limit=100": '{"data":[{"id":"b1","metadata":null}],"has_more":true}',
      "GET /batches?limit=100&after=b1": '{"data":[{"id":"b2","metadata":{"trivium":"tmark"}}],"has_more":false}',
    });
    expect(await OPENAI_BATCHES.find(host, lost)).toEqual({ id: "b2" });
  });

  test("a batch that failed has the vendor's reasons", async () => {
    const errors = '{"data":[{"code":"x","message":"too many tokens"}]}';
    const host = new ScriptedHost({ "GET /batches/b": `{"status":"failed","errors":${errors}}` });
    expect(await OPENAI_BATCHES.poll(host, "b")).toEqual({ state: "failed", reasons: ["too many tokens"] });
  });
});

describe("decision 0108: Anthropic's batch API", () => {
  const counts = '"request_counts":{"processing":0,"succeeded":2,"errored":0,"canceled":0,"expired":0}';
  const shown = (id: string, status: string, hour = 12) =>
    `{"id":"${id}","processing_status":"${status}","created_at":"2026-11-18T${hour}:00:00Z",${counts}}`;
  const list = (...batches: string[]) => ({
    "GET /v1/messages/batches?limit=100": `{"data":[${batches.join(",")}],"has_more":false}`,
  });
  const results = (id: string, marker: string) => ({
    [`GET /v1/messages/batches/${id}/results`]: `{"custom_id":"${marker}-1","result":{"type":"canceled"}}`,
  });

  test("H43: finds a batch by the ids of its results, among batches of the same time and size", async () => {
    const host = new ScriptedHost({
      ...list(shown("mine", "ended"), shown("other", "ended"), shown("old", "ended", 10)),
      ...results("other", "telse"),
      ...results("mine", "tmark"),
    });
    expect(await ANTHROPIC_BATCHES.find(host, lost)).toEqual({ id: "mine" });
    const none = new ScriptedHost({ ...list(shown("other", "ended")), ...results("other", "telse") });
    expect(await ANTHROPIC_BATCHES.find(none, lost)).toBeUndefined();
  });

  test("H43: a batch that still runs may be the lost one, unless the gateway knows it as another", async () => {
    const host = new ScriptedHost(list(shown("running", "in_progress")));
    expect(await ANTHROPIC_BATCHES.find(host, lost)).toBe("unclear");
    expect(await ANTHROPIC_BATCHES.find(host, { ...lost, isOther: async () => true })).toBeUndefined();
    expect(await ANTHROPIC_BATCHES.find(host, { ...lost, count: 3 })).toBeUndefined();
  });

  test("reads each kind of result", async () => {
    const line = (id: number, result: string) => `{"custom_id":"tmark-${id}","result":${result}}`;
    const error = '{"type":"error","error":{"type":"overloaded_error","message":"busy"}}';
    const host = new ScriptedHost({
      "GET /v1/messages/batches/b": shown("b", "ended"),
      "GET /v1/messages/batches/b/results": [
        line(1, '{"type":"succeeded","message":{"id":"msg"}}'),
        line(2, `{"type":"errored","error":${error}}`),
        line(3, '{"type":"canceled"}'),
        line(4, '{"type":"expired"}'),
      ].join("\n"),
    });
    expect((await resultsOf(ANTHROPIC_BATCHES, host, "b")).map(({ outcome }) => outcome)).toEqual([
      { type: "response", status: 200, body: '{"id":"msg"}' },
      { type: "response", status: 529, body: error },
      { type: "cancelled" },
      { type: "expired" },
    ]);
  });

  test("the batch has the betas that its lines share", async () => {
    const host = new ScriptedHost({ "POST /v1/messages/batches": '{"id":"b"}' });
    const headers = { "anthropic-version": "2023-06-01", "anthropic-beta": "files-api-2025-04-14" };
    await ANTHROPIC_BATCHES.submit(host, { ...batch(ANTHROPIC_BATCHES, ["{}"]), headers }, async () => {});
    expect(host.asked[0]?.headers).toEqual(headers);
    expect(await sentText(host.asked[0])).toBe('{"requests":[{"custom_id":"tmark-1","params":{}}]}');
  });
});

describe("decision 0108: Gemini's batch API", () => {
  test("sends requests inline, under the marker as display name", async () => {
    const host = new ScriptedHost({ "POST /v1beta/models/the-model:batchGenerateContent": '{"name":"batches/b"}' });
    expect(await GEMINI_BATCHES.submit(host, batch(GEMINI_BATCHES, ['{"contents":[]}']), async () => {})).toBe(
      "batches/b",
    );
    expect(JSON.parse(await sentText(host.asked[0]))).toEqual({
      batch: {
        displayName: "tmark",
        inputConfig: { requests: { requests: [{ request: { contents: [] }, metadata: { key: "tmark-1" } }] } },
      },
    });
  });

  test("S07: a name that is not of the documented form is not used in paths", async () => {
    const host = new ScriptedHost({ "POST /v1beta/models/the-model:batchGenerateContent": '{"name":"../secrets"}' });
    await expect(GEMINI_BATCHES.submit(host, batch(GEMINI_BATCHES, ["{}"]), async () => {})).rejects.toThrow("no name");
  });

  test("reads responses and errors, whose codes may be those of gRPC", async () => {
    const responses = [
      '{"response":{"candidates":[]},"metadata":{"key":"tmark-1"}}',
      '{"error":{"code":3,"message":"bad"},"metadata":{"key":"tmark-2"}}',
      '{"error":{"code":429,"message":"busy"},"metadata":{"key":"tmark-3"}}',
    ];
    const output = `{"inlinedResponses":{"inlinedResponses":[${responses.join(",")}]}}`;
    const host = new ScriptedHost({
      "GET /v1beta/batches/b": `{"metadata":{"state":"BATCH_STATE_SUCCEEDED","output":${output}}}`,
    });
    expect(await resultsOf(GEMINI_BATCHES, host, "batches/b")).toEqual([
      { id: "tmark-1", outcome: { type: "response", status: 200, body: '{"candidates":[]}' } },
      { id: "tmark-2", outcome: { type: "response", status: 400, body: '{"error":{"code":400,"message":"bad"}}' } },
      { id: "tmark-3", outcome: { type: "response", status: 429, body: '{"error":{"code":429,"message":"busy"}}' } },
    ]);
  });
});
