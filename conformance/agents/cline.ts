import type { Agent, Task } from "./agent.ts";

interface Line {
  type: string;
  text?: string;
  usage?: { inputTokens: number; outputTokens: number };
}

const result = (output: string): Line | undefined =>
  output
    .split("\n")
    .filter((line) => line.startsWith("{"))
    .map((line) => JSON.parse(line) as Line)
    .findLast(({ type }) => type === "run_result");

export const cline: Agent = {
  name: "Cline",
  package: { from: "npm", name: "cline", version: "3.0.65", program: "cline" },
  vendorModel: "gpt-4.1",
  native: "chat",
  arguments: ({ prompt, options }: Task) => ["--json", ...options, prompt],
  // Without it, it starts a background program that outlives it.
  environment: () => ({ CLINE_SESSION_BACKEND_MODE: "local" }),
  // As `cline auth --provider openai --baseurl … --apikey … --modelid …` writes it.
  home: ({ gatewayUrl, key, model }) => ({
    ".cline/data/settings/providers.json": {
      version: 1,
      lastUsedProvider: "openai-compatible",
      modes: {},
      providers: {
        "openai-compatible": {
          settings: { provider: "openai-compatible", apiKey: key, model, baseUrl: `${gatewayUrl}/v1` },
          updatedAt: "2026-01-01T00:00:00.000Z",
          tokenSource: "manual",
        },
      },
    },
  }),
  lastWords: (output) => result(output)?.text ?? "",
  tokens: (output) => ({
    input: result(output)?.usage?.inputTokens ?? 0,
    output: result(output)?.usage?.outputTokens ?? 0,
  }),
};
