import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { TEST_KEY } from "../../testing/test-key.ts";
import { FAILURES } from "../support/sdk-failure.ts";
import { noticed } from "../support/test-gateway.ts";
import { type HeldVideoHost, startHeldVideoHost } from "./held-video-host.ts";
import {
  followToEnd,
  idOf,
  KEYS,
  newerClient,
  receiptOf,
  startVideoHarness,
  until,
  type VideoHarness,
} from "./video-harness.ts";

const SECONDS = 4;
const USD_PER_SECOND = 0.02;
const LONG_MS = 60_000;

let host: HeldVideoHost;
let harness: VideoHarness;

beforeAll(async () => {
  host = startHeldVideoHost();
  const upstream = { kind: "volcengine", base_url: host.url, api_key: "first-secret" };
  harness = await startVideoHarness({
    providers: { held: upstream },
    models: [
      {
        id: "held/video",
        output_modalities: ["video"],
        pricings: { audio_and_video: [{ value: USD_PER_SECOND, unit: "perSecond", currency: "USD" }] },
        offers: [{ provider: "held", model: "doubao-seedance-1-5-pro-251215" }],
      },
    ],
  });
});
beforeEach(() => host.finish(true));
afterAll(async () => {
  host.release();
  await harness.stop();
  await host.stop();
});

/** Everything that needs no socket, and no SDK, is in `src/relay/media/*.test.ts`. */
function submit({ prompt, signal }: { prompt: string; signal?: AbortSignal }) {
  return fetch(`${harness.gateway.url}/api/genai/v1/publishers/held/models/video:predictLongRunning`, {
    method: "POST",
    headers: { authorization: `Bearer ${TEST_KEY}`, "content-type": "application/json" },
    body: JSON.stringify({
      instances: [{ prompt }],
      parameters: { durationSeconds: SECONDS, resolution: "720p" },
    }),
    ...(signal ? { signal } : {}),
  });
}

const nameIn = async (response: Response): Promise<string> => ((await response.json()) as { name: string }).name;

interface Spoken {
  error: { code: number; status: string; message: string };
}
const errorIn = async (response: Response) => ((await response.json()) as Spoken).error;

function poll(name: string, key = TEST_KEY): Promise<Response> {
  const path = `${name.split("/operations/")[0]}:fetchPredictOperation`;
  return fetch(`${harness.gateway.url}/api/genai/v1/${path}`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify({ operationName: name }),
  });
}

interface Polled {
  done?: boolean;
  error?: { message: string };
  response?: { videos: { gcsUri?: string }[] };
}

async function ended(name: string): Promise<Polled> {
  let latest: Polled = {};
  await until(async () => {
    latest = (await (await poll(name)).json()) as Polled;
    return latest.done === true;
  }, `${name} is done`);
  return latest;
}

describe("contract 2.2: ownership of an operation", () => {
  test("S09: another project's key sees neither the operation nor its video", async () => {
    const name = await nameIn(await submit({ prompt: "mine" }));
    const video = (await ended(name)).response?.videos[0]?.gcsUri ?? "";
    const refused = await poll(name, KEYS.stranger);
    expect(refused.status).toBe(404);
    expect(await errorIn(refused)).toMatchObject({ code: 404, status: "NOT_FOUND" });
    const bare = video.split("?")[0] ?? "";
    const fetchAs = (key: string) => fetch(bare, { headers: { authorization: `Bearer ${key}` } });
    expect((await fetchAs(KEYS.stranger)).status).toBe(404);
    expect((await fetchAs(TEST_KEY)).status).toBe(200);
    // The signed URL can be fetched without a key, as an SDK does.
    expect((await fetch(video)).status).toBe(200);
  });

  test("choices 5: an unknown operation and an expired one are 404, as the SDK's own error", async () => {
    const client = newerClient(harness.gateway);
    const operation = await client.models.generateVideos({ model: "held/video", source: { prompt: "short-lived" } });
    const name = operation.name ?? "";
    await ended(name);
    harness.database.run("UPDATE operations SET expires_at_ms = ? WHERE id = ?", [Date.now() - 60_000, idOf(name)]);
    const asked = (which: string) => {
      operation.name = which;
      return client.operations.getVideosOperation({ operation }).catch((error: unknown) => error);
    };
    const expired = FAILURES.genai(await asked(name));
    const unknown = FAILURES.genai(await asked(name.replace(idOf(name), "never-was")));
    for (const failure of [expired, unknown]) {
      expect(failure).toMatchObject({ class: "ApiError", status: 404, type: "NOT_FOUND" });
    }
    expect(unknown.message).toBe(expired.message.replace(idOf(name), "never-was"));
  });
});

