import { SCRIPTED_DIALECTS } from "../../testing/sampled-dialects.ts";
import { BillingHarness } from "./billing-harness.ts";
import { type Performance, words } from "./billing-host.ts";
import type { Cheat, CheatGroup } from "./cheat.ts";
import { keyOf } from "./purses.ts";
import { visit } from "./rude-client.ts";

const BUDGET_USD = 0.2;
const BUDGET_NANO = BUDGET_USD * 1e9;
const MAX_TOKENS = 64_000;
/** A response of the model's maximum length: 0.128 USD. */
const LONGEST_ANSWER: Performance = {
  promptTokens: 10,
  thinkingTokens: MAX_TOKENS - 192,
  thinkingMs: 300,
  chunks: words(192),
};

/** H23 and related: budgets, scopes and names, requested concurrently and at their edges. */
export async function openBudgets(): Promise<CheatGroup> {
  const harness = await BillingHarness.open({
    limits: { budget_usd_per_day: BUDGET_USD },
    config: { aliases: { cheap: "test/chat", "test/alias-of-messages": "test/messages" } },
    models: [
      {
        id: "test/long",
        max_output_tokens: MAX_TOKENS,
        reasoning: true,
        pricings: {
          prompt: [{ value: 1, unit: "perMTokens", currency: "USD" }],
          completion: [{ value: 2, unit: "perMTokens", currency: "USD" }],
        },
        offers: [{ provider: "up-chat", model: "upstream-model" }],
      },
      {
        id: "test/long-genai",
        max_output_tokens: MAX_TOKENS,
        pricings: {
          prompt: [{ value: 1, unit: "perMTokens", currency: "USD" }],
          completion: [{ value: 2, unit: "perMTokens", currency: "USD" }],
        },
        offers: [{ provider: "up-genai", model: "upstream-model" }],
      },
      {
        id: "other/dear",
        max_output_tokens: 8192,
        pricings: {
          prompt: [{ value: 100, unit: "perMTokens", currency: "USD" }],
          completion: [{ value: 200, unit: "perMTokens", currency: "USD" }],
        },
        offers: [{ provider: "up-chat", model: "up-dear" }],
      },
    ],
  });
  const atOnce = (tries: string, calls: number, body: Record<string, unknown>, disconnect: boolean): Cheat => ({
    id: "H23",
    tries,
    run: async () => {
      const purse = harness.purse(LONGEST_ANSWER);
      const call = harness.call(purse, "chat", { body, stream: disconnect, model: "test/long" });
      const one = async () => {
        if (!disconnect) return (await fetch(...call)).status;
        const { text } = await visit(call, (_, ms) => ms > 120, "resets");
        return Number(/HTTP\/1\.1 (\d+)/.exec(text)?.[1] ?? 0);
      };
      const statuses = await Promise.all(Array.from({ length: calls }, one));
      const letIn = disconnect ? 1 : statuses.filter((status) => status === 200).length;
      const summed = await harness.outcome(purse, "", { rows: letIn });
      const outcome = { ...summed, got: `${harness.host.requests(purse.name)} of ${calls} reached the host` };
      const over = (outcome.upstream ?? 0) / BUDGET_NANO;
      const figures = `${over.toFixed(1)} times the budget`;
      // One call may cost more than estimated; a concurrent second one may not.
      const most = BUDGET_NANO + MAX_TOKENS * 2_000 + 10_000;
      return (outcome.upstream ?? 0) > most
        ? { ...outcome, figures, broken: "the budget is overdrawn" }
        : { ...outcome, figures };
    },
  });
  const refusal = (id: string, tries: string, attack: (key: string, purse: string) => Promise<Response>): Cheat => ({
    id,
    tries,
    run: async () => {
      const purse = harness.purse(LONGEST_ANSWER);
      const response = await attack(purse.key, purse.name);
      await response.text();
      const outcome = await harness.outcome(purse, String(response.status), { rows: 0 });
      return harness.host.requests(purse.name) > 0 ? { ...outcome, broken: "it reached the host" } : outcome;
    },
  });
  const post = (path: string, key: string, body: object, headers: Record<string, string> = {}) =>
    fetch(harness.gateway.url + path, {
      method: "POST",
      headers: {
        authorization: `Bearer ${key}`,
        "x-api-key": key,
        "content-type": "application/json",
        "partner-version": "2023-06-01",
        ...headers,
      },
      body: JSON.stringify(body),
    });
  const messages = (purse: string) => [{ role: "user", content: purse }];
  const names = [
    "other/dear",
    "Other/Dear",
    "other/dear:up-chat",
    "OTHER/DEAR",
    "dear",
    "up-dear",
    "other%2Fdear",
    "test/../other/dear",
  ];
  const cheats: Cheat[] = [
    atOnce("twenty calls at once that name no limit", 20, {}, false),
    atOnce("twenty calls at once with a limit", 20, { max_completion_tokens: MAX_TOKENS }, false),
    atOnce("twenty calls at once that are left at once", 20, { max_completion_tokens: MAX_TOKENS }, true),
    atOnce("twenty calls at once that name no limit and are left at once", 20, {}, true),
    ...names.flatMap((model) => [
      refusal("S04", `a key for test/* asks for ${model} (chat)`, (key, purse) =>
        post("/v1/chat/completions", key, { model, messages: messages(purse) }),
      ),
      refusal("S04", `a key for test/* asks for ${model} (genai)`, (key, purse) =>
        post(`/v1beta/models/${model}:generateContent`, key, { contents: [{ parts: [{ text: purse }] }] }),
      ),
    ]),
    ...SCRIPTED_DIALECTS.map((dialect) =>
      refusal("H23", `${dialect}: max tokens of -1, 1e309 and a word`, async (key, purse) => {
        let last = new Response();
        for (const limit of ["-1", "1e309", '"9999"', "0", "1.5"]) {
          const [url, init] = harness.call({ name: purse, key }, dialect, {});
          const text = String(init.body)
            .slice(0, -1)
            .replace(/"max_tokens":\d+,/, "");
          const member = {
            chat: `"max_completion_tokens":${limit}`,
            responses: `"max_output_tokens":${limit}`,
            messages: `"max_tokens":${limit}`,
            genai: `"generationConfig":{"maxOutputTokens":${limit}}`,
          }[dialect];
          last = await fetch(url, { ...init, body: `${text},${member}}` });
          if (last.ok) return last;
        }
        return last;
      }),
    ),
    refusal("H23", "eight answers at once, of which the budget has one", (key, purse) =>
      post("/v1beta/models/test/long-genai:generateContent", key, {
        contents: [{ role: "user", parts: [{ text: purse }] }],
        generationConfig: { candidateCount: 8, maxOutputTokens: MAX_TOKENS },
      }),
    ),
    refusal("S09", "the receipt of another project, and one that does not exist", (key) =>
      fetch(`${harness.gateway.url}/api/v1/generation?id=gen-00000000000000000000000000`, {
        headers: { authorization: `Bearer ${key}` },
      }),
    ),
    refusal("S06", "a key that differs in its last character, in case, by a NUL and by a blank", async (key) => {
      let last = new Response();
      for (const wrong of [
        `${key.slice(0, -1)}y`,
        key.toUpperCase(),
        `${key}%00`,
        keyOf("purse1"),
        key.slice(0, 40),
        `${key} x`,
      ]) {
        last = await post("/v1/chat/completions", wrong, { model: "test/chat", messages: messages("nobody") });
        if (last.ok) return last;
      }
      return last;
    }),
  ];
  return { cheats, atOnce: true, close: () => harness.close() };
}
