import Anthropic1 from "@anthropic-ai/sdk";
import Anthropic0 from "anthropic-sdk-0";
import type { ErrorClass, Kind } from "./support.ts";

/**
 * What the scenarios use of a client. Every generation is assigned to it, so the compiler checks all of them. `Block`
 * is a content block in the generation's own types: what arrived in a response is returned in the next request.
 */
interface MessagesClient<Block extends ReadBlock> {
  messages: {
    create: CreateMessage<Block>;
    stream: (body: MessagesBody<Block>, options?: CallOptions) => MessageHelper<Block>;
    countTokens: (body: Omit<MessagesBody<Block>, "max_tokens">) => PromiseLike<{ input_tokens: number }>;
  };
  beta: {
    messages: {
      create: (
        body: Pick<MessagesBody<never>, "model" | "max_tokens" | "messages"> & { betas: string[]; stream?: false },
      ) => PromiseLike<{ content: Pick<ReadBlock, "type" | "text">[] }>;
    };
  };
  models: {
    list: () => PromiseLike<{ data: ListedModel[]; has_more: boolean }> & AsyncIterable<ListedModel>;
    retrieve: (id: string) => PromiseLike<ListedModel>;
  };
}

interface CreateMessage<Block extends ReadBlock> {
  (body: MessagesBody<Block> & { stream?: false }, options?: CallOptions): AnswerPromise<Message<Block>>;
  (body: MessagesBody<Block> & { stream: true }, options?: CallOptions): AnswerPromise<AsyncIterable<StreamEvent>>;
}

/** The helper that adds up a stream. */
type MessageHelper<Block extends ReadBlock> = AsyncIterable<StreamEvent> & {
  abort(): void;
  finalMessage(): Promise<Message<Block>>;
};

export interface CallOptions {
  signal?: AbortSignal;
}

export interface AnswerPromise<T> extends Promise<T> {
  asResponse(): Promise<{ headers: { get(name: string): string | null } }>;
  withResponse(): Promise<{ data: T; response: { headers: { get(name: string): string | null } } }>;
}

/** The members of the many kinds of block that the scenarios read. */
export interface ReadBlock {
  type: string;
  text?: string;
  id?: string;
  name?: string;
  input?: unknown;
  thinking?: string;
  signature?: string;
}

export const textOf = (blocks: readonly Pick<ReadBlock, "text">[]) => blocks.map((block) => block.text ?? "").join("");

/** Blocks that the scenarios make themselves. */
export type OwnBlock =
  | { type: "text"; text: string }
  | { type: "thinking"; thinking: string; signature: string }
  | { type: "image"; source: { type: "base64"; media_type: "image/png"; data: string } }
  | { type: "document"; source: { type: "base64"; media_type: "application/pdf"; data: string } }
  | { type: "tool_result"; tool_use_id: string; content: string };

export interface MessagesBody<Block extends ReadBlock> {
  model: string;
  max_tokens: number;
  messages: { role: "user" | "assistant"; content: string | (OwnBlock | Block)[] }[];
  system?: string;
  temperature?: number;
  tools?: CustomTool[];
  thinking?: { type: "enabled"; budget_tokens: number };
}

export interface CustomTool {
  name: string;
  description: string;
  input_schema: { type: "object"; properties: Record<string, { type: string }>; required: string[] };
}

export interface Message<Block extends ReadBlock> {
  id: string;
  type: "message";
  role: "assistant";
  model: string;
  content: Block[];
  stop_reason: string | null;
  usage: TokenUsage;
  _request_id?: string | null;
}

export interface TokenUsage {
  input_tokens: number;
  output_tokens: number;
  cache_read_input_tokens?: number | null;
  cache_creation_input_tokens?: number | null;
}

/** All prompt tokens: hosts of other protocols cache without being asked, and cached tokens are counted separately. */
export const promptTokens = (usage: TokenUsage): number =>
  usage.input_tokens + (usage.cache_read_input_tokens ?? 0) + (usage.cache_creation_input_tokens ?? 0);

export interface StreamEvent {
  type: string;
  delta?: object;
  message?: { model: string; usage: { input_tokens: number; output_tokens: number } };
  usage?: { output_tokens: number };
}

export interface ListedModel {
  id: string;
  type: string;
  display_name: string;
  created_at: string;
}

interface MessagesDoor {
  name: string;
  path: string;
  kind: Kind;
}

export const MESSAGES_DOORS: readonly MessagesDoor[] = [
  { name: "contract door, provider anthropic", path: "/api/msg", kind: "anthropic" },
  { name: "drop-in door, provider simulator", path: "", kind: "simulator" },
  { name: "contract door, provider openai-compatible", path: "/api/msg", kind: "openai-compatible" },
  { name: "drop-in door, provider gemini", path: "", kind: "gemini" },
  { name: "contract door, provider bedrock", path: "/api/msg", kind: "bedrock" },
];

interface MessagesSetup {
  baseURL: string;
  apiKey: string;
  maxRetries: number;
  fetch?: typeof fetch;
}

/** The classes of sdks 2.4, by what happened: the older generation has fewer. */
export interface MessagesErrors {
  any: ErrorClass;
  aborted: ErrorClass;
  badRequest: ErrorClass;
  badKey: ErrorClass;
  notFound: ErrorClass;
  tooLarge: ErrorClass;
  rateLimited: ErrorClass;
  failed: ErrorClass;
  timedOut: ErrorClass;
  overloaded: ErrorClass;
}

export interface MessagesGeneration<Block extends ReadBlock> {
  version: string;
  errors: MessagesErrors;
  connect(setup: MessagesSetup): MessagesClient<Block>;
}

export const ANTHROPIC_1: MessagesGeneration<Anthropic1.ContentBlock> = {
  version: "1.8",
  errors: {
    any: Anthropic1.APIError,
    aborted: Anthropic1.APIUserAbortError,
    badRequest: Anthropic1.BadRequestError,
    badKey: Anthropic1.AuthenticationError,
    notFound: Anthropic1.NotFoundError,
    tooLarge: Anthropic1.ContentTooLargeError,
    rateLimited: Anthropic1.RateLimitError,
    failed: Anthropic1.InternalServerError,
    timedOut: Anthropic1.GatewayTimeoutError,
    overloaded: Anthropic1.OverloadedError,
  },
  connect: (setup) => new Anthropic1(setup),
};

export const ANTHROPIC_0: MessagesGeneration<Anthropic0.ContentBlock> = {
  version: "0.60",
  errors: {
    any: Anthropic0.APIError,
    aborted: Anthropic0.APIUserAbortError,
    badRequest: Anthropic0.BadRequestError,
    badKey: Anthropic0.AuthenticationError,
    notFound: Anthropic0.NotFoundError,
    tooLarge: Anthropic0.APIError,
    rateLimited: Anthropic0.RateLimitError,
    failed: Anthropic0.InternalServerError,
    timedOut: Anthropic0.InternalServerError,
    overloaded: Anthropic0.InternalServerError,
  },
  connect: (setup) => new Anthropic0(setup),
};
