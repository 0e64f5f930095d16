import type { DialectName } from "../../src/canon/dialect-name.ts";
import { Harness, UPSTREAM_URL } from "../../testing/harness.ts";
import { plainAnswer, plainUsage } from "../../testing/plain-answer.ts";
import { modelsOfEveryDialect, scriptedProvider } from "../../testing/scripted-models.ts";
import { TEST_KEY } from "../../testing/test-key.ts";
import type { Cheat, CheatGroup, Outcome } from "./cheat.ts";

const POOR = "a-key-of-the-configuration-with-a-budget";
const STRICT = "a-key-of-the-configuration-that-refuses";
const INPUT = 1_000;
const OUTPUT = 700;

const price = (value: number, more: object = {}) => [{ value, unit: "perMTokens", currency: "USD", ...more }];
const tier = (bounds: object) => ({ conditions: { prompt_tokens: { unit: "kTokens", ...bounds } } });

/** Price lists that lack something, each as an operator may write it. */
const LISTS: Readonly<Record<string, object | undefined>> = {
  none: undefined,
  "prompt-only": { prompt: price(1) },
  "completion-only": { completion: price(2) },
  "cache-only": { input_cache_read: price(0.1) },
  "one-tier": { prompt: price(1, tier({ lte: 0.5 })), completion: price(2) },
  "upper-tier": { prompt: price(1, tier({ gt: 200 })), completion: price(2) },
  "other-unit": { prompt: [{ value: 1, unit: "perCount", currency: "USD" }], completion: price(2) },
};

const CLIENTS: readonly DialectName[] = ["chat", "messages", "genai", "responses"];
const CALLERS = [
  ["a budget", "dropin", POOR],
  ["unpriced: refuse", "dropin", STRICT],
  ["the strict base URL", "contract", TEST_KEY],
  ["nothing that refuses", "dropin", TEST_KEY],
] as const;

/** H41, H61: a model whose price is unknown, in whole or in part, is used by nobody whose money is limited, and by nobody in silence. */
export async function openUnknownPrices(): Promise<CheatGroup> {
  const scripted = modelsOfEveryDialect(UPSTREAM_URL) as { providers: Record<string, object>; models: object[] };
  const models = CLIENTS.flatMap((dialect) =>
    Object.entries(LISTS).map(([name, pricings]) => ({
      id: `${dialect}/${name}`,
      context_length: 400_000,
      max_output_tokens: 8192,
      ...(pricings && { pricings }),
      offers: [{ provider: scriptedProvider(dialect), model: "upstream-model", dialect }],
    })),
  );
  const harness = await Harness.start({
    config: {
      ...scripted,
      models: [...scripted.models, ...models],
      keys: [
        { name: "tests", key: TEST_KEY },
        { name: "poor", key: POOR, limits: { budget_usd_total: 1_000_000 } },
        { name: "strict", key: STRICT, billing: { unpriced: "refuse" } },
      ],
    },
  });
  const cheats = CLIENTS.flatMap((client) =>
    Object.keys(LISTS).flatMap((list) =>
      CALLERS.map(
        ([caller, door, key]): Cheat => ({
          id: "H61",
          tries: `${client}: a price list with ${list}, ${caller}`,
          run: () => play(harness, client, list, door, key),
        }),
      ),
    ),
  );
  return { cheats, close: () => Promise.resolve() };
}

async function play(
  harness: Harness,
  client: DialectName,
  list: string,
  door: "contract" | "dropin",
  key: string,
): Promise<Outcome> {
  const { upstream } = harness;
  const before = upstream.requests.length;
  const answer = plainAnswer(client, { text: "hi", usage: plainUsage(client, INPUT, OUTPUT) });
  upstream.play(upstream.json(answer));
  const given = await harness.call(client, { door, model: `${client}/${list}`, key });
  const got = String(given.status);
  const isLimited = key !== TEST_KEY || door === "contract";
  if (given.status === 400)
    return upstream.requests.length > before ? { got, broken: "it was sent, and refused" } : { got };
  if (given.status !== 200) return { got, broken: given.text.slice(0, 200) };
  const { unpriced, price_rule } = await harness.receipt(given);
  const figures = `${price_rule}; unpriced: ${unpriced.join(", ") || "nothing"}`;
  if (isLimited) return { got, figures, broken: "it was called without a price" };
  return unpriced.length > 0 ? { got, figures } : { got, figures, broken: "part of it was free, and nothing says so" };
}
