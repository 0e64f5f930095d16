import { brokenOf, failingOf, MODELS_BY_WIRE, refusingOf, thinkerOf } from "../support/client-harness.ts";

/** A library that calls models, and the script that uses it as its documentation says. */
export interface Client {
  name: string;
  from: "npm" | "pip";
  /** What is installed together, at the versions that the suite was written for. */
  packages: readonly string[];
  /** The file in `python` or `javascript`. */
  script: string;
  environment?: Readonly<Record<string, string>>;
  /** The protocol that its calls must use. */
  protocol: Protocol;
  model: string;
  /** A model whose streams break off in the middle: the library must not treat that as an end. */
  broken?: string;
  /** A model that refuses, and one whose host fails. */
  refusing?: string;
  failing?: string;
}

type Protocol = "chat" | "messages" | "genai" | "responses";

/** What a script prints about its calls: a streamed response, and one with a tool. */
export interface ClientReport {
  text: string;
  chunks: number;
  tools: string[];
  input: number;
  output: number;
  /** The errors it raised for a broken stream and for an unknown model; null if it raised none. */
  broken?: string | null;
  refused?: string | null;
  failed?: string | null;
  /** Further cases that the script has checked. */
  shown?: string[];
}

/** Vendors' own model names, and the protocol of the vendors' own classes. */
const GPT = ["gpt-5-mini", "chat"] as const;
const GPT_RESPONSES = ["gpt-5-mini", "responses"] as const;
const CLAUDE = ["claude-opus-4-8", "messages"] as const;
const GEMINI = ["gemini-2.5-flash", "genai"] as const;

const LANGCHAIN = ["langchain-openai==1.7.3", "langchain-anthropic==1.7.7", "langchain-google-genai==4.4.2"];
const LLAMA_INDEX = ["llama-index-llms-openai==0.8.3", "llama-index-llms-google-genai==0.11.3"];
// Its class builds a type that newer releases of the vendor's package turned into a union.
const LLAMA_INDEX_ANTHROPIC = ["llama-index-llms-anthropic==0.12.3", "anthropic<1"];
// It imports `mcp` at the first call with tools without declaring it.
const LITELLM = ["litellm==1.106.2", "mcp==2.1.1"];
const LANGCHAIN_JS = [
  "@langchain/core@1.2.13",
  "@langchain/openai@1.6.0",
  "@langchain/anthropic@1.5.11",
  "@langchain/google-genai@2.3.2",
];
const AI_SDK_6 = [
  "ai@6.0.326",
  "@ai-sdk/openai@3.0.139",
  "@ai-sdk/openai-compatible@2.0.87",
  "@ai-sdk/anthropic@3.0.138",
  "@ai-sdk/google@3.0.141",
];

const OPENAI_PYTHON = ["openai==3.49.0"];
const OPENAI_AGENTS = ["openai-agents==0.24.0"];
const ZOD = "zod@3.25.76";
const AI_SDK_7 = [
  "ai@7.0.169",
  "@ai-sdk/openai@4.0.114",
  "@ai-sdk/openai-compatible@3.0.90",
  "@ai-sdk/anthropic@4.0.102",
  "@ai-sdk/google@4.0.117",
];
const PYDANTIC_AI = ["pydantic-ai-slim[openai,google,anthropic]==2.66.0"];
const LLM = ["llm==0.36"];

type Setting = readonly [variable: string, value: string];
const made = (
  from: Client["from"],
  name: string,
  script: string,
  packages: readonly string[],
  [model, protocol]: readonly [string, Protocol],
  setting?: Setting,
): Client => ({
  name,
  from,
  packages,
  script,
  model,
  protocol,
  ...(setting ? { environment: Object.fromEntries([setting]) } : {}),
});
const python = made.bind(undefined, "pip");
const javascript = made.bind(undefined, "npm");

/** Clients of the Responses API, which are run with a model of each wire. */
const RESPONSES_CLIENTS: readonly Omit<Client, "model" | "protocol">[] = [
  { name: "openai Python", from: "pip", packages: OPENAI_PYTHON, script: "openai_responses_client.py" },
  { name: "openai 7 (JS)", from: "npm", packages: ["openai@7.55.0", ZOD], script: "openai-responses.mjs" },
  { name: "openai 5 (JS)", from: "npm", packages: ["openai@5.23.2", ZOD], script: "openai-responses.mjs" },
  { name: "openai-agents, default model", from: "pip", packages: OPENAI_AGENTS, script: "agents_responses_client.py" },
  { name: "LangChain Responses (Python)", from: "pip", packages: LANGCHAIN, script: "langchain_responses_client.py" },
  { name: "LangChain Responses (JS)", from: "npm", packages: LANGCHAIN_JS, script: "langchain-responses.mjs" },
  { name: "AI SDK openai", from: "npm", packages: AI_SDK_7, script: "ai-sdk-responses.mjs" },
];
const responsesClients = RESPONSES_CLIENTS.flatMap((client) =>
  Object.keys(MODELS_BY_WIRE).map((wire) => ({
    ...client,
    protocol: "responses" as const,
    model: thinkerOf(wire),
    broken: brokenOf(wire),
    refusing: refusingOf(wire),
    failing: failingOf(wire),
  })),
);

