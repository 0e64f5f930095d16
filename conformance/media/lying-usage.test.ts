import { Database } from "bun:sqlite";
import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { plainPng } from "../../src/media/images.sample.ts";
import { TEST_KEY } from "../../testing/test-key.ts";
import { scriptedHarness } from "../support/scripted-harness.ts";
import { sendJson, startEvents } from "../support/scripted-upstream.ts";

/** H26, H27: impossible usage is not shown; images that are priced by tokens are never free. */
const { base64 } = plainPng(32, 32);
const USD_PER_MILLION = 40;
/** The most tokens of an image of medium quality by its publisher's tables. */
const MAX_TOKENS = 1_584;

const { upstream, gateway } = await scriptedHarness((url) => ({
  config: {
    providers: { host: { kind: "openai", base_url: `${url}/v1`, api_key: "upstream-secret" } },
    models: [
      {
        id: "own/image",
        input_modalities: ["text"],
        output_modalities: ["image"],
        pricings: { image: [{ value: USD_PER_MILLION, unit: "perMTokens", currency: "USD" }] },
        offers: [{ provider: "host", model: "gpt-image-1" }],
      },
    ],
    keys: [{ name: "tests", key: TEST_KEY, limits: { tokens_per_minute: 1_000_000, budget_usd_per_day: 5 } }],
  },
}));

const post = (path: string, body: object) =>
  fetch(gateway.url + path, {
    method: "POST",
    headers: { authorization: `Bearer ${TEST_KEY}`, "content-type": "application/json" },
    body: JSON.stringify(body),
  });

const WAYS: readonly [string, () => Promise<Response>][] = [
  ["whole", () => post("/api/v1/images/generations", { model: "own/image", prompt: "a fox", quality: "medium" })],
  [
    "streamed",
    () => post("/api/v1/images/generations", { model: "own/image", prompt: "a fox", quality: "medium", stream: true }),
  ],
];

function playUsage(usage: string): void {
  const reported = usage === "" ? "" : `,"usage":${usage}`;
  upstream.play(({ body }, response) => {
    if (!body.includes('"stream":true')) {
      sendJson(
        response,
        JSON.parse(`{"created":1,"output_format":"png","data":[{"b64_json":"${base64}"}]${reported}}`),
      );
      return;
    }
    startEvents(response);
    const type = "image_generation.completed";
    response.end(
      `event: ${type}\ndata: {"type":"${type}","output_format":"png","b64_json":"${base64}"${reported}}\n\n`,
    );
  });
}

interface Row {
  outcome: string;
  usage_source: string;
  usage_image_output: number;
  cost_nano_usd: number;
}

function lastRow(): Row {
  const database = new Database(join(gateway.folder, "data", "trivium.db"), { readonly: true });
  try {
    return database.query("SELECT * FROM receipts ORDER BY id DESC LIMIT 1").get() as Row;
  } finally {
    database.close();
  }
}

describe.each(WAYS)("%s", (_, ask) => {
  test.each([
    ["none", ""],
    ["null", "null"],
    ["zero", '{"input_tokens":0,"output_tokens":0}'],
    ["negative", '{"input_tokens":-1000000,"output_tokens":-5}'],
    ["endless", '{"input_tokens":5,"output_tokens":1e300}'],
    ["beyond numbers", '{"input_tokens":1e999,"output_tokens":1e999}'],
    ["text", '{"output_tokens":"many"}'],
    ["nested", '{"output_tokens":{"all":5}}'],
  ])("a usage that is %s: the image is billed at its maximum, and the next call is admitted", async (_, usage) => {
    playUsage(usage);
    const answer = await ask();
    expect([answer.status, (await answer.text()).includes(base64)]).toEqual([200, true]);
    expect(lastRow()).toMatchObject({
      outcome: "ok",
      usage_source: "estimated",
      usage_image_output: MAX_TOKENS,
      cost_nano_usd: MAX_TOKENS * USD_PER_MILLION * 1_000,
    });
  });

  test("a possible one is billed as reported", async () => {
    playUsage('{"input_tokens":5,"output_tokens":272.4}');
    await (await ask()).text();
    expect(lastRow()).toMatchObject({ usage_source: "measured", usage_image_output: 272 });
  });
});
