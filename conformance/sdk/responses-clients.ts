import OpenAi7 from "openai";
import OpenAi5 from "openai-5";
import type { Kind } from "./support.ts";

/** What the scenarios use of a client. Both generations are assigned to it, so the compiler checks them. */
interface ResponsesClient {
  responses: {
    create(body: ResponsesBody & { stream?: false }, options?: CallOptions): AnswerPromise<Answer>;
    create(body: ResponsesBody & { stream: true }, options?: CallOptions): AnswerPromise<AsyncIterable<StreamEvent>>;
    stream(body: ResponsesBody): { finalResponse(): Promise<Omit<Answer, "output_text">> };
    parse(body: ResponsesBody): PromiseLike<{ output_parsed: unknown }>;
  };
}

interface CallOptions {
  headers?: Record<string, string>;
}

interface AnswerPromise<T> extends PromiseLike<T> {
  withResponse(): Promise<{ data: T; response: { headers: { get(name: string): string | null } } }>;
}

/** What both generations support; the newer one has more kinds. */
export type Item =
  | { role: "user"; content: string | (InputText | InputImage)[] }
  | FunctionCall
  | Thought
  | { type: "function_call_output"; call_id: string; output: string };

interface InputText {
  type: "input_text";
  text: string;
}

interface InputImage {
  type: "input_image";
  image_url: string;
  detail: "auto";
}

export interface FunctionCall {
  type: "function_call";
  call_id: string;
  name: string;
  arguments: string;
}

interface Thought {
  type: "reasoning";
  id: string;
  summary: { type: "summary_text"; text: string }[];
  encrypted_content?: string | null;
}

export interface FunctionTool {
  type: "function";
  name: string;
  description: string;
  parameters: Record<string, unknown>;
  strict: boolean;
}

export interface ResponsesBody {
  model: string;
  input: string | Item[];
  tools?: FunctionTool[];
  reasoning?: { effort: "low"; summary: "auto" };
  store?: boolean;
  text?: { format: { type: "json_schema"; name: string; strict: boolean; schema: Record<string, unknown> } };
}

interface Answer {
  status?: string;
  model: string;
  output: OutputItem[];
  output_text: string;
  incomplete_details: { reason?: string } | null;
  usage?: { input_tokens: number; output_tokens: number; total_tokens: number };
}

export interface OutputItem {
  type: string;
}

interface StreamEvent {
  type: string;
}

interface ClientSetup {
  baseURL: string;
  apiKey: string;
  maxRetries: number;
}

/** The generations of the package whose Responses API is in use. */
export const RESPONSES_GENERATIONS: readonly { version: string; connect: (setup: ClientSetup) => ResponsesClient }[] = [
  { version: "7", connect: (setup) => new OpenAi7(setup) },
  { version: "5", connect: (setup) => new OpenAi5(setup) },
];

/** The protocol is spoken at both doors. */
export const RESPONSES_DOORS = ["/api/v1", "/v1"] as const;

/** Providers of each protocol. */
export const RESPONSES_KINDS: readonly Kind[] = ["openai-compatible", "anthropic", "gemini", "bedrock"];

/** The calls of a response, as they are returned in the next request. */
export const callsIn = (output: readonly OutputItem[]): FunctionCall[] =>
  output.filter((item): item is FunctionCall => item.type === "function_call");

/**
 * The parts of a response that are returned in the next request: its thoughts and calls, without what a helper has
 * added.
 */
export function replayed(output: readonly OutputItem[]): Item[] {
  const isKept = (item: OutputItem): item is FunctionCall | Thought =>
    item.type === "function_call" || item.type === "reasoning";
  return output.filter(isKept).map((item) => {
    const copy = { ...item };
    Reflect.deleteProperty(copy, "parsed_arguments");
    return copy;
  });
}

/** The texts of a response: the older helper does not add them up. */
export function textIn(output: readonly OutputItem[]): string {
  const isMessage = (item: OutputItem): item is OutputItem & { content: { text?: string }[] } =>
    item.type === "message";
  return output
    .filter(isMessage)
    .flatMap(({ content }) => content)
    .map(({ text = "" }) => text)
    .join("");
}
