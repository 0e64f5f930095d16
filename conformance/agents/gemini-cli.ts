import type { Agent } from "./agent.ts";

export const geminiCli: Agent = {
  name: "Gemini CLI",
  package: "@google/gemini-cli",
  version: "0.61.0",
  program: "gemini",
  native: "genai",
  arguments: ({ prompt, model }) => [
    "--prompt",
    prompt,
    "--model",
    model,
    "--output-format",
    "json",
    "--approval-mode",
    "auto_edit",
    "--skip-trust",
  ],
  environment: ({ gatewayUrl, key }) => ({
    // It would start itself a second time, and the second one would outlive the first.
    GEMINI_CLI_NO_RELAUNCH: "true",
    GOOGLE_GENAI_USE_VERTEXAI: "true",
    GOOGLE_API_KEY: key,
    GOOGLE_VERTEX_BASE_URL: `${gatewayUrl}/api/genai`,
  }),
  home: {
    ".gemini/settings.json": {
      security: { auth: { selectedType: "vertex-ai" } },
      privacy: { usageStatisticsEnabled: false },
      general: { enableAutoUpdate: false, enableAutoUpdateNotification: false },
    },
  },
  lastWords: (output) => (JSON.parse(output.slice(output.indexOf("{"))) as { response: string }).response,
};
