interface Supply {
  clientsUrl: string;
  /** Of the project `shop`. */
  key: string;
  send: (path: string, body: object) => Promise<unknown>;
}

const FAILING_CALLS = 6;

/** A list in LiteLLM's format: one new price, and one that moves by more than half. */
export const PUBLISHED_LIST = {
  "gpt-5.4": entry(1.1, 6.5),
  "gpt-5-nano": entry(0.6, 4),
  "gpt-99-preview": entry(1, 8),
};

function entry(input: number, output: number) {
  return {
    litellm_provider: "openai",
    mode: "chat",
    max_input_tokens: 400_000,
    max_output_tokens: 128_000,
    input_cost_per_token: input / 1_000_000,
    output_cost_per_token: output / 1_000_000,
  };
}

/** Calls of which some fail, so that providers have states, and an update of the catalogue. */
export async function seedSupply({ clientsUrl, key, send }: Supply): Promise<void> {
  const call = (model: string) =>
    fetch(`${clientsUrl}/v1/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      body: JSON.stringify({ model, messages: [{ role: "user", content: "Hello" }] }),
    }).then((answer) => answer.text());
  for (let calls = 0; calls < FAILING_CALLS; calls++) await call("openai/gpt-5.4-mini");
  for (const model of ["sim/standard", "sim/thinker", "sim/standard"]) await call(model);
  await send("/api/catalogue/updates", {
    source: "litellm.json",
    as_of: "2026-11-02",
    list: { "gpt-5.4-nano": entry(0.21, 1.2), "gpt-98": entry(2, 12) },
    apply: true,
  });
}
