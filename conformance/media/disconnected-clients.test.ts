import { Database } from "bun:sqlite";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import { rmSync } from "node:fs";
import type { ServerResponse } from "node:http";
import { join } from "node:path";
import { plainPng } from "../../src/media/images.sample.ts";
import { MAX_ORPHANS } from "../../src/relay/watched-attempt.ts";
import { TEST_KEY } from "../../testing/test-key.ts";
import { type ScriptedUpstream, sendJson, startEvents, startScriptedUpstream } from "../support/scripted-upstream.ts";
import { freePort, startTestGateway, type TestGateway } from "../support/test-gateway.ts";

/**
 * H26: a call is billed by what the provider makes, whether or not the client stays connected. Contract 4 images/*, 2.4
 * `:predict`, and conversations with a model that makes nothing but images.
 */
const PRICE_NANO_USD = 40_000_000;
const { base64 } = plainPng(32, 32);
const WHOLE = { created: 1, data: [{ b64_json: base64 }], output_format: "png" };
const event = (type: string, fields: object = {}) =>
  `event: ${type}\ndata: ${JSON.stringify({ type, b64_json: base64, output_format: "png", ...fields })}\n\n`;
const partial = (index: number) => event("image_generation.partial_image", { partial_image_index: index });

let upstream: ScriptedUpstream;
beforeAll(async () => {
  upstream = await startScriptedUpstream();
});
afterAll(() => upstream.stop());

async function until(isSo: () => boolean, what: string): Promise<void> {
  const deadline = Date.now() + 10_000;
  while (!isSo()) {
    if (Date.now() > deadline) throw new Error(`in vain: ${what}`);
    await Bun.sleep(5);
  }
}

async function startGateway(drain_seconds = 2): Promise<TestGateway> {
  const offers = [{ provider: "host", model: "gpt-image-1" }];
  const modalities = { input_modalities: ["text", "image"], output_modalities: ["image"] };
  return startTestGateway({
    config: {
      server: { host: "127.0.0.1", port: await freePort(), drain_seconds },
      providers: {
        host: { kind: "openai", base_url: `${upstream.url}/v1`, api_key: "upstream-secret" },
      },
      models: [
        {
          id: "own/counted",
          ...modalities,
          pricings: { image: [{ value: 0.04, unit: "perCount", currency: "USD" }] },
          offers,
        },
        {
          id: "own/one-by-one",
          ...modalities,
          pricings: { image: [{ value: 0.04, unit: "perCount", currency: "USD" }] },
          offers: [{ provider: "host", model: "dall-e-3" }],
        },
      ],
      keys: [{ name: "tests", key: TEST_KEY, limits: { concurrent: 500 } }],
    },
    timings: { commitDeadlineMs: 40, keepAliveMs: 20, mediaPollFactor: 0.02 },
  });
}

interface Row {
  id: string;
  outcome: string;
  usage_source: string;
  usage_images: number | null;
  cost_nano_usd: number;
  stream: number;
  offers: string;
}

const rowsIn = (path: string): Row[] => {
  const database = new Database(path, { readonly: true });
  try {
    return database.query("SELECT * FROM receipts ORDER BY id").all() as Row[];
  } finally {
    database.close();
  }
};
const databaseOf = (gateway: TestGateway) => join(gateway.folder, "data", "trivium.db");

/** Requests that the host has accepted and not yet answered. */
function holdRequests(): ServerResponse[] {
  const held: ServerResponse[] = [];
  upstream.play((_request, response) => void held.push(response));
  return held;
}

const post = (gateway: TestGateway, path: string, body: unknown, signal?: AbortSignal) =>
  fetch(gateway.url + path, {
    method: "POST",
    headers: {
      authorization: `Bearer ${TEST_KEY}`,
      "partner-version": "2023-06-01",
      ...(body instanceof FormData ? {} : { "content-type": "application/json" }),
    },
    body: body instanceof FormData ? body : JSON.stringify(body),
    ...(signal ? { signal } : {}),
  });

function editForm(): FormData {
  const form = new FormData();
  form.set("model", "own/counted");
  form.set("prompt", "a fox");
  form.set("image", new File([Buffer.from(base64, "base64")], "fox.png", { type: "image/png" }));
  return form;
}

