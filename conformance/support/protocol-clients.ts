import Anthropic from "@anthropic-ai/sdk";
import { ApiError, type Content, GoogleGenAI, type Part } from "@google/genai";
import OpenAI from "openai";
import { withoutAbsent } from "../../src/base/without-absent.ts";
import type { DialectName } from "../../src/canon/dialect-name.ts";

/** What a scenario requests, independent of any protocol. */
export interface Question {
  model: string;
  text: string;
  stream: boolean;
  /** Declares the function `get_weather`. */
  tools?: boolean;
  thinking?: boolean;
  /** A temperature and a top_p at the ends of their range, and an output limit. */
  settings?: boolean;
}

export interface Answer {
  words: string;
  thoughts: string;
  calls: { name: string; input: unknown }[];
  /**
   * Answers every call with the same text. Everything received is returned unchanged; without the thoughts if they are
   * to be dropped.
   */
  followUp(result: string, thoughts?: "kept" | "forgotten"): Promise<Answer>;
}

/** The newest of a vendor's SDKs, pointed at the gateway. */
export interface ProtocolClient {
  dialect: DialectName;
  ask(question: Question): Promise<Answer>;
  /** The HTTP status that an error of this SDK has; undefined if it came inside a stream. */
  statusOf(error: unknown): number | undefined;
}

const MAX_TOKENS = 8_000;
const BUDGET = 2_048;
const NAME = "get_weather";
const DESCRIPTION = "The weather at a place.";
const SCHEMA = {
  type: "object" as const,
  properties: { city: { type: "string" } },
  required: ["city"],
};

export function protocolClients(gatewayUrl: string, apiKey: string): ProtocolClient[] {
  return [chatClient, messagesClient, genaiClient, responsesClient].map((client) => client(gatewayUrl, apiKey));
}

type ChatMessage = OpenAI.ChatCompletionMessageParam;

/** An assistant message with the fields that contract 2.13 adds and contract 2.12 accepts back. */
interface ChatReply {
  content: string;
  reasoning: string;
  details: unknown[];
  calls: { id: string; name: string; input: string }[];
}

/** The members of a message or delta that the package's types do not name. */
interface ReasoningMembers {
  reasoning_content?: string | null;
  reasoning_details?: unknown[];
}

function chatClient(gatewayUrl: string, apiKey: string): ProtocolClient {
  const client = new OpenAI({ baseURL: `${gatewayUrl}/api/v1`, apiKey, maxRetries: 0 });

  async function complete(question: Question, messages: ChatMessage[]): Promise<Answer> {
    const body = {
      model: question.model,
      messages,
      ...(question.tools
        ? {
            tools: [
              { type: "function" as const, function: { name: NAME, description: DESCRIPTION, parameters: SCHEMA } },
            ],
          }
        : {}),
      ...(question.thinking ? { reasoning: { effort: "high" } } : {}),
      ...(question.settings ? { temperature: 0, top_p: 1, max_completion_tokens: MAX_TOKENS } : {}),
    };
    const reply = question.stream
      ? await addUpChunks(await client.chat.completions.create({ ...body, stream: true }))
      : readCompletion(await client.chat.completions.create(body));
    const tool_calls = reply.calls.map(({ id, name, input }) => ({
      id,
      type: "function" as const,
      function: { name, arguments: input },
    }));
    const message = {
      role: "assistant" as const,
      content: reply.content || null,
      ...(tool_calls.length > 0 ? { tool_calls } : {}),
    };
    const thoughts = {
      ...(reply.reasoning ? { reasoning: reply.reasoning, reasoning_content: reply.reasoning } : {}),
      ...(reply.details.length > 0 ? { reasoning_details: reply.details } : {}),
    };
    return {
      words: reply.content,
      thoughts: reply.reasoning,
      calls: reply.calls.map(({ name, input }) => ({ name, input: JSON.parse(input) as unknown })),
      followUp: (content, memory = "kept") => {
        const results = reply.calls.map(({ id }) => ({ role: "tool" as const, tool_call_id: id, content }));
        const sent = memory === "kept" ? { ...message, ...thoughts } : message;
        return complete(question, [...messages, sent, ...results]);
      },
    };
  }

  return {
    dialect: "chat",
    ask: (question) => complete(question, [{ role: "user", content: question.text }]),
    statusOf: (error) => (error instanceof OpenAI.APIError ? (error.status as number | undefined) : undefined),
  };
}

