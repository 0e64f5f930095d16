import Anthropic from "@anthropic-ai/sdk";
import { GoogleGenAI } from "@google/genai";
import OpenAI from "openai";
import type { ScriptedDialect } from "../../testing/sampled-dialects.ts";

/** The content of a response, as far as every protocol can express it. */
export interface Meaning {
  text: string;
  reasoning: string;
  calls: { name: string; args: unknown }[];
  stop: "stop" | "length" | "tool" | "filter" | "pause" | "other";
  /** The text is in a field for refusals. */
  refused: boolean;
  /** All input, cached input, all output. */
  usage: { input: number; cached: number; output: number } | undefined;
}

interface SdkCall {
  /** As the vendor's own SDK reads it. */
  baseUrl: string;
  apiKey: string;
  model: string;
  stream: boolean;
  /** Fields of the request other than the prompt. */
  body?: Record<string, unknown>;
}

// biome-ignore lint/suspicious/noExplicitAny: hosts send fields that the SDKs' types do not name
type Json = any;

/** Calls with the vendor's own SDK, and reads what the SDK returns. */
export const READERS: Readonly<Record<ScriptedDialect, (call: SdkCall) => Promise<Meaning>>> = {
  chat: readChat,
  messages: readMessages,
  genai: readGenai,
  responses: readResponses,
};

const parsed = (text: string): unknown => {
  if (text === "") return {};
  try {
    return JSON.parse(text);
  } catch {
    // A model's own broken JSON.
    return text;
  }
};

const CHAT_STOPS: Record<string, Meaning["stop"]> = {
  stop: "stop",
  length: "length",
  tool_calls: "tool",
  function_call: "tool",
  content_filter: "filter",
};

async function readChat({ baseUrl, apiKey, model, stream, body }: SdkCall): Promise<Meaning> {
  const sdk = new OpenAI({ baseURL: baseUrl, apiKey, maxRetries: 0 });
  const request: Json = { model, messages: [{ role: "user", content: "Hello" }], ...body, stream };
  if (stream) request.stream_options = { include_usage: true };
  const answer: Json = await sdk.chat.completions.create(request);
  const chunks: Json[] = [];
  if (stream) for await (const chunk of answer) chunks.push(chunk);
  else chunks.push(answer);
  const meaning: Meaning = { text: "", reasoning: "", calls: [], stop: "other", refused: false, usage: undefined };
  const calls: { key: unknown; name: string; args: string }[] = [];
  for (const chunk of chunks) {
    const usage = chunk.usage ?? chunk.x_groq?.usage ?? chunk.choices?.[0]?.usage;
    if (usage?.prompt_tokens !== undefined) {
      const details = usage.prompt_tokens_details;
      const read = details?.cached_tokens ?? usage.prompt_cache_hit_tokens ?? usage.cached_tokens ?? 0;
      const written = details?.cache_write_tokens ?? 0;
      // H36: what a host wrote to its cache, it did not also read from it.
      const isTwice = written > 0 && Math.max(read, written) <= usage.prompt_tokens;
      const cached = isTwice ? Math.min(read, usage.prompt_tokens - written) : read;
      meaning.usage = {
        // H38: some hosts count less in a prompt than they have read from a cache and written to it.
        input: Math.max(usage.prompt_tokens, cached + written),
        cached,
        // Some hosts leave reasoning out of the completion, and only the total shows it.
        output: Math.max(usage.completion_tokens, (usage.total_tokens ?? 0) - usage.prompt_tokens),
      };
    }
    const choice = chunk.choices?.[0];
    if (!choice) continue;
    const said = choice.delta ?? choice.message ?? {};
    meaning.text += chatText(said.content) + (said.refusal ?? "");
    meaning.refused ||= Boolean(said.refusal);
    meaning.reasoning += chatThought(said);
    for (const [position, call] of (said.tool_calls ?? []).entries()) {
      const key = call.index ?? call.id ?? position;
      let known = calls.find((one) => one.key === key);
      if (!known) {
        known = { key, name: "", args: "" };
        calls.push(known);
      }
      known.name ||= call.function?.name ?? call.custom?.name ?? "";
      const args = call.function?.arguments ?? call.custom?.input ?? "";
      known.args += typeof args === "string" ? args : JSON.stringify(args);
    }
    if (choice.finish_reason) meaning.stop = CHAT_STOPS[choice.finish_reason] ?? "other";
  }
  meaning.calls = calls.map(({ name, args }) => ({ name, args: parsed(args) }));
  return meaning;
}