const user = [{ role: "user", content: "a fox" }];
const contents = [{ role: "user", parts: [{ text: "a fox" }] }];
/** Every way to ask for images: path, body. */
const WAYS: readonly (readonly [string, string, () => unknown])[] = [
  ["images/generations", "/api/v1/images/generations", () => ({ model: "own/counted", prompt: "a fox" })],
  [
    "images/generations, streamed",
    "/api/v1/images/generations",
    () => ({ model: "own/counted", prompt: "a fox", stream: true }),
  ],
  ["images/edits", "/api/v1/images/edits", editForm],
  [
    ":predict",
    "/api/genai/v1/publishers/own/models/counted:predict",
    () => ({ instances: [{ prompt: "a fox" }], parameters: { sampleCount: 1 } }),
  ],
  ["chat", "/api/v1/chat/completions", () => ({ model: "own/counted", messages: user })],
  ["chat, streamed", "/api/v1/chat/completions", () => ({ model: "own/counted", messages: user, stream: true })],
  ["messages", "/api/msg/v1/messages", () => ({ model: "own/counted", max_tokens: 100, messages: user })],
  [
    "messages, streamed",
    "/api/msg/v1/messages",
    () => ({ model: "own/counted", max_tokens: 100, messages: user, stream: true }),
  ],
  ["generateContent", "/api/genai/v1/publishers/own/models/counted:generateContent", () => ({ contents })],
  [
    "streamGenerateContent",
    "/api/genai/v1/publishers/own/models/counted:streamGenerateContent?alt=sse",
    () => ({ contents }),
  ],
];

describe("H26: a client that disconnects", () => {
  let gateway: TestGateway;
  const seen = new Set<string>();
  beforeAll(async () => {
    gateway = await startGateway();
  });
  afterAll(() => gateway.stop());

  /** The rows since the last check; waits for so many. */
  async function newRows(count: number): Promise<Row[]> {
    let rows: Row[] = [];
    await until(() => {
      rows = rowsIn(databaseOf(gateway)).filter(({ id }) => !seen.has(id));
      return rows.length >= count;
    }, `${count} rows`);
    for (const { id } of rows) seen.add(id);
    return rows;
  }
  afterEach(async () => {
    expect(await newRows(0)).toEqual([]);
  });

  for (const [name, path, body] of WAYS) {
    for (const afterHeaders of name.includes("stream") && !name.startsWith("stream") ? [false, true] : [false]) {
      const when = afterHeaders ? "after the headers" : "before the headers";
      test(`${name}: ${when}, pays for the image that the provider makes`, async () => {
        const held = holdRequests();
        const disconnecting = new AbortController();
        const asked = post(gateway, path, body(), disconnecting.signal).catch(() => undefined);
        await until(() => held.length === 1, "the provider is asked");
        if (afterHeaders) expect((await asked)?.status).toBe(200);
        disconnecting.abort();
        await asked;
        // The gateway has noticed, and the provider is still working.
        await Bun.sleep(50);
        expect(upstream.disconnects).toBe(0);
        const [response] = held;
        if (name === "images/generations, streamed" && response) {
          startEvents(response);
          response.end(event("image_generation.completed"));
        } else if (response) sendJson(response, WHOLE);
        const [row] = await newRows(1);
        expect(row).toMatchObject({
          outcome: "client_gone",
          usage_source: "measured",
          usage_images: 1,
          cost_nano_usd: PRICE_NANO_USD,
        });
        expect(upstream.seen).toHaveLength(1);
      });
    }
  }

  test("after the third partial image pays for the whole one, by the provider's figures", async () => {
    let finish = () => {};
    upstream.play((_request, response) => {
      startEvents(response);
      response.write(partial(0) + partial(1) + partial(2));
      finish = () => void response.end(event("image_generation.completed"));
    });
    const disconnecting = new AbortController();
    const body = { model: "own/counted", prompt: "a fox", stream: true, partial_images: 3 };
    const response = await post(gateway, "/api/v1/images/generations", body, disconnecting.signal);
    let text = "";
    const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
    while (text.split("partial_image_index").length <= 3) text += (await reader?.read())?.value ?? "";
    disconnecting.abort();
    await Bun.sleep(50);
    expect(upstream.disconnects).toBe(0);
    finish();
    expect(await newRows(1)).toMatchObject([
      { outcome: "client_gone", usage_source: "measured", usage_images: 1, cost_nano_usd: PRICE_NANO_USD, stream: 1 },
    ]);
  });

  test("pays nothing for what then fails at the provider, and no other offer is tried", async () => {
    const held = holdRequests();
    const disconnecting = new AbortController();
    const asked = post(gateway, "/api/v1/images/generations", WAYS[0]?.[2](), disconnecting.signal).catch(
      () => undefined,
    );
    await until(() => held.length === 1, "the provider is asked");
    disconnecting.abort();
    await asked;
    await Bun.sleep(30);
    if (held[0]) sendJson(held[0], { error: { message: "broken" } }, 500);
    expect(await newRows(1)).toMatchObject([{ outcome: "client_gone", usage_images: null, cost_nano_usd: 0 }]);
    await Bun.sleep(300);
    expect(upstream.seen).toHaveLength(1);
  });

  test("with ten images made one by one pays for those that were started; no more are started", async () => {
    const held = holdRequests();
    const disconnecting = new AbortController();
    const body = { model: "own/one-by-one", prompt: "a fox", n: 10 };
    const asked = post(gateway, "/api/v1/images/generations", body, disconnecting.signal).catch(() => undefined);
    await until(() => held.length === 5, "five are being made");
    disconnecting.abort();
    await asked;
    await Bun.sleep(30);
    for (const response of held) sendJson(response, WHOLE);
    expect(await newRows(1)).toMatchObject([
      { outcome: "client_gone", usage_source: "measured", usage_images: 5, cost_nano_usd: 5 * PRICE_NANO_USD },
    ]);
    expect(upstream.seen).toHaveLength(5);
  });

  test("beyond the limit ends its provider's work, and pays the expected cost of the image", async () => {
    const held = holdRequests();
    const disconnecting = Array.from({ length: MAX_ORPHANS.orphanedImages + 2 }, () => new AbortController());
    const asked = disconnecting.map(({ signal }) =>
      post(gateway, "/api/v1/images/generations", WAYS[0]?.[2](), signal).catch(() => undefined),
    );
    await until(() => held.length === disconnecting.length, "all are asked for");
    for (const one of disconnecting) one.abort();
    await Promise.all(asked);
    const cut = await newRows(2);
    expect(cut).toMatchObject(
      Array.from({ length: 2 }, () => ({
        outcome: "client_gone",
        usage_source: "partial",
        usage_images: 1,
        cost_nano_usd: PRICE_NANO_USD,
      })),
    );
    await until(() => upstream.disconnects === 2, "two are ended");
    for (const response of held) if (!response.destroyed) sendJson(response, WHOLE);
    const rows = await newRows(MAX_ORPHANS.orphanedImages);
    expect(new Set(rows.map(({ usage_source }) => usage_source))).toEqual(new Set(["measured"]));
    expect(rows.reduce((sum, row) => sum + row.cost_nano_usd, 0)).toBe(MAX_ORPHANS.orphanedImages * PRICE_NANO_USD);
  });
});