function readCompletion({ choices }: OpenAI.ChatCompletion): ChatReply {
  const message = choices[0]?.message;
  const extra = (message ?? {}) as ReasoningMembers;
  return {
    content: message?.content ?? "",
    reasoning: extra.reasoning_content ?? "",
    details: extra.reasoning_details ?? [],
    calls: (message?.tool_calls ?? []).flatMap((call) =>
      call.type === "function" ? [{ id: call.id, name: call.function.name, input: call.function.arguments }] : [],
    ),
  };
}

async function addUpChunks(stream: AsyncIterable<OpenAI.ChatCompletionChunk>): Promise<ChatReply> {
  const reply: ChatReply = { content: "", reasoning: "", details: [], calls: [] };
  let finished = false;
  for await (const { choices } of stream) {
    finished ||= choices[0]?.finish_reason != null;
    const delta = choices[0]?.delta;
    const extra = (delta ?? {}) as ReasoningMembers;
    reply.content += delta?.content ?? "";
    reply.reasoning += extra.reasoning_content ?? "";
    reply.details.push(...(extra.reasoning_details ?? []));
    for (const call of delta?.tool_calls ?? []) {
      const known = reply.calls[call.index] ?? { id: call.id ?? "", name: call.function?.name ?? "", input: "" };
      reply.calls[call.index] = { ...known, input: known.input + (call.function?.arguments ?? "") };
    }
  }
  if (!finished) throw new Error("the stream ended without a finish reason");
  return reply;
}

function messagesClient(gatewayUrl: string, apiKey: string): ProtocolClient {
  const client = new Anthropic({ baseURL: `${gatewayUrl}/api/msg`, apiKey, maxRetries: 0 });

  async function complete(question: Question, messages: Anthropic.MessageParam[]): Promise<Answer> {
    const body = {
      model: question.model,
      max_tokens: MAX_TOKENS,
      messages,
      ...(question.tools ? { tools: [{ name: NAME, description: DESCRIPTION, input_schema: SCHEMA }] } : {}),
      ...(question.thinking ? { thinking: { type: "enabled" as const, budget_tokens: BUDGET } } : {}),
      ...(question.settings ? { temperature: 0, top_p: 1 } : {}),
    };
    const { content } = question.stream
      ? await client.messages.stream(body).finalMessage()
      : await client.messages.create(body);
    const uses = content.filter((block) => block.type === "tool_use");
    return {
      words: content.map((block) => (block.type === "text" ? block.text : "")).join(""),
      thoughts: content.map((block) => (block.type === "thinking" ? block.thinking : "")).join(""),
      calls: uses.map(({ name, input }) => ({ name, input })),
      followUp: (result, memory = "kept") => {
        const results = uses.map(({ id }) => ({ type: "tool_result" as const, tool_use_id: id, content: result }));
        const sent = content.filter((block) => memory === "kept" || !block.type.endsWith("thinking"));
        return complete(question, [
          ...messages,
          { role: "assistant", content: sent },
          { role: "user", content: results },
        ]);
      },
    };
  }

  return {
    dialect: "messages",
    ask: (question) => complete(question, [{ role: "user", content: question.text }]),
    statusOf: (error) => (error instanceof Anthropic.APIError ? (error.status as number | undefined) : undefined),
  };
}

