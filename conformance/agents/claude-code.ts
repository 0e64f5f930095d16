import type { Agent } from "./agent.ts";

export const claudeCode: Agent = {
  name: "Claude Code",
  package: "@anthropic-ai/claude-code",
  version: "2.1.325",
  program: "claude",
  native: "messages",
  arguments: ({ prompt, model }) => [
    "-p",
    prompt,
    "--model",
    model,
    "--output-format",
    "json",
    "--allowedTools",
    "Read,Write,Bash",
  ],
  environment: ({ gatewayUrl, key, model }) => ({
    ANTHROPIC_BASE_URL: `${gatewayUrl}/api/msg`,
    ANTHROPIC_API_KEY: key,
    ANTHROPIC_SMALL_FAST_MODEL: model,
    ANTHROPIC_DEFAULT_HAIKU_MODEL: model,
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
    DISABLE_AUTOUPDATER: "1",
  }),
  home: {},
  lastWords: (output) => (JSON.parse(output) as { result: string }).result,
};
