import type { Agent } from "./agent.ts";

interface Line {
  type: string;
  result?: string;
  stats?: { models: Record<string, { tokens: { prompt: number; candidates: number; thoughts: number } }> };
}

const last = (output: string) => (JSON.parse(output.slice(output.indexOf("["))) as Line[]).at(-1);

export const qwenCode: Agent = {
  name: "qwen-code",
  package: { from: "npm", name: "@qwen-code/qwen-code", version: "0.24.4", program: "qwen" },
  vendorModel: "gpt-4.1",
  native: "chat",
  arguments: ({ prompt }) => [
    "-p",
    prompt,
    "--output-format",
    "json",
    "--approval-mode",
    "yolo",
    "--auth-type",
    "openai",
  ],
  environment: ({ gatewayUrl, key, model }) => ({
    OPENAI_BASE_URL: `${gatewayUrl}/v1`,
    OPENAI_API_KEY: key,
    OPENAI_MODEL: model,
  }),
  home: () => ({ ".qwen/settings.json": { privacy: { usageStatisticsEnabled: false } } }),
  lastWords: (output) => last(output)?.result ?? "",
  tokens: (output) => {
    const models = Object.values(last(output)?.stats?.models ?? {}).map(({ tokens }) => tokens);
    return {
      input: models.reduce((sum, { prompt }) => sum + prompt, 0),
      output: models.reduce((sum, { candidates }) => sum + candidates, 0),
    };
  },
};
