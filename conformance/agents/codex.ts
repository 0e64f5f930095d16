import {
  ALIASES_BY_WIRE,
  brokenOf,
  failingOf,
  MODELS_BY_WIRE,
  NEWER_ALIASES,
  refusingOf,
} from "../support/client-harness.ts";
import type { Agent, Task, Turn } from "./agent.ts";

interface Line {
  type: string;
  item?: { type: string; text?: string };
  usage?: { input_tokens: number; output_tokens: number };
}

const read = (output: string) =>
  output
    .trim()
    .split("\n")
    .filter((line) => line.startsWith("{"))
    .map((line) => JSON.parse(line) as Line);

/** More tokens than the simulated models accept, in fewer characters than Codex accepts. */
const LONG = `Hello ${"x y z ".repeat(70_000)}`;
/** An image of one pixel. */
const PIXEL = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64",
);
const CITY = {
  type: "object",
  properties: { name: { type: "string" }, inhabitants: { type: "integer" } },
  required: ["name", "inhabitants"],
  additionalProperties: false,
};
const ofEachWire = (nameOf: (wire: string) => string) => Object.keys(MODELS_BY_WIRE).map(nameOf);
/** Releases that have the family in their list of models. */
const KNOWS_GPT_6 = /^0\.(?:169|1[7-9]\d)\./;
const PATCHED = /"type":"file_change"/;
const task: Turn = {};
const settings = ({ gatewayUrl, model }: Task, supportsWebSockets: boolean): string[] =>
  Object.entries({
    model,
    model_provider: "trivium",
    "model_providers.trivium.name": "Trivium",
    "model_providers.trivium.base_url": `${gatewayUrl}/v1`,
    "model_providers.trivium.env_key": "TRIVIUM_API_KEY",
    "model_providers.trivium.wire_api": "responses",
    "model_providers.trivium.supports_websockets": supportsWebSockets,
  }).flatMap(([name, value]) => ["-c", `${name}=${JSON.stringify(value)}`]);

/** Its own sandbox would need rights that test machines do not grant; the prompt comes by standard input. */
const options = ["--json", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox"];

export const codex = (version: string, { supportsWebSockets = false } = {}): Agent => ({
  name: supportsWebSockets ? "Codex over a WebSocket" : "Codex",
  package: { from: "npm", name: "@openai/codex", version, program: "codex" },
  vendorModel: "gpt-5.5",
  native: "responses",
  usesWebSockets: supportsWebSockets,
  // For an unknown model name, older releases request one call at a time.
  parallelModels: ["gpt-5.5", ...Object.values(ALIASES_BY_WIRE)],
  arguments: (given) => ["exec", ...options, ...settings(given, supportsWebSockets), ...given.options, "-"],
  resume: (given) => ["exec", ...options, ...settings(given, supportsWebSockets), "resume", "--last", "-"],
  input: ({ prompt }) => prompt,
  environment: ({ key }) => ({ TRIVIUM_API_KEY: key }),
  home: () => ({}),
  lastWords: (output) =>
    read(output)
      .flatMap(({ item }) => (item?.type === "agent_message" ? [item.text ?? ""] : []))
      .at(-1) ?? "",
  tokens: (output) => {
    const usage = read(output).findLast((line) => line.usage !== undefined)?.usage;
    return { input: usage?.input_tokens ?? 0, output: usage?.output_tokens ?? 0 };
  },
  cases: [
    {
      // Names that begin like a known one get its patch tool.
      name: "apply_patch",
      models: Object.values(ALIASES_BY_WIRE),
      turns: [{ prints: PATCHED }, { prints: PATCHED }],
    },
    {
      // It runs the tools of its namespaces only by both names, and rejects other calls (R6).
      name: "a tool in a namespace",
      models: [...Object.values(MODELS_BY_WIRE).filter((model) => model !== "gpt-5.5"), "acme/native"],
      turns: [{ prompt: "Call the tool close_agent.", says: /close_agent answered “invalid agent id/ }, task],
    },
    {
      // For its newest models it sends tools only in an item `additional_tools`, all of them in namespaces.
      name: "tools in an item",
      models: KNOWS_GPT_6.test(version) ? ["gpt-6.1-sol", ...Object.keys(NEWER_ALIASES)] : [],
      turns: [{ prompt: "Call the tool list_agents.", says: /list_agents answered “\{"agents":\[\]\}”/ }],
    },
    {
      // A prompt that is too long ends a turn; the next one begins with a summary of the conversation (R28). Its totals
      // restart then.
      name: "compaction",
      models: Object.values(MODELS_BY_WIRE),
      turns: [{ prompt: LONG, fails: true, prints: /ran out of room in the model's context window/ }, task, task],
    },
    {
      name: "image",
      models: Object.values(MODELS_BY_WIRE),
      turns: [
        {
          prompt: "What is this?",
          files: { "dot.png": PIXEL },
          options: (path) => [`--image=${path("dot.png")}`],
          says: /With it came \[.*image/i,
        },
      ],
    },
    {
      name: "structured output",
      models: Object.values(MODELS_BY_WIRE),
      turns: [
        {
          prompt: "Describe a city.",
          files: { "city.json": JSON.stringify(CITY) },
          options: (path) => [`--output-schema=${path("city.json")}`],
          says: /^\{"name":".*","inhabitants":\d+\}$/,
        },
      ],
    },
    {
      // It does not show parts of type `refusal`.
      name: "refusal",
      models: ["chat", "responses"].map(refusingOf),
      turns: [{ prompt: "Hello, who are you?", says: /^$/ }],
    },
    {
      // Claude and Gemini refuse without text: such a response is incomplete, and it retries before reporting it.
      name: "refusal without words",
      models: ["messages", "genai"].map(refusingOf),
      turns: [
        { prompt: "Hello, who are you?", fails: true, prints: /Incomplete response returned, reason: content_filter/ },
      ],
      uncounted: true,
    },
    {
      name: "failing provider",
      models: ofEachWire(failingOf),
      turns: [{ prompt: "Hello, who are you?", fails: true, prints: /429/ }],
      uncounted: true,
    },
    {
      name: "stream that breaks off",
      models: ofEachWire(brokenOf),
      turns: [{ prompt: "Hello, who are you?", fails: true, prints: /stream disconnected before completion/ }],
      uncounted: true,
    },
  ],
});
