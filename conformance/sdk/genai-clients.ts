import * as Genai2 from "@google/genai";
import * as Genai1 from "genai-1";
import { withoutAbsent } from "../../src/base/without-absent.ts";
import type { ErrorClass, Kind } from "./support.ts";

/**
 * What the scenarios use of a client. Every generation is assigned to it, so the compiler checks all of them. `Turn`
 * is a content in the generation's own types: what arrived in a response is returned in the next request.
 */
interface GenaiClient<Turn extends ReadTurn> {
  models: {
    generateContent: (request: GenaiRequest<Turn>) => Promise<GenaiAnswer<Turn>>;
    generateContentStream: (request: GenaiRequest<Turn>) => Promise<AsyncIterable<GenaiAnswer<Turn>>>;
    countTokens: (request: Pick<GenaiRequest<Turn>, "model" | "contents">) => Promise<{ totalTokens?: number }>;
    list: () => Promise<AsyncIterable<ListedModel>>;
    get: (request: { model: string }) => Promise<ListedModel>;
  };
  chats: {
    create: (request: { model: string; config?: GenaiConfig }) => {
      sendMessage: (request: { message: string | OwnPart[] }) => Promise<GenaiAnswer<Turn>>;
      sendMessageStream: (request: { message: string | OwnPart[] }) => Promise<AsyncIterable<GenaiAnswer<Turn>>>;
    };
  };
}

export interface GenaiRequest<Turn extends ReadTurn> {
  model: string;
  contents: string | (OwnTurn | Turn)[];
  config?: GenaiConfig;
}

export interface GenaiConfig {
  abortSignal?: AbortSignal;
  systemInstruction?: string;
  maxOutputTokens?: number;
  topP?: number;
  stopSequences?: string[];
  responseMimeType?: string;
  responseSchema?: unknown;
  responseJsonSchema?: unknown;
  thinkingConfig?: { includeThoughts: boolean; thinkingBudget?: number };
  tools?: (DeclaredTools | RunnableTool)[];
}

export interface DeclaredTools {
  functionDeclarations: { name: string; description: string; parametersJsonSchema: unknown }[];
}

/** A tool that the package calls itself. */
export interface RunnableTool {
  tool: () => Promise<DeclaredTools>;
  callTool: (calls: FunctionCall[]) => Promise<OwnPart[]>;
}

export interface FunctionCall {
  id?: string;
  name?: string;
  args?: Record<string, unknown>;
}

export interface ReadPart {
  text?: string;
  thought?: boolean;
  thoughtSignature?: string;
  functionCall?: FunctionCall;
}

export interface ReadTurn {
  role?: string;
  parts?: ReadPart[];
}

/** Parts and turns that the scenarios make themselves. */
export interface OwnPart {
  text?: string;
  thought?: boolean;
  thoughtSignature?: string;
  functionCall?: FunctionCall;
  inlineData?: { mimeType: string; data: string };
  functionResponse?: { id?: string; name: string; response: Record<string, unknown> };
}

export interface OwnTurn {
  role: "user" | "model";
  parts: OwnPart[];
}

export interface GenaiAnswer<Turn extends ReadTurn> {
  text: string | undefined;
  functionCalls: FunctionCall[] | undefined;
  candidates?: { content?: Turn; finishReason?: string }[];
  usageMetadata?: {
    promptTokenCount?: number;
    candidatesTokenCount?: number;
    thoughtsTokenCount?: number;
    totalTokenCount?: number;
  };
  promptFeedback?: { blockReason?: string };
  automaticFunctionCallingHistory?: Turn[];
  sdkHttpResponse?: { headers?: Record<string, string> };
}

const partsOf = (answer: GenaiAnswer<ReadTurn>) => answer.candidates?.[0]?.content?.parts ?? [];

/** The text of a response, without the warning of the package's own getter when there is more than text. */
export const textOf = (answer: GenaiAnswer<ReadTurn>) =>
  partsOf(answer)
    .map((part) => (part.thought ? "" : (part.text ?? "")))
    .join("");

export const thoughtsOf = (answer: GenaiAnswer<ReadTurn>) =>
  partsOf(answer)
    .map((part) => (part.thought ? (part.text ?? "") : ""))
    .join("");

export interface ListedModel {
  name?: string;
  displayName?: string;
  description?: string;
  inputTokenLimit?: number;
}

/** The two ways to configure the package: for the contract's base URL, and for only a host. */
interface GenaiMode {
  name: string;
  vertexai: boolean;
  path: string;
  apiVersion?: string;
  kind: Kind;
}

export const GENAI_MODES: readonly GenaiMode[] = [
  {
    name: "vertex mode at the contract door, provider vertex",
    vertexai: true,
    path: "/api/genai",
    apiVersion: "v1",
    kind: "vertex",
  },
  {
    name: "vertex mode at the contract door, provider simulator",
    vertexai: true,
    path: "/api/genai",
    apiVersion: "v1",
    kind: "simulator",
  },
  { name: "api mode at the drop-in door, provider gemini", vertexai: false, path: "", kind: "gemini" },
  ...(["anthropic", "openai-compatible", "bedrock"] as const).flatMap((kind): GenaiMode[] => [
    {
      name: `vertex mode at the contract door, provider ${kind}`,
      vertexai: true,
      path: "/api/genai",
      apiVersion: "v1",
      kind,
    },
    { name: `api mode at the drop-in door, provider ${kind}`, vertexai: false, path: "", kind },
  ]),
];

export interface GenaiSetup {
  vertexai: boolean;
  apiKey: string;
  httpOptions: { baseUrl: string; apiVersion?: string };
}

export function setupFor({ vertexai, path, apiVersion }: GenaiMode, gatewayUrl: string, apiKey: string): GenaiSetup {
  const httpOptions = withoutAbsent({ baseUrl: `${gatewayUrl}${path}`, apiVersion });
  return { vertexai, apiKey, httpOptions };
}

export interface GenaiGeneration<Turn extends ReadTurn> {
  version: string;
  error: ErrorClass;
  /** The values of the package's own enumeration. */
  finish: { STOP: string; MAX_TOKENS: string; SAFETY: string };
  connect(setup: GenaiSetup): GenaiClient<Turn>;
}

export const GENAI_2: GenaiGeneration<Genai2.Content> = {
  version: "2",
  error: Genai2.ApiError,
  finish: Genai2.FinishReason,
  connect: (setup) => new Genai2.GoogleGenAI(setup),
};

export const GENAI_1: GenaiGeneration<Genai1.Content> = {
  version: "1",
  error: Genai1.ApiError,
  finish: Genai1.FinishReason,
  connect: (setup) => new Genai1.GoogleGenAI(setup),
};
