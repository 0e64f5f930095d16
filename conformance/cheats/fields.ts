import { SCRIPTED_DIALECTS, type ScriptedDialect } from "../../testing/sampled-dialects.ts";
import { BillingHarness } from "./billing-harness.ts";
import { DEAR_MODEL, type Performance, words } from "./billing-host.ts";
import type { Cheat, CheatGroup } from "./cheat.ts";

const ANSWER: Performance = { promptTokens: 20, chunks: words(50) };
const price = (value: number) => [{ value, unit: "perMTokens", currency: "USD" }];

/** A model whose more expensive terms have a price. */
const pricedModel = (dialect: ScriptedDialect) => ({
  id: `test/known-${dialect}`,
  max_output_tokens: 8192,
  pricings: { prompt: price(1), completion: price(2) },
  price_multiples: { priority: 1.8, fast: 6, "geo-us": 1.1, "long-context": 3 },
  offers: [
    dialect === "responses"
      ? { provider: "up-chat", model: "upstream-model", dialect }
      : { provider: `up-${dialect}`, model: "upstream-model" },
  ],
});

/** A request whose text is written by hand: `members` come before or after those of an ordinary one. */
interface Forgery {
  client: ScriptedDialect;
  what: string;
  before?: string;
  after?: string;
  door?: "contract" | "dropin";
  model?: string;
  headers?: Record<string, string>;
  answer?: Performance;
}

const DOORS = ["contract", "dropin"] as const;

const DOUBLES: readonly Forgery[] = (
  [
    ["chat", `"Model":"${DEAR_MODEL}"`],
    ["chat", `"MODEL":"${DEAR_MODEL}"`],
    ["chat", `"model":"${DEAR_MODEL}"`],
    ["chat", `"\\u006dodel":"${DEAR_MODEL}"`],
    ["chat", '"N":50'],
    ["chat", '"n":50'],
    ["chat", '"n":"50"'],
    ["chat", '"n":1e1'],
    ["chat", '"Service_Tier":"priority"'],
    ["chat", '"\u017fervice_tier":"priority"'],
    ["chat", '"service_tier":"priority","service_tier":"default"'],
    ["chat", '"MAX_TOKENS":9999'],
    ["chat", '"Stream":true'],
    ["messages", `"Model":"${DEAR_MODEL}"`],
    ["messages", '"\u017fpeed":"fast"'],
    ["messages", '"SPEED":"fast"'],
    ["messages", '"speed":"fast","speed":"standard"'],
    ["messages", '"Max_To\u212aens":9999'],
    ["responses", `"Model":"${DEAR_MODEL}"`],
    ["responses", `"model":"${DEAR_MODEL}"`],
    ["responses", `"\\u006dodel":"${DEAR_MODEL}"`],
    ["responses", '"N":50'],
    ["responses", '"n":50'],
    ["responses", '"Service_Tier":"priority"'],
    ["responses", '"\u017fervice_tier":"priority"'],
    ["responses", '"service_tier":"priority","service_tier":"default"'],
    ["responses", '"Max_Output_To\u212aens":9999'],
    ["responses", '"Stream":true'],
    ["responses", '"Store":true'],
    ["responses", '"Background":true'],
    ["responses", '"Previous_Response_Id":"resp_others"'],
    ["genai", '"generationConfig":{"candidateCount":1},"generation_config":{"candidateCount":50}'],
    ["genai", '"generationConfig":{"candidateCount":1,"candidate_count":50}'],
    ["genai", '"generationConfig":{"candidateCount":1,"CandidateCount":50}'],
    ["genai", '"GenerationConfig":{"candidateCount":50}'],
    ["genai", '"serviceTier":"standard","service_tier":"priority"'],
    ["genai", '"ServiceTier":"priority"'],
  ] as const
).flatMap(([client, after]) => DOORS.map((door) => ({ client, what: `S15|${after} (${door})`, after, door })));

