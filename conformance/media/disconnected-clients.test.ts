import { Database } from "bun:sqlite";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import { rmSync } from "node:fs";
import type { ServerResponse } from "node:http";
import { join } from "node:path";
import { plainPng } from "../../src/media/images.sample.ts";
import { eventually } from "../../testing/eventually.ts";
import { TEST_KEY } from "../../testing/test-key.ts";
import { type ScriptedUpstream, sendJson, startEvents, startScriptedUpstream } from "../support/scripted-upstream.ts";
import { noticed, startTestGateway, type TestGateway } from "../support/test-gateway.ts";

/**
 * H26: a call is billed by what the provider makes, whether or not the client stays connected. Here over sockets, and
 * to the end of the program; every way to request images and every ending is in
 * `src/relay/media/image-attempt.test.ts`.
 */
const PRICE_NANO_USD = 40_000_000;
const { base64 } = plainPng(32, 32);
const WHOLE = { created: 1, data: [{ b64_json: base64 }], output_format: "png" };
const COMPLETED = JSON.stringify({ type: "image_generation.completed", b64_json: base64, output_format: "png" });

let upstream: ScriptedUpstream;
beforeAll(async () => {
  upstream = await startScriptedUpstream();
});
afterAll(() => upstream.stop());

async function startGateway(drain_seconds = 2): Promise<TestGateway> {
  return startTestGateway({
    config: {
      server: { drain_seconds },
      providers: {
        host: { kind: "openai", base_url: `${upstream.url}/v1`, api_key: "upstream-secret" },
      },
      models: [
        {
          id: "own/counted",
          output_modalities: ["image"],
          pricings: { image: [{ value: 0.04, unit: "perCount", currency: "USD" }] },
          offers: [{ provider: "host", model: "gpt-image-1" }],
        },
      ],
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

const ask = (gateway: TestGateway, stream: boolean, signal: AbortSignal) =>
  fetch(`${gateway.url}/api/v1/images/generations`, {
    method: "POST",
    headers: { authorization: `Bearer ${TEST_KEY}`, "content-type": "application/json" },
    body: JSON.stringify({ model: "own/counted", prompt: "a fox", stream }),
    signal,
  }).catch(() => undefined);

describe("H26: a client that disconnects", () => {
  let gateway: TestGateway;
  const seen = new Set<string>();
  beforeAll(async () => {
    gateway = await startGateway();
  });
  afterAll(() => gateway.stop());

  /** The rows since the last check; waits for this many. */
  async function newRows(count: number): Promise<Row[]> {
    let rows: Row[] = [];
    await eventually(`${count} rows`, () => {
      rows = rowsIn(databaseOf(gateway)).filter(({ id }) => !seen.has(id));
      return rows.length >= count;
    });
    for (const { id } of rows) seen.add(id);
    return rows;
  }
  afterEach(async () => {
    expect(await newRows(0)).toEqual([]);
  });

  test.each([
    ["before the headers", false],
    ["after the headers of a stream", true],
  ])("%s pays for the image that the provider makes", async (_, stream) => {
    const held = holdRequests();
    const disconnecting = new AbortController();
    const asked = ask(gateway, stream, disconnecting.signal);
    await eventually("the provider is asked", () => held.length === 1);
    if (stream) expect((await asked)?.status).toBe(200);
    disconnecting.abort();
    await asked;
    // The provider is still working.
    await noticed(gateway);
    expect(upstream.disconnects).toBe(0);
    const [response] = held;
    if (stream && response) {
      startEvents(response);
      response.end(`event: image_generation.completed\ndata: ${COMPLETED}\n\n`);
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
    const asked = ask(gateway, false, disconnecting.signal);
    await eventually("the provider is asked", () => held.length === 1);
    disconnecting.abort();
    await asked;
    await noticed(gateway);
  }

  test("the drain waits for an image whose client has disconnected", async () => {
    const gateway = await startGateway(5);
    const held = holdRequests();
    await askAndLeave(gateway, held);
    const stopped = rowsAfterStop(gateway);
    await eventually("the drain", async () => (await fetch(`${gateway.url}/readyz`)).status === 503);
    if (held[0]) sendJson(held[0], WHOLE);
    expect(await stopped).toMatchObject([
      { outcome: "client_gone", usage_source: "measured", cost_nano_usd: PRICE_NANO_USD },
    ]);
  });

  test("when its time is up, such an image is aborted and billed at its expected cost", async () => {
    const gateway = await startGateway(0.2);
    const held = holdRequests();
    await askAndLeave(gateway, held);
    expect(await rowsAfterStop(gateway)).toMatchObject([
      { outcome: "client_gone", usage_source: "partial", usage_images: 1, cost_nano_usd: PRICE_NANO_USD },
    ]);
  });
});
