import OpenAi7 from "openai";
import OpenAi4 from "openai-4";
import OpenAi5 from "openai-5";
import type { ErrorClass, Kind } from "./support.ts";

/** What the scenarios use of a client. Every generation is assigned to it, so the compiler checks all of them. */
interface ChatClient {
  chat: { completions: { create: CreateCompletion } };
  models: {
    list: () => PromiseLike<{ data: ListedModel[] }> & AsyncIterable<ListedModel>;
    retrieve: (id: string) => PromiseLike<ListedModel>;
  };
}

interface CreateCompletion {
  (body: ChatBody & { stream?: false }, options?: CallOptions): AnswerPromise<Completion>;
  (body: ChatBody & { stream: true }, options?: CallOptions): AnswerPromise<ChunkStream>;
}

/** The helpers that add up a stream, and that call the tools until there is an answer. */
interface ChatHelpers {
  addUp: StreamHelper;
  runTools: ToolLoop;
}

type StreamHelper = (body: ChatBody) => AsyncIterable<Chunk> & { finalChatCompletion(): Promise<Completion> };

type ToolLoop = (body: Omit<ChatBody, "tools"> & { tools: RunnableTool[] }) => {
  finalContent(): Promise<string | null>;
};

export interface RunnableTool {
  type: "function";
  function: FunctionTool["function"] & { function: (input: string) => string };
}

export interface CallOptions {
  signal?: AbortSignal;
  maxRetries?: number;
}

export interface AnswerPromise<T> extends Promise<T> {
  asResponse(): Promise<{ status: number; headers: { get(name: string): string | null } }>;
  withResponse(): Promise<{ data: T; response: { headers: { get(name: string): string | null } } }>;
}

export interface ChatBody {
  model: string;
  messages: ChatMessage[];
  tools?: FunctionTool[];
  tool_choice?: "auto" | "required" | "none";
  n?: number;
  temperature?: number;
  max_tokens?: number;
  max_completion_tokens?: number;
  reasoning_effort?: "low" | "medium" | "high";
  response_format?: { type: "json_schema"; json_schema: { name: string; strict: boolean; schema: Schema } };
  stream_options?: { include_usage: boolean };
  /** The contract's own fields (contract 2.12): the packages forward what they do not know. */
  reasoning?: { enabled?: boolean; effort?: "low" | "medium" | "high"; exclude?: boolean };
  usage?: { include: boolean };
}

export type Schema = Record<string, unknown>;

export type ChatMessage =
  | { role: "system"; content: string }
  | { role: "user"; content: string | ContentPart[] }
  | { role: "assistant"; content: string | null; tool_calls?: FunctionCall[] }
  | { role: "tool"; tool_call_id: string; content: string };

type ContentPart =
  | { type: "text"; text: string }
  | { type: "image_url"; image_url: { url: string } }
  | { type: "file"; file: { filename: string; file_data: string } };

export interface FunctionTool {
  type: "function";
  function: { name: string; description: string; parameters: Schema };
}

export interface FunctionCall {
  id: string;
  type: "function";
  function: { name: string; arguments: string };
}

export interface AssistantMessage {
  role: "assistant";
  content: string | null;
  /** Generation 7 also knows calls of custom tools, which have no `function`. */
  tool_calls?: { id: string; type: string; function?: { name: string; arguments: string } }[];
}

/** The calls of a message, as generation 7's types make their readers narrow them. */
export function functionCalls(message: AssistantMessage): FunctionCall[] {
  return (message.tool_calls ?? []).map((call) => {
    if (call.function === undefined) throw new Error(`${call.type} call where a function call was expected`);
    return { id: call.id, type: "function", function: call.function };
  });
}

export function onlyMessage({ choices }: Pick<Completion, "choices">): AssistantMessage {
  const message = choices[0]?.message;
  if (message === undefined || choices.length !== 1)
    throw new Error(`${choices.length} choices where one was expected`);
  return message;
}

/** One member of all deltas of a stream, put together. */
export const joined = (chunks: readonly Chunk[], read: (delta: Chunk["choices"][number]["delta"]) => unknown): string =>
  chunks.flatMap(({ choices }) => choices.map(({ delta }) => read(delta) ?? "")).join("");

export interface TokenUsage {
  prompt_tokens: number;
  completion_tokens: number;
  total_tokens: number;
}

interface Completion {
  id: string;
  object: string;
  model: string;
  choices: { index: number; finish_reason: string | null; message: AssistantMessage }[];
  usage?: TokenUsage | null;
  _request_id?: string | null;
}

export interface Chunk {
  model: string;
  choices: {
    delta: {
      content?: string | null;
      tool_calls?: { index: number; id?: string; function?: { name?: string; arguments?: string } }[];
    };
    finish_reason: string | null;
  }[];
  usage?: TokenUsage | null;
}

type ChunkStream = AsyncIterable<Chunk> & { controller: AbortController };

export interface ListedModel {
  id: string;
  object: string;
  owned_by: string;
  created: number;
}

interface ChatDoor {
  name: string;
  path: string;
  kind: Kind;
  /** Hosts of this kind accept the thoughts of a tool turn back; the vendor itself rejects them. */
  thinkingKind: Kind;
}

export const CHAT_DOORS: readonly ChatDoor[] = [
  { name: "contract door, provider openai", path: "/api/v1", kind: "openai", thinkingKind: "openai-compatible" },
  { name: "drop-in door, provider simulator", path: "/v1", kind: "simulator", thinkingKind: "simulator" },
  { name: "contract door, provider anthropic", path: "/api/v1", kind: "anthropic", thinkingKind: "anthropic" },
  { name: "drop-in door, provider gemini", path: "/v1", kind: "gemini", thinkingKind: "gemini" },
  { name: "contract door, provider bedrock", path: "/api/v1", kind: "bedrock", thinkingKind: "bedrock" },
];

export interface ChatSetup {
  baseURL: string;
  apiKey: string;
  maxRetries: number;
  fetch?: typeof fetch;
}

/** The classes that sdks 3.2 names. */
export interface ChatErrors {
  APIError: ErrorClass;
  APIUserAbortError: ErrorClass;
  AuthenticationError: ErrorClass;
  BadRequestError: ErrorClass;
  InternalServerError: ErrorClass;
  NotFoundError: ErrorClass;
  RateLimitError: ErrorClass;
}

interface ChatGeneration {
  version: string;
  errors: ChatErrors;
  connect(setup: ChatSetup): ChatClient & ChatHelpers;
}

export const CHAT_GENERATIONS: readonly ChatGeneration[] = [
  {
    version: "7",
    errors: OpenAi7,
    connect: (setup) => {
      const client = new OpenAi7(setup);
      const helpers = client.chat.completions;
      return {
        chat: client.chat,
        models: client.models,
        addUp: (body) => helpers.stream(body),
        runTools: (body) => helpers.runTools(body),
      };
    },
  },
  {
    version: "5",
    errors: OpenAi5,
    connect: (setup) => {
      const client = new OpenAi5(setup);
      const helpers = client.chat.completions;
      return {
        chat: client.chat,
        models: client.models,
        addUp: (body) => helpers.stream(body),
        runTools: (body) => helpers.runTools(body),
      };
    },
  },
  {
    version: "4",
    errors: OpenAi4,
    connect: (setup) => {
      const client = new OpenAi4(setup);
      const helpers = client.beta.chat.completions;
      return {
        chat: client.chat,
        models: client.models,
        addUp: (body) => helpers.stream(body),
        runTools: (body) => helpers.runTools(body),
      };
    },
  },
];
