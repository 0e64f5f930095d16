import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { TEST_KEY } from "../../testing/test-key.ts";
import { FAILURES } from "../support/sdk-failure.ts";
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
/** A gateway notices a closed connection a moment later. */
const NOTICED_MS = 300;

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

interface Submitting {
  prompt: string;
  model?: string;
  key?: string;
  headers?: Record<string, string>;
  parameters?: Record<string, unknown>;
  signal?: AbortSignal;
}

function submit({ prompt, model = "held/video", key = TEST_KEY, headers, parameters, signal }: Submitting) {
  const path = `publishers/${model.replace("/", "/models/")}:predictLongRunning`;
  return fetch(`${harness.gateway.url}/api/genai/v1/${path}`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json", ...headers },
    body: JSON.stringify({
      instances: [{ prompt }],
      parameters: { durationSeconds: SECONDS, resolution: "720p", ...parameters },
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

const receiptsOf = (receiptId: string | null) =>
  harness.database.query("SELECT id FROM receipts WHERE id = ?").all(receiptId);

describe("contract 2.2: whose operation it is", () => {
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

  test("choices 5: an unknown operation and an expired one are 404, by the SDK's own error", async () => {
    const client = newerClient(harness.gateway);
    const operation = await client.models.generateVideos({ model: "held/video", source: { prompt: "short-lived" } });
    const name = operation.name ?? "";
    await ended(name);
    harness.database.run("UPDATE operations SET expires_at_ms = ? WHERE id = ?", [Date.now() - 1, idOf(name)]);
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
  "contract 2.2: with x-trivium-media: inline the video is in the answer",
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

test("H24: an operation that no client polls is settled all the same, once", async () => {
  const response = await submit({
    prompt: "unwatched",
    parameters: { sampleCount: 2, seed: 3, negativePrompt: "blur" },
  });
  expect(response.headers.get("x-trivium-dropped")).toBe("parameters.negativePrompt");
  const receiptId = response.headers.get("x-trivium-receipt");
  await until(() => receiptsOf(receiptId).length > 0, "the receipt is written");
  const receipt = await harness.gateway.receipt(response);
  expect(receipt.usage["seconds"]).toBe(2 * SECONDS);
  expect(receipt.cost_nano_usd).toBe(2 * SECONDS * USD_PER_SECOND * 1e9);
  // Polling afterwards, however often, makes no second bill.
  const name = await nameIn(response);
  const answers = await Promise.all(Array.from({ length: 5 }, () => ended(name)));
  for (const { response: made } of answers) expect(made?.videos).toHaveLength(2);
  expect(receiptsOf(receiptId)).toHaveLength(1);
  expect(await harness.gateway.receipt(response)).toEqual(receipt);
});

describe("choices 5: Idempotency-Key", () => {
  const keyed = (key: string) => ({ "idempotency-key": key });

  test("the same key and body give the same operation; another body is refused", async () => {
    const before = host.taken();
    const first = await nameIn(await submit({ prompt: "once", headers: keyed("a") }));
    expect(await nameIn(await submit({ prompt: "once", headers: keyed("a") }))).toBe(first);
    await ended(first);
    expect(await nameIn(await submit({ prompt: "once", headers: keyed("a") }))).toBe(first);
    expect(host.taken() - before).toBe(1);
    const other = await submit({ prompt: "twice", headers: keyed("a") });
    expect(other.status).toBe(400);
    expect((await errorIn(other)).message).toContain("Idempotency-Key was used with another body");
    expect(host.taken() - before).toBe(1);
    expect(await nameIn(await submit({ prompt: "once", headers: keyed("b") }))).not.toBe(first);
  });

  test("another project's key of the same name is another key", async () => {
    const ours = await nameIn(await submit({ prompt: "shared", headers: keyed("c") }));
    const theirs = await nameIn(await submit({ prompt: "shared", headers: keyed("c"), key: KEYS.stranger }));
    expect(idOf(theirs)).not.toBe(idOf(ours));
  });

  test("during the first submit, a repetition gets its name and nothing is started twice", async () => {
    const before = host.taken();
    host.hold();
    const first = submit({ prompt: "in flight", headers: keyed("d") });
    await until(() => host.waiting() === 1, "the job is being submitted");
    const repetition = await submit({ prompt: "in flight", headers: keyed("d") });
    const other = await submit({ prompt: "another", headers: keyed("d") });
    expect(other.status).toBe(400);
    host.release();
    const name = await nameIn(await first);
    expect(await nameIn(repetition)).toBe(name);
    await ended(name);
    expect(host.taken() - before).toBe(1);
  });

  test("of many concurrent ones one starts; the others get its name or are asked to wait", async () => {
    const before = host.taken();
    const all = await Promise.all(
      Array.from({ length: 8 }, () => submit({ prompt: "all at once", headers: keyed("e") })),
    );
    const names = new Set<string>();
    for (const response of all) {
      if (response.status === 200) names.add(await nameIn(response));
      else expect(response.headers.get("retry-after")).toMatch(/^\d+$/);
    }
    expect(all.every(({ status }) => status === 200 || status === 429)).toBe(true);
    expect(names.size).toBe(1);
    expect(host.taken() - before).toBe(1);
  });
});

describe("a submit whose answer was lost", () => {
  test("H24: repeated with the same key and body it is the same operation, and once only", async () => {
    const before = host.taken();
    host.hold();
    const disconnecting = new AbortController();
    const unheard = submit({ prompt: "lost", signal: disconnecting.signal }).catch(() => undefined);
    await until(() => host.waiting() === 1, "the job is being submitted");
    disconnecting.abort();
    await unheard;
    await Bun.sleep(NOTICED_MS);
    host.release();
    await until(() => host.taken() - before === 1, "the job is accepted");
    const received = await nameIn(await submit({ prompt: "lost" }));
    expect(host.taken() - before).toBe(1);
    expect((await ended(received)).response?.videos).toHaveLength(1);
    // Now the name was received: the same prompt again is a new request.
    expect(await nameIn(await submit({ prompt: "lost" }))).not.toBe(received);
    expect(host.taken() - before).toBe(2);
  });

  test("two clients with the same request at the same moment get a video each", async () => {
    const before = host.taken();
    host.hold();
    const first = submit({ prompt: "twins" });
    await until(() => host.waiting() === 1, "the first job is being submitted");
    const second = submit({ prompt: "twins" });
    await Promise.race([second, until(() => host.waiting() === 2, "the second job is being submitted")]);
    host.release();
    expect(await nameIn(await second)).not.toBe(await nameIn(await first));
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
    "a new key is not sent to the host for it; the old one brings it to its end",
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

describe("H23: a budget", () => {
  const request = (prompt: string, key = KEYS.frugal) => submit({ prompt, model: "sim/video", key });

  test("is held from the submit until the end, and released where nothing was made", async () => {
    const failing = await request("sim:fails");
    expect(failing.status).toBe(200);
    const refused = await request("too much");
    expect(refused.status).toBe(402);
    expect(await errorIn(refused)).toMatchObject({ status: "RESOURCE_EXHAUSTED" });
    await until(() => receiptsOf(failing.headers.get("x-trivium-receipt")).length > 0, "the first has failed");
    expect((await request("sim:moderated")).status).toBe(200);
  });

  test(
    "is spent by what was made, and concurrent submits do not spend the same remainder",
    async () => {
      const all = await Promise.all(["one", "two", "three"].map((prompt) => request(prompt, KEYS.thrifty)));
      expect(all.map(({ status }) => status).sort()).toEqual([200, 402, 402]);
      const taken = all.find(({ status }) => status === 200);
      await until(() => receiptsOf(taken?.headers.get("x-trivium-receipt") ?? null).length > 0, "the video is made");
      expect((await request("four", KEYS.thrifty)).status).toBe(402);
    },
    LONG_MS,
  );
});