function chatText(content: Json): string {
  if (typeof content === "string") return content;
  return (content ?? []).map((part: Json) => (part.type === "text" ? part.text : "")).join("");
}

function chatThought(said: Json): string {
  const inContent = Array.isArray(said.content)
    ? said.content
        .flatMap((part: Json) => (part.type === "thinking" ? part.thinking.map((one: Json) => one.text ?? "") : []))
        .join("")
    : "";
  const details = (said.reasoning_details ?? []).map((detail: Json) => detail.text ?? detail.summary ?? "").join("");
  return (said.reasoning_content ?? said.reasoning ?? details) + inContent;
}

const MESSAGES_STOPS: Record<string, Meaning["stop"]> = {
  end_turn: "stop",
  stop_sequence: "stop",
  max_tokens: "length",
  model_context_window_exceeded: "length",
  tool_use: "tool",
  refusal: "filter",
  pause_turn: "pause",
};

async function readMessages({ baseUrl, apiKey, model, stream, body }: SdkCall): Promise<Meaning> {
  const sdk = new Anthropic({ baseURL: baseUrl, apiKey, maxRetries: 0 });
  const request: Json = { model, max_tokens: 4096, messages: [{ role: "user", content: "Hello" }], ...body };
  const message: Json = stream ? await sdk.messages.stream(request).finalMessage() : await sdk.messages.create(request);
  const of = (type: string) => message.content.filter((block: Json) => block.type === type);
  const { usage } = message;
  return {
    text: of("text")
      .map((block: Json) => block.text)
      .join(""),
    reasoning: of("thinking")
      .map((block: Json) => block.thinking)
      .join(""),
    calls: of("tool_use").map((block: Json) => ({ name: block.name, args: block.input })),
    stop: MESSAGES_STOPS[message.stop_reason] ?? "other",
    refused: false,
    usage: usage && {
      input: usage.input_tokens + (usage.cache_creation_input_tokens ?? 0) + (usage.cache_read_input_tokens ?? 0),
      cached: usage.cache_read_input_tokens ?? 0,
      output: usage.output_tokens,
    },
  };
}

const FILTERS =
  /^(SAFETY|RECITATION|BLOCKLIST|PROHIBITED_CONTENT|SPII|IMAGE_SAFETY|IMAGE_PROHIBITED_CONTENT|IMAGE_RECITATION|MODEL_ARMOR|ESCALATION|PUP_LIMITED_DISABLED)$/;