/** Fields that could redirect hosts to another model than the one that was checked and priced. */
const OTHER_MODELS: readonly Forgery[] = (
  [
    ["chat", `"models":["${DEAR_MODEL}"]`],
    ["chat", `"fallbacks":["${DEAR_MODEL}"]`],
    ["chat", `"fallbacks":[{"model":"${DEAR_MODEL}"}]`],
    ["chat", `"extra_body":{"model":"${DEAR_MODEL}"}`],
    ["messages", `"fallbacks":[{"model":"${DEAR_MODEL}"}]`],
    ["messages", `"tools":[{"type":"advisor_20260301","name":"advisor","model":"${DEAR_MODEL}"}]`],
    ["chat", `"Models":["${DEAR_MODEL}"]`],
    ["responses", `"models":["${DEAR_MODEL}"]`],
    ["responses", `"fallbacks":["${DEAR_MODEL}"]`],
    ["responses", `"extra_body":{"model":"${DEAR_MODEL}"}`],
    ["responses", `"tools":[{"type":"image_generation","model":"${DEAR_MODEL}"}]`],
    ["responses", `"prompt":{"id":"pmpt_1","variables":{"model":"${DEAR_MODEL}"}}`],
    ["genai", `"generationConfig":{"routingConfig":{"manualMode":{"modelName":"${DEAR_MODEL}"}}}`],
    ["genai", `"generation_config":{"routing_config":{"manual_mode":{"model_name":"${DEAR_MODEL}"}}}`],
    ["genai", `"generationConfig":{"modelSelectionConfig":{"modelName":"${DEAR_MODEL}"}}`],
    ["genai", `"model":"${DEAR_MODEL}"`],
  ] as const
).flatMap(([client, after]) => DOORS.map((door) => ({ client, what: `S07|${after} (${door})`, after, door })));

const TERMS: readonly Forgery[] = (
  [
    ["chat", '"service_tier":"priority"'],
    ["chat", '"service_tier":"PRIORITY"'],
    ["messages", '"service_tier":"priority"'],
    ["messages", '"speed":"fast"'],
    ["messages", '"speed":"FAST"'],
    ["messages", '"inference_geo":"us"'],
    ["responses", '"service_tier":"priority"'],
    ["responses", '"service_tier":"PRIORITY"'],
    ["responses", '"service_tier":"fast"'],
    ["genai", '"serviceTier":"priority"'],
    ["genai", '"service_tier":"PRIORITY"'],
    ["genai", '"generationConfig":{"serviceTier":"priority"}'],
  ] as const
).flatMap(([client, after]) =>
  DOORS.flatMap((door) => [
    { client, what: `decision 0018|${after}, priced here (${door})`, after, door, model: `test/known-${client}` },
    ...(door === "contract" ? [{ client, what: `decision 0018|${after}, no price here (${door})`, after, door }] : []),
  ]),
);

/** A beta that makes a long prompt more expensive. */
const LONG_CONTEXTS: readonly Forgery[] = ["context-1m-2025-08-07", "CONTEXT-1M-2025-08-07"].flatMap((beta) =>
  [
    { door: "contract", model: "test/messages", priced: "no price here" },
    ...DOORS.map((door) => ({ door, model: "test/known-messages", priced: "priced here" })),
  ].map(({ door, model, priced }) => ({
    client: "messages",
    what: `decision 0018|a prompt of 300,000 tokens and the beta ${beta}, ${priced} (${door})`,
    door: door as (typeof DOORS)[number],
    model,
    headers: { "partner-beta": beta, "anthropic-beta": beta },
    answer: { ...ANSWER, promptTokens: 300_000 },
  })),
);

const ANSWERS: readonly Forgery[] = (
  [
    '"generationConfig":{"candidateCount":8}',
    '"generationConfig":{"candidateCount":8.0}',
    '"generation_config":{"candidate_count":8}',
    '"generationConfig":{"candidateCount":1000000}',
    '"generationConfig":{"candidateCount":-8}',
    '"generationConfig":{"candidateCount":"8"}',
    '"generationConfig":{"candidateCount":0}',
  ] as const
).flatMap((after) => DOORS.map((door) => ({ client: "genai" as const, what: `H23|${after} (${door})`, after, door })));

/** H23, decision 0018, S15 and S07: a host reads the same request that the gateway has read, allowed and priced. */
export async function openFields(): Promise<CheatGroup> {
  const harness = await BillingHarness.open({ models: SCRIPTED_DIALECTS.map(pricedModel) });
  const cheats = [...DOUBLES, ...OTHER_MODELS, ...TERMS, ...LONG_CONTEXTS, ...ANSWERS].map(
    ({
      client,
      what,
      before = "",
      after = "",
      door = "contract",
      model = `test/${client}`,
      headers = {},
      answer = ANSWER,
    }): Cheat => {
      const [id = "", tries = ""] = what.split("|");
      return {
        id,
        tries: `${client}: ${tries}`,
        run: async () => {
          const purse = harness.purse(answer);
          const [url, init] = harness.call(purse, client, { door, model, headers });
          const members = String(init.body).slice(1, -1);
          const body = `{${[before, members, after].filter(Boolean).join(",")}}`;
          const response = await fetch(url, { ...init, body });
          await response.text();
          return harness.outcome(purse, String(response.status), { rows: response.ok ? 1 : 0 });
        },
      };
    },
  );
  return { cheats, atOnce: true, close: () => harness.close() };
}
