import { Database } from "bun:sqlite";
import { afterAll, beforeAll, expect, test } from "bun:test";
import { join } from "node:path";
import { eventually } from "../../testing/eventually.ts";
import { TEST_KEY } from "../../testing/test-key.ts";
import { type ScriptedUpstream, sendJson, startScriptedUpstream } from "../support/scripted-upstream.ts";
import { startTestGateway, type TestGateway } from "../support/test-gateway.ts";

/** Decision 0019: no provider is paid for what could not be stored; what was paid for is billed and not lost. */
const OTHER_KEY = `sk-trv-${"AnotherProjectsKey".padEnd(43, "x")}`;
/** A video of four seconds is expected to take 4 MB, an image 8. */
const LIMITS = { max_total_mb: 20, max_project_mb: 8 };

let upstream: ScriptedUpstream;
let gateway: TestGateway;
let database: Database;

beforeAll(async () => {
  upstream = await startScriptedUpstream();
  gateway = await startTestGateway({
    config: {
      retention: LIMITS,
      providers: { host: { kind: "openai", base_url: `${upstream.url}/v1`, api_key: "upstream-secret" } },
      models: [
        {
          id: "own/video",
          output_modalities: ["video"],
          pricings: { video: [{ value: 0.1, unit: "perSecond", currency: "USD" }] },
          offers: [{ provider: "host", model: "sora-2" }],
        },
        {
          id: "own/image",
          output_modalities: ["image"],
          pricings: { image: [{ value: 0.04, unit: "perCount", currency: "USD" }] },
          offers: [{ provider: "host", model: "gpt-image-1" }],
        },
      ],
      keys: [
        { name: "tests", key: TEST_KEY },
        { name: "other", key: OTHER_KEY, project: "other" },
      ],
    },
    timings: { mediaPollFactor: 0.002 },
  });
  database = new Database(join(gateway.folder, "data", "trivium.db"));
  database.run("PRAGMA busy_timeout = 5000");
});
afterAll(async () => {
  database.close();
  await gateway.stop();
  await upstream.stop();
});

const post = (path: string, body: object, key = TEST_KEY) =>
  fetch(gateway.url + path, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json", "partner-version": "2023-06-01" },
    body: JSON.stringify(body),
  });
const MODEL = "/api/genai/v1/publishers/own/models/video";
const submit = (key?: string) =>
  post(
    `${MODEL}:predictLongRunning`,
    { instances: [{ prompt: "a fox" }], parameters: { durationSeconds: 4, resolution: "720p" } },
    key,
  );

/** Another file, which takes space until it is removed. */
function fill(id: string, project: string, megabytes: number): () => void {
  const expires = Date.now() + 3_600_000;
  database.run(
    "INSERT INTO files (id, project, owner_id, mime_type, size, created_at_ms, expires_at_ms) VALUES (?, ?, 'x', 'video/mp4', ?, 0, ?)",
    [id, project, megabytes * 1024 * 1024, expires],
  );
  return () => void database.run("DELETE FROM files WHERE id = ?", [id]);
}

/** A host whose videos are finished immediately, or as soon as allowed. */
function playHost(mayFinish = () => true): void {
  upstream.play((request, response) => {
    if (request.method === "POST") return void sendJson(response, { id: "video_1", object: "video", status: "queued" });
    if (request.path.endsWith("/content")) {
      response.writeHead(200, { "content-type": "video/mp4" }).end(Buffer.alloc(2_000_000, "v"));
      return;
    }
    const state = mayFinish() ? { status: "completed", progress: 100 } : { status: "in_progress", progress: 50 };
    sendJson(response, { id: "video_1", object: "video", seconds: "4", ...state });
  });
}

test("a submit is refused if the project's share, or the store, is full; no provider is called, nothing is billed", async () => {
  playHost();
  const empty = fill("share", "default", 4.5);
  const refused = await submit();
  expect(refused.status).toBe(503);
  expect(await refused.json()).toMatchObject({
    error: {
      code: 503,
      status: "UNAVAILABLE",
      message: expect.stringContaining("has used its share of the file store"),
    },
  });
  expect(upstream.seen).toEqual([]);
  const more = fill("total", "third", 15);
  const full = await submit(OTHER_KEY);
  expect([full.status, await full.text()]).toEqual([503, expect.stringContaining("The file store is full")]);
  more();
  expect((await submit(OTHER_KEY)).status).toBe(200);
  empty();
  expect(database.query("SELECT id FROM receipts WHERE outcome != 'ok'").all()).toEqual([]);
});

test("in messages an image model is not called if its image could not be stored", async () => {
  playHost();
  const empty = fill("share", "default", 4.5);
  const body = { model: "own/image", max_tokens: 100, messages: [{ role: "user", content: "a fox" }] };
  const refused = await post("/api/msg/v1/messages", body);
  expect(refused.status).toBe(529);
  expect(await refused.json()).toMatchObject({
    type: "error",
    error: { type: "overloaded_error", message: expect.stringContaining("share of the file store") },
  });
  // The video of the previous test may still be polled.
  expect(upstream.seen.filter(({ method }) => method === "POST")).toEqual([]);
  empty();
});

test("a video finished while the store is full is stored once there is space, and billed once", async () => {
  let full = false;
  playHost(() => full);
  const { name } = (await (await submit()).json()) as { name: string };
  const empty = fill("total", "third", 18.5);
  full = true;
  const poll = async () =>
    (await (await post(`${MODEL}:fetchPredictOperation`, { operationName: name })).json()) as {
      done?: boolean;
      response?: { videos: { gcsUri: string }[] };
    };
  const fetches = () => upstream.seen.filter(({ path }) => path.endsWith("/content")).length;
  await eventually("twelve fetches", () => fetches() >= 12, { seen: fetches });
  expect((await poll()).done).not.toBe(true);
  empty();
  const operation = await eventually("the video", async () => {
    const polled = await poll();
    return polled.done ? polled : undefined;
  });
  const video = await fetch(operation.response?.videos[0]?.gcsUri ?? "");
  expect((await video.bytes()).length).toBe(2_000_000);
  const id = name.split("/").at(-1) ?? "";
  const rows = database
    .query("SELECT outcome, cost_nano_usd FROM receipts WHERE id = (SELECT receipt_id FROM operations WHERE id = ?)")
    .all(id);
  expect(rows).toEqual([{ outcome: "ok", cost_nano_usd: 400_000_000 }]);
  expect(upstream.seen.filter(({ method }) => method === "POST")).toHaveLength(1);
});