async function readGenai({ baseUrl, apiKey, model, stream, body }: SdkCall): Promise<Meaning> {
  const sdk = new GoogleGenAI({ vertexai: true, apiKey, httpOptions: { baseUrl, apiVersion: "v1" } });
  const request: Json = { model, contents: [{ role: "user", parts: [{ text: "Hello" }] }], config: body ?? {} };
  const chunks: Json[] = [];
  if (stream) for await (const chunk of await sdk.models.generateContentStream(request)) chunks.push(chunk);
  else chunks.push(await sdk.models.generateContent(request));
  const meaning: Meaning = { text: "", reasoning: "", calls: [], stop: "other", refused: false, usage: undefined };
  let going: { name: string; args: Json } | undefined;
  for (const chunk of chunks) {
    const candidate = chunk.candidates?.[0];
    for (const part of candidate?.content?.parts ?? []) {
      if (part.thought) meaning.reasoning += part.text ?? "";
      else meaning.text += part.text ?? "";
      const call = part.functionCall;
      if (!call) continue;
      if (call.name) {
        going = { name: call.name, args: structuredClone(call.args ?? {}) };
        meaning.calls.push(going);
      }
      for (const { jsonPath, stringValue, numberValue, boolValue } of call.partialArgs ?? []) {
        const key = String(jsonPath).replace(/^\$\./, "");
        if (going)
          going.args[key] =
            stringValue === undefined ? (numberValue ?? boolValue ?? null) : (going.args[key] ?? "") + stringValue;
      }
    }
    if (candidate?.finishReason) {
      const reason = String(candidate.finishReason);
      const word = FILTERS.test(reason)
        ? "filter"
        : reason === "MAX_TOKENS"
          ? "length"
          : reason === "STOP"
            ? "stop"
            : "other";
      meaning.stop = word === "stop" && meaning.calls.length > 0 ? "tool" : word;
    }
    if (chunk.promptFeedback?.blockReason && !candidate) meaning.stop = "filter";
    const usage = chunk.usageMetadata;
    if (usage?.promptTokenCount !== undefined) {
      meaning.usage = {
        input: usage.promptTokenCount + (usage.toolUsePromptTokenCount ?? 0),
        cached: usage.cachedContentTokenCount ?? 0,
        output: (usage.candidatesTokenCount ?? 0) + (usage.thoughtsTokenCount ?? 0),
      };
    }
  }
  return meaning;
}

const INCOMPLETE_STOPS: Record<string, Meaning["stop"]> = { max_output_tokens: "length", content_filter: "filter" };

async function readResponses({ baseUrl, apiKey, model, stream, body }: SdkCall): Promise<Meaning> {
  const sdk = new OpenAI({ baseURL: baseUrl, apiKey, maxRetries: 0 });
  const request: Json = { model, input: "Hello", store: false, ...body };
  const answer: Json = stream ? await finalResponse(sdk, request) : await sdk.responses.create(request);
  const of = (type: string): Json[] => answer.output.filter((item: Json) => item.type === type);
  const parts = of("message").flatMap(({ content }) => content);
  const calls = [...of("function_call"), ...of("custom_tool_call")];
  const ended = calls.length > 0 ? "tool" : "stop";
  const { usage } = answer;
  return {
    text: parts.map(({ text, refusal }: Json) => text ?? refusal ?? "").join(""),
    reasoning: of("reasoning")
      .flatMap(({ content, summary }) => (content?.length > 0 ? content : summary))
      .map(({ text }: Json) => text)
      .join(""),
    calls: calls.map(({ name, arguments: args, input }) => ({ name, args: parsed(args ?? input) })),
    stop: answer.status === "completed" ? ended : (INCOMPLETE_STOPS[answer.incomplete_details?.reason] ?? "other"),
    refused: parts.some(({ type }: Json) => type === "refusal"),
    usage: usage && {
      input: usage.input_tokens,
      cached: usage.input_tokens_details?.cached_tokens ?? 0,
      output: usage.output_tokens,
    },
  };
}

/** The last event has the whole response, which must match the events before it. */
async function finalResponse(sdk: OpenAI, request: Json): Promise<Json> {
  let last: Json;
  let said = "";
  for await (const event of (await sdk.responses.create({ ...request, stream: true })) as Json) {
    if (event.type === "error" || event.type === "response.failed") throw new Error(JSON.stringify(event));
    if (event.type === "response.output_text.delta") said += event.delta;
    last = event;
  }
  if (!["response.completed", "response.incomplete"].includes(last?.type)) throw new Error("the stream has no end");
  const parts: Json[] = last.response.output.flatMap((item: Json) => (item.type === "message" ? item.content : []));
  const told = parts.map(({ text }) => text ?? "").join("");
  if (told !== said) throw new Error(`the deltas say ${said}, the answer ${told}`);
  return last.response;
}
