import type { Agent, Task } from "./agent.ts";

interface Session {
  usage: { promptTokens: number; completionTokens: number };
}

const run = ({ prompt, options }: Task): string[] => ["--auto", "-p", "--format", "json", ...options, prompt];

export const continueCli: Agent = {
  name: "Continue",
  package: { from: "npm", name: "@continuedev/cli", version: "1.5.47", program: "cn" },
  vendorModel: "gpt-4.1",
  native: "chat",
  // For GPT-5 it requests one call at a time.
  parallelModels: ["gpt-4.1", "claude-sonnet-4-5", "gemini-3-flash-preview"],
  arguments: run,
  resume: (task) => ["--resume", ...run(task)],
  environment: () => ({ CONTINUE_TELEMETRY_ENABLED: "0" }),
  home: ({ gatewayUrl, key, model }) => ({
    // JSON is YAML.
    ".continue/config.yaml": {
      name: "Trivium",
      version: "0.0.1",
      schema: "v1",
      models: [{ name: "Model", provider: "openai", model, apiBase: `${gatewayUrl}/v1`, apiKey: key }],
    },
  }),
  lastWords: (output) => (JSON.parse(output.slice(output.indexOf("{"))) as { response: string }).response,
  /** It prints no totals, but stores them with each conversation. */
  tokens: (_, inHome) => {
    const sessions = inHome(".continue/sessions/*-*.json").map((text) => JSON.parse(text) as Session);
    return {
      input: sessions.reduce((sum, { usage }) => sum + usage.promptTokens, 0),
      output: sessions.reduce((sum, { usage }) => sum + usage.completionTokens, 0),
    };
  },
};
