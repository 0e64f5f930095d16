/** A model of the simulator that costs something. */
export const PRICED = {
  id: "acme/priced",
  display_name: "Priced",
  context_length: 100_000,
  max_output_tokens: 64,
  input_modalities: ["text"],
  output_modalities: ["text"],
  reasoning: false,
  pricings: {
    prompt: [{ value: 3, unit: "perMTokens", currency: "USD" }],
    completion: [{ value: 15, unit: "perMTokens", currency: "USD" }],
  },
  offers: [{ provider: "simulator", model: "standard" }],
};
