import { type Agent, DEFAULT_MODEL } from "./agent.ts";

interface Result {
  result: string;
  modelUsage: Record<
    string,
    { inputTokens: number; outputTokens: number; cacheReadInputTokens: number; cacheCreationInputTokens: number }
  >;
}

const read = (output: string) => JSON.parse(output) as Result;

export const claudeCode = (version: string): Agent => ({
  name: "Claude Code",
  package: { from: "npm", name: "@anthropic-ai/claude-code", version, program: "claude" },
  vendorModel: "claude-sonnet-4-5",
  native: "messages",
  arguments: ({ prompt, model }) => [
    "-p",
    prompt,
    ...(model === DEFAULT_MODEL ? [] : ["--model", model]),
    "--output-format",
    "json",
    "--allowedTools",
    "Read,Write,Bash",
  ],
  environment: ({ gatewayUrl, key }) => ({
    ANTHROPIC_BASE_URL: gatewayUrl,
    ANTHROPIC_AUTH_TOKEN: key,
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
    DISABLE_AUTOUPDATER: "1",
  }),
  home: () => ({}),
  cases: [{ name: "its default model", models: [DEFAULT_MODEL], turns: [{}] }],
  lastWords: (output) => read(output).result,
  tokens: (output) => {
    const models = Object.values(read(output).modelUsage);
    return {
      input: models.reduce(
        (sum, one) => sum + one.inputTokens + one.cacheReadInputTokens + one.cacheCreationInputTokens,
        0,
      ),
      output: models.reduce((sum, one) => sum + one.outputTokens, 0),
    };
  },
});
