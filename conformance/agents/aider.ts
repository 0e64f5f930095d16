import type { Agent } from "./agent.ts";

const THOUSAND = 1000;
const count = (text = "0") => Number.parseFloat(text) * (text.endsWith("k") ? THOUSAND : 1);

export const aider: Agent = {
  name: "aider",
  package: { from: "pip", name: "aider-chat", version: "0.86.2", program: "aider" },
  vendorModel: "gpt-4.1",
  native: "chat",
  talksOnly: true,
  arguments: ({ prompt, model, options }) => [
    "--model",
    `openai/${model}`,
    "--message",
    prompt,
    // It counts a streamed response with its own tokenizer.
    "--no-stream",
    "--yes-always",
    "--no-git",
    "--no-gitignore",
    "--no-check-update",
    "--no-show-model-warnings",
    "--no-show-release-notes",
    "--analytics-disable",
    "--no-pretty",
    ...options,
  ],
  environment: ({ gatewayUrl, key }) => ({
    OPENAI_API_BASE: `${gatewayUrl}/v1`,
    OPENAI_API_KEY: key,
    LITELLM_LOCAL_MODEL_COST_MAP: "True",
  }),
  home: () => ({}),
  cases: [
    {
      name: "streamed",
      models: ["gpt-4.1"],
      turns: [{ prompt: "Hello, who are you?", says: /simulator speaking/, options: () => ["--stream"] }],
      uncounted: true,
    },
  ],
  lastWords: (output) => /This is Trivium's simulator[^\n]*/.exec(output)?.[0] ?? "",
  /** It rounds to hundreds above a thousand. */
  tokens: (output) => {
    const [, sent, received] = /Tokens: ([\d.]+k?) sent, ([\d.]+k?) received/.exec(output) ?? [];
    return { input: count(sent), output: count(received) };
  },
};
