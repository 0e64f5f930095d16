import type { Agent } from "./agent.ts";

interface Line {
  type: string;
  part: {
    text?: string;
    tokens?: { input: number; output: number; reasoning: number; cache: { read: number; write: number } };
  };
}

const read = (output: string) =>
  output
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as Line);

/** By the package that opencode calls a provider with, and the path that this package appends to the base URL. */
const opencode = (name: string, npm: string, native: string, vendorModel: string): Agent => ({
  name,
  package: { from: "npm", name: "opencode-ai", version: "1.18.33", program: "opencode" },
  vendorModel,
  native,
  arguments: ({ prompt, model }) => ["run", "--model", `trivium/${model}`, "--format", "json", prompt],
  environment: () => ({ OPENCODE_DISABLE_AUTOUPDATE: "true", OPENCODE_DISABLE_MODELS_FETCH: "true" }),
  home: ({ gatewayUrl, key, model }) => ({
    ".config/opencode/opencode.json": {
      provider: {
        trivium: {
          npm,
          name: "Trivium",
          options: { baseURL: `${gatewayUrl}/v1`, apiKey: key },
          models: { [model]: { name: model }, "gpt-4.1-nano": { name: "titles" } },
        },
      },
      // Titles are generated separately, and are not in its totals.
      small_model: "trivium/gpt-4.1-nano",
      share: "disabled",
      autoupdate: false,
    },
  }),
  lastWords: (output) =>
    read(output)
      .flatMap(({ type, part }) => (type === "text" ? [part.text ?? ""] : []))
      .at(-1) ?? "",
  tokens: (output) => {
    const steps = read(output).flatMap(({ part }) => (part.tokens === undefined ? [] : [part.tokens]));
    return {
      input: steps.reduce((sum, { input, cache }) => sum + input + cache.read + cache.write, 0),
      output: steps.reduce((sum, { output: said, reasoning }) => sum + said + reasoning, 0),
    };
  },
});

export const opencodeChat = opencode("opencode (OpenAI-compatible)", "@ai-sdk/openai-compatible", "chat", "gpt-4.1");
export const opencodeMessages = opencode("opencode (Anthropic)", "@ai-sdk/anthropic", "messages", "claude-sonnet-4-5");