test(
  "contract 2.2: with x-trivium-media: inline the response contains the video",
  async () => {
    const client = newerClient(harness.gateway);
    const config = { durationSeconds: SECONDS, resolution: "480p" };
    const operation = await client.models.generateVideos({ model: "sim/video", source: { prompt: "a fox" }, config });
    const linked = (await followToEnd(client, operation)).response?.generatedVideos?.[0]?.video;
    const headers = { "x-trivium-media": "inline" };
    const answer = await client.operations.getVideosOperation({ operation, config: { httpOptions: { headers } } });
    const inline = answer.response?.generatedVideos?.[0]?.video;
    expect(inline?.uri).toBeUndefined();
    expect(inline?.mimeType).toBe("video/mp4");
    const bytes = Buffer.from(inline?.videoBytes ?? "", "base64");
    expect(bytes.equals(await (await fetch(linked?.uri ?? "")).bytes())).toBe(true);
  },
  LONG_MS,
);

describe("a submit whose response was lost", () => {
  test("H24: repeated with the same key and body it is the same operation, only once", async () => {
    const before = host.taken();
    host.hold();
    const disconnecting = new AbortController();
    const unheard = submit({ prompt: "lost", signal: disconnecting.signal }).catch(() => undefined);
    await until(() => host.waiting() === 1, "the job is being submitted");
    disconnecting.abort();
    await unheard;
    await noticed(harness.gateway);
    host.release();
    await until(() => host.taken() - before === 1, "the job is accepted");
    const received = await nameIn(await submit({ prompt: "lost" }));
    expect(host.taken() - before).toBe(1);
    expect((await ended(received)).response?.videos).toHaveLength(1);
    // Now the name was received: the same prompt again is a new request.
    expect(await nameIn(await submit({ prompt: "lost" }))).not.toBe(received);
    expect(host.taken() - before).toBe(2);
  });
});

describe("H24: an operation is bound to the credential that submitted it", () => {
  function configure(api_key: string): void {
    const { configFile, app } = harness.gateway;
    const config = JSON.parse(readFileSync(configFile, "utf8")) as { providers: { held: { api_key: string } } };
    config.providers.held.api_key = api_key;
    writeFileSync(configFile, JSON.stringify(config));
    app.reload();
  }

  test(
    "a new key is not sent to the host for it; the old one completes it",
    async () => {
      host.finish(false);
      const name = await nameIn(await submit({ prompt: "bound" }));
      await until(() => host.asked.length > 0, "the job is asked about");
      configure("second-secret");
      const failuresOf = () => {
        const row = harness.database.query("SELECT parts FROM operations WHERE id = ?").get(idOf(name));
        return (JSON.parse((row as { parts: string }).parts) as { failures: number }[])[0]?.failures ?? 0;
      };
      await until(() => failuresOf() > 0, "the poller has found no provider");
      expect(host.asked).not.toContain("Bearer second-secret");
      expect((await (await poll(name)).json()) as Polled).toEqual({ name } as Polled);
      host.finish(true);
      // A new submit uses the new key.
      expect((await ended(await nameIn(await submit({ prompt: "after" })))).response?.videos).toHaveLength(1);
      const withSecond = host.asked.filter((credential) => credential === "Bearer second-secret").length;
      expect(withSecond).toBeGreaterThan(0);
      configure("first-secret");
      expect((await ended(name)).response?.videos).toHaveLength(1);
      expect((await receiptOf(harness, name)).usage["seconds"]).toBe(SECONDS);
      expect(host.asked.filter((credential) => credential === "Bearer second-secret")).toHaveLength(withSecond);
    },
    LONG_MS,
  );
});
