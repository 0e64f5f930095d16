import { beforeAll, describe, expect, test } from "bun:test";
import type { DialectName } from "../../src/canon/dialect-name.ts";
import { Harness, UPSTREAM_URL } from "../../testing/harness.ts";
import { TEST_KEY } from "../../testing/test-key.ts";
import file from "./fixtures/bills.json";

/**
 * What vendors bill: a request, the answer with its usage as the vendor gives it, and the cost in cents, with a source for both. Where the
 * source says "recorded", the usage is that of real traffic; elsewhere it is an example of the rule on the page. The lines are added up
 * here, without the gateway's prices or arithmetic.
 */
interface VendorBill {
  id: string;
  source: string;
  prices: string;
  /** The kind of the provider. */
  provider: string;
  model: string;
  client: DialectName;
  body?: Record<string, unknown>;
  answer?: object;
  /** The data of the events, if it was streamed. */
  stream?: { type?: string }[];
  /** Absent: the built-in catalogue's. */
  pricings?: object;
  lines: { amount: number; usd: number; of: string }[];
  cents: number;
}

const bills = file as VendorBill[];
const kinds = [...new Set(bills.map(({ provider }) => provider))];
const SPEAK_RESPONSES: ReadonlySet<string> = new Set(["openai", "x-ai"]);
const versioned: ReadonlySet<string> = new Set(["anthropic", "gemini"]);

const POOR = "a-key-of-the-configuration-with-a-budget";

let harness: Harness;
beforeAll(async () => {
  const configured = new Map(
    bills.flatMap((bill) => (bill.pricings === undefined ? [] : [[bill.model, bill] as const])),
  );
  harness = await Harness.start({
    config: {
      providers: Object.fromEntries(
        kinds.map((kind) => [
          kind,
          {
            kind,
            base_url: versioned.has(kind) ? UPSTREAM_URL : `${UPSTREAM_URL}/v1`,
            api_key: `upstream-secret-${kind}`,
            ...(SPEAK_RESPONSES.has(kind) ? { dialects: ["chat", "responses"] } : {}),
          },
        ]),
      ),
      models: [...configured.values()].map(({ model, provider, pricings }) => ({
        id: `bills/${model}`,
        input_modalities: ["text", "audio"],
        pricings,
        offers: [{ provider, model }],
      })),
      keys: [
        { name: "tests", key: TEST_KEY, billing: { unpriced: "mark" }, provider_objects: true },
        { name: "poor", key: POOR, limits: { budget_usd_total: 0.02 } },
      ],
    },
  });
});

const PUBLISHERS: Readonly<Record<string, string>> = { gemini: "google" };

function framesOf({ client, stream = [] }: VendorBill): string[] {
  return stream.map((data) => {
    const event = client === "messages" ? `event: ${data.type}\n` : "";
    return `${event}data: ${JSON.stringify(data)}\n\n`;
  });
}

describe("decision 0083, H27, H33, H60: real bills", () => {
  test("each has a source and adds up", () => {
    expect(bills.length).toBeGreaterThanOrEqual(60);
    expect(new Set(bills.map(({ id }) => id)).size).toBe(bills.length);
    for (const { id, source, prices, lines, cents } of bills) {
      expect(source).not.toBe("");
      expect(prices).not.toBe("");
      const sum = lines.reduce((total, { amount, usd }) => total + amount * usd, 0);
      expect(`${id}: ${(sum * 100).toFixed(6)}`).toBe(`${id}: ${cents.toFixed(6)}`);
    }
  });

  test("H23: a search that costs more with a model is reserved at that price", async () => {
    const body = { tools: [{ type: "web_search_preview" }], max_tool_calls: 1, max_output_tokens: 16 };
    const call = (model: string) => harness.call("responses", { door: "dropin", model, key: POOR, body });
    expect((await call("openai/gpt-4.1")).status).toBe(402);
    harness.upstream.play(harness.upstream.json(bills.find(({ id }) => id === "openai: cached tokens")?.answer ?? {}));
    expect((await call("openai/gpt-5")).status).toBe(200);
  });

  test.each(bills.map((bill) => [bill.id, bill] as const))("%s", async (_id, bill) => {
    const { upstream } = harness;
    const { provider, model, client, body = {}, answer = {}, stream } = bill;
    upstream.play(stream === undefined ? upstream.json(answer) : upstream.stream(...framesOf(bill)));
    const publisher = bill.pricings === undefined ? (PUBLISHERS[provider] ?? provider) : "bills";
    const given = await harness.call(client, {
      door: "dropin",
      model: `${publisher}/${model}`,
      stream: stream !== undefined,
      body,
    });
    expect(`${given.status} ${given.status === 200 ? "" : given.text}`).toBe("200 ");
    const { cost_nano_usd, unpriced, price_rule } = await harness.receipt(given);
    expect({ cents: cost_nano_usd / 1e7, unpriced, price_rule }).toMatchObject({ cents: bill.cents, unpriced: [] });
  });
});