function genaiClient(gatewayUrl: string, apiKey: string): ProtocolClient {
  const client = new GoogleGenAI({
    vertexai: true,
    apiKey,
    httpOptions: { baseUrl: `${gatewayUrl}/api/genai`, apiVersion: "v1" },
  });

  async function complete(question: Question, contents: Content[]): Promise<Answer> {
    const declaration = { name: NAME, description: DESCRIPTION, parametersJsonSchema: SCHEMA };
    const request = {
      model: question.model,
      contents,
      config: {
        ...(question.tools ? { tools: [{ functionDeclarations: [declaration] }] } : {}),
        ...(question.thinking ? { thinkingConfig: { includeThoughts: true, thinkingBudget: BUDGET } } : {}),
        ...(question.settings ? { temperature: 0, topP: 1, maxOutputTokens: MAX_TOKENS } : {}),
      },
    };
    const parts: Part[] = [];
    if (question.stream) {
      let finished = false;
      for await (const { candidates } of await client.models.generateContentStream(request)) {
        finished ||= candidates?.[0]?.finishReason !== undefined;
        parts.push(...(candidates?.[0]?.content?.parts ?? []));
      }
      if (!finished) throw new Error("the stream ended without a finish reason");
    } else {
      const { candidates } = await client.models.generateContent(request);
      parts.push(...(candidates?.[0]?.content?.parts ?? []));
    }
    const calls = parts.flatMap(({ functionCall }) => (functionCall ? [functionCall] : []));
    return {
      words: parts.map((part) => (part.thought ? "" : (part.text ?? ""))).join(""),
      thoughts: parts.map((part) => (part.thought ? (part.text ?? "") : "")).join(""),
      calls: calls.map(({ name = "", args }) => ({ name, input: args })),
      followUp: (output, memory = "kept") => {
        const forgetful = parts.flatMap(({ thought, thoughtSignature: _, ...part }) => (thought ? [] : [part]));
        const sent = memory === "kept" ? parts : forgetful;
        const results = calls.map(({ id, name = "" }) => ({
          functionResponse: withoutAbsent({ name, response: { output }, id }),
        }));
        return complete(question, [...contents, { role: "model", parts: sent }, { role: "user", parts: results }]);
      },
    };
  }

  return {
    dialect: "genai",
    ask: (question) => complete(question, [{ role: "user", parts: [{ text: question.text }] }]),
    statusOf: (error) => (error instanceof ApiError ? error.status : undefined),
  };
}

/** Keeps the items itself, and sends all of them each time. */
function responsesClient(gatewayUrl: string, apiKey: string): ProtocolClient {
  const client = new OpenAI({ baseURL: `${gatewayUrl}/api/v1`, apiKey, maxRetries: 0 });
  type Item = OpenAI.Responses.ResponseInputItem;

  async function complete(question: Question, input: Item[]): Promise<Answer> {
    const body = {
      model: question.model,
      input,
      store: false,
      ...(question.tools
        ? {
            tools: [
              { type: "function" as const, name: NAME, description: DESCRIPTION, parameters: SCHEMA, strict: false },
            ],
          }
        : {}),
      ...(question.thinking ? { reasoning: { effort: "high" as const, summary: "auto" as const } } : {}),
      ...(question.settings ? { temperature: 0, top_p: 1, max_output_tokens: MAX_TOKENS } : {}),
    };
    const answer: OpenAI.Responses.Response = question.stream
      ? await client.responses.stream(body).finalResponse()
      : await client.responses.create(body);
    const { output, output_text: words } = answer;
    const calls = output.flatMap((item) => (item.type === "function_call" ? [item] : []));
    const thoughts = output.flatMap((item) => (item.type === "reasoning" ? item.summary : []));
    return {
      words,
      thoughts: thoughts.map(({ text }) => text).join(""),
      calls: calls.map(({ name, arguments: written }) => ({ name, input: JSON.parse(written) as unknown })),
      followUp: (text, memory = "kept") => {
        const results = calls.map(({ call_id }) => ({ type: "function_call_output" as const, call_id, output: text }));
        const sent = output.filter(({ type }) => memory === "kept" || type !== "reasoning");
        // The streaming helper adds what it parsed, which is not part of the protocol.
        const items = JSON.parse(JSON.stringify(sent), (key, value: unknown) =>
          key === "parsed_arguments" ? undefined : value,
        ) as Item[];
        return complete(question, [...input, ...items, ...results]);
      },
    };
  }

  return {
    dialect: "responses",
    ask: (question) => complete(question, [{ role: "user", content: question.text }]),
    statusOf: (error) => (error instanceof OpenAI.APIError ? (error.status as number | undefined) : undefined),
  };
}