describe("H26, choices 7: shutting down", () => {
  /** The rows of the ledger when the gateway has stopped. */
  async function rowsAfterStop(gateway: TestGateway): Promise<Row[]> {
    await gateway.app.stop();
    const rows = rowsIn(databaseOf(gateway));
    rmSync(gateway.folder, { recursive: true });
    return rows;
  }

  async function askAndLeave(gateway: TestGateway, held: ServerResponse[]): Promise<void> {
    const disconnecting = new AbortController();
    const asked = post(gateway, "/api/v1/images/generations", WAYS[0]?.[2](), disconnecting.signal).catch(
      () => undefined,
    );
    await until(() => held.length === 1, "the provider is asked");
    disconnecting.abort();
    await asked;
    await Bun.sleep(30);
  }

  test("the drain waits for an image whose client has disconnected", async () => {
    const gateway = await startGateway(5);
    const held = holdRequests();
    await askAndLeave(gateway, held);
    setTimeout(() => held[0] && sendJson(held[0], WHOLE), 150);
    expect(await rowsAfterStop(gateway)).toMatchObject([
      { outcome: "client_gone", usage_source: "measured", cost_nano_usd: PRICE_NANO_USD },
    ]);
  });

  test("when its time is up such an image is aborted, and billed at its expected cost", async () => {
    const gateway = await startGateway(0.2);
    const held = holdRequests();
    await askAndLeave(gateway, held);
    expect(await rowsAfterStop(gateway)).toMatchObject([
      { outcome: "client_gone", usage_source: "partial", usage_images: 1, cost_nano_usd: PRICE_NANO_USD },
    ]);
  });

  test("a client that is still connected gets an error in its own protocol, and pays nothing", async () => {
    const gateway = await startGateway(0.2);
    const held = holdRequests();
    const ways = WAYS.filter(([name]) => !name.includes("edits"));
    const answers = ways.map(async ([name, path, body]) => {
      const response = await post(gateway, path, body());
      return { name, status: response.status, text: await response.text() };
    });
    await until(() => held.length === ways.length, "all are asked for");
    const rows = await rowsAfterStop(gateway);
    for (const { name, status, text } of await Promise.all(answers)) {
      const begun = name.includes(", streamed");
      expect([name, status]).toEqual([name, begun ? 200 : name === "messages" ? 529 : 503]);
      expect(text).toContain("This gateway is shutting down");
    }
    expect(rows).toMatchObject(ways.map(() => ({ outcome: "overloaded", cost_nano_usd: 0 })));
  });
});