const aiSdk = (release: string, packages: readonly string[]): Client[] => [
  javascript(`AI SDK ${release} openai.chat`, "ai-sdk.mjs", packages, GPT, ["AI_SDK_PROVIDER", "openai"]),
  javascript(`AI SDK ${release} openai-compatible`, "ai-sdk.mjs", packages, GPT, [
    "AI_SDK_PROVIDER",
    "openai-compatible",
  ]),
  javascript(`AI SDK ${release} anthropic`, "ai-sdk.mjs", packages, CLAUDE, ["AI_SDK_PROVIDER", "anthropic"]),
  javascript(`AI SDK ${release} google`, "ai-sdk.mjs", packages, GEMINI, ["AI_SDK_PROVIDER", "google"]),
];

export const CLIENTS: readonly Client[] = [
  ...responsesClients,
  python("openai Python, chat", "openai_chat_client.py", OPENAI_PYTHON, GPT),
  python("anthropic Python", "anthropic_client.py", ["anthropic==2.8.0"], CLAUDE),
  python("google-genai Python", "google_genai_client.py", ["google-genai==3.1.0"], GEMINI),
  python("LangChain OpenAI (Python)", "langchain_client.py", LANGCHAIN, GPT, ["LANGCHAIN_PROVIDER", "openai"]),
  python("LangChain Anthropic (Python)", "langchain_client.py", LANGCHAIN, CLAUDE, ["LANGCHAIN_PROVIDER", "anthropic"]),
  python("LangChain Google (Python)", "langchain_client.py", LANGCHAIN, GEMINI, ["LANGCHAIN_PROVIDER", "google"]),
  python("LlamaIndex OpenAI", "llamaindex_openai_client.py", LLAMA_INDEX, GPT),
  python("LlamaIndex Anthropic", "llamaindex_anthropic_client.py", LLAMA_INDEX_ANTHROPIC, CLAUDE),
  python("LlamaIndex Google", "llamaindex_google_client.py", LLAMA_INDEX, GEMINI),
  python("LiteLLM openai/", "litellm_client.py", LITELLM, GPT, ["LITELLM_ROUTE", "openai"]),
  python("LiteLLM anthropic/", "litellm_client.py", LITELLM, CLAUDE, ["LITELLM_ROUTE", "anthropic"]),
  python("LiteLLM gemini/", "litellm_client.py", LITELLM, GEMINI, ["LITELLM_ROUTE", "gemini"]),
  python("openai-agents", "openai_agents_client.py", OPENAI_AGENTS, GPT),
  python("pydantic-ai OpenAI", "pydantic_ai_client.py", PYDANTIC_AI, GPT, ["PYDANTIC_AI_PROVIDER", "openai"]),
  python("pydantic-ai OpenAI Responses", "pydantic_ai_client.py", PYDANTIC_AI, GPT_RESPONSES, [
    "PYDANTIC_AI_PROVIDER",
    "openai-responses",
  ]),
  python("pydantic-ai Anthropic", "pydantic_ai_client.py", PYDANTIC_AI, CLAUDE, ["PYDANTIC_AI_PROVIDER", "anthropic"]),
  python("pydantic-ai Google", "pydantic_ai_client.py", PYDANTIC_AI, GEMINI, ["PYDANTIC_AI_PROVIDER", "google"]),
  python("strands", "strands_client.py", ["strands-agents[openai]==1.62.0"], GPT),
  python("llm", "llm_client.py", LLM, GPT, ["LLM_PROTOCOL", "chat"]),
  python("llm, responses", "llm_client.py", LLM, GPT_RESPONSES, ["LLM_PROTOCOL", "responses"]),
  javascript("LangChain OpenAI (JS)", "langchain.mjs", LANGCHAIN_JS, GPT, ["LANGCHAIN_PROVIDER", "openai"]),
  javascript("LangChain Anthropic (JS)", "langchain.mjs", LANGCHAIN_JS, CLAUDE, ["LANGCHAIN_PROVIDER", "anthropic"]),
  javascript("LangChain Google (JS)", "langchain.mjs", LANGCHAIN_JS, GEMINI, ["LANGCHAIN_PROVIDER", "google"]),
  ...aiSdk("6", AI_SDK_6),
  ...aiSdk("7", AI_SDK_7),
];
