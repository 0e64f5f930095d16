import { type Agent, DEFAULT_MODEL } from "./agent.ts";

interface Result {
  response: string;
  stats: { models: Record<string, { tokens: { prompt: number; candidates: number; thoughts: number; tool: number } }> };
}

const read = (output: string) => JSON.parse(output.slice(output.indexOf("{"))) as Result;

export const geminiCli: Agent = {
  name: "Gemini CLI",
  package: { from: "npm", name: "@google/gemini-cli", version: "0.61.0", program: "gemini" },
  vendorModel: "gemini-2.5-pro",
  native: "genai",
  arguments: ({ prompt, model }) => [
    "--prompt",
    prompt,
    ...(model === DEFAULT_MODEL ? [] : ["--model", model]),
    "--output-format",
    "json",
    "--approval-mode",
    "auto_edit",
    "--skip-trust",
  ],
  environment: ({ gatewayUrl, key }) => ({
    // It would start itself a second time, and the second one would outlive the first.
    GEMINI_CLI_NO_RELAUNCH: "true",
    GEMINI_API_KEY: key,
    GOOGLE_GEMINI_BASE_URL: gatewayUrl,
  }),
  home: () => ({
    ".gemini/settings.json": {
      security: { auth: { selectedType: "gemini-api-key" } },
      privacy: { usageStatisticsEnabled: false },
      general: { enableAutoUpdate: false, enableAutoUpdateNotification: false },
    },
  }),
  cases: [{ name: "its default models", models: [DEFAULT_MODEL], turns: [{}] }],
  lastWords: (output) => read(output).response,
  tokens: (output) => {
    const models = Object.values(read(output).stats.models).map(({ tokens }) => tokens);
    return {
      input: models.reduce((sum, { prompt, tool }) => sum + prompt + tool, 0),
      output: models.reduce((sum, { candidates, thoughts }) => sum + candidates + thoughts, 0),
    };
  },
};
