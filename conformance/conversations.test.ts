import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import Anthropic from "@anthropic-ai/sdk";
import { GoogleGenAI } from "@google/genai";
import OpenAI from "openai";
import { type Simulator, startSimulator } from "../simulator/simulator.ts";
import { SCRIPTED_DIALECTS, type ScriptedDialect } from "../testing/sampled-dialects.ts";
import { simulatedProviders, startTestGateway, type TestGateway } from "./support/test-gateway.ts";

/**
 * Conversations with tools and thinking, on every pair of client and upstream protocol. The simulator refuses a
 * history whose thoughts or signatures are missing, foreign or altered, so a response in the fourth turn proves that
 * everything was returned unchanged (H01, H02).
 */

const SCHEMA = { type: "object" as const, properties: { city: { type: "string" } }, required: ["city"] };
const TOOLS = ["get_weather", "get_time"];

interface Step {
  text: string;
  thought: string;
  calls: { id: string; name: string; args: unknown }[];
  receipt: string;
}

/** A client of one protocol that keeps its history as its SDK returns it. */
interface Client {
  say(text: string): Promise<Step>;
  /** Answers every call of the step before. */
  answer(): Promise<Step>;
  /** Changes one character of the last opaque value in the history. */
  forge(): void;
  model: string;
}

let simulator: Simulator;
let gateway: TestGateway;
let lastReceipt = "";

const watched: typeof fetch = Object.assign(
  async (...request: Parameters<typeof fetch>) => {
    const response = await fetch(...request);
    lastReceipt = response.headers.get("x-trivium-receipt") ?? "";
    return response;
  },
  { preconnect: fetch.preconnect },
);

const forged = (value: string): string => {
  const middle = Math.floor(value.length / 2);
  return value.slice(0, middle) + (value[middle] === "A" ? "B" : "A") + value.slice(middle + 1);
};

// biome-ignore lint/suspicious/noExplicitAny: a history is whatever the SDK gave, with the fields that its types do not name
type Json = any;

/** Replaces the last string under one of these keys, wherever it occurs. */
function forgeLast(history: Json, keys: readonly string[]): void {
  let last: (() => void) | undefined;
  const walk = (value: Json): void => {
    if (typeof value !== "object" || value === null) return;
    for (const [key, inner] of Object.entries(value)) {
      if (keys.includes(key) && typeof inner === "string") {
        last = () => {
          value[key] = forged(inner);
        };
      } else walk(inner);
    }
  };
  walk(history);
  if (!last) throw new Error("there is nothing to forge");
  last();
}

function chatClient(model: string, stream: boolean): Client {
  const sdk = new OpenAI({ baseURL: `${gateway.url}/api/v1`, apiKey: gateway.key, maxRetries: 0, fetch: watched });
  const messages: Json[] = [];
  let calls: Step["calls"] = [];
  const tools = TOOLS.map((name) => ({ type: "function" as const, function: { name, parameters: SCHEMA } }));
  const client: Client = {
    model,
    forge: () => forgeLast(messages, ["signature", "data"]),
    say: (text) => {
      messages.push({ role: "user", content: text });
      return next();
    },
    answer: () => {
      for (const { id, name } of calls) messages.push({ role: "tool", tool_call_id: id, content: `${name} says so` });
      return next();
    },
  };
  async function next(): Promise<Step> {
    const body: Json = { model: client.model, messages, tools, reasoning: { effort: "low" } };
    const message: Json = stream ? await streamed(body) : (await sdk.chat.completions.create(body)).choices[0]?.message;
    messages.push(message);
    calls = (message.tool_calls ?? []).map((call: Json) => ({
      id: call.id,
      name: call.function.name,
      args: JSON.parse(call.function.arguments),
    }));
    return { text: message.content ?? "", thought: message.reasoning ?? "", calls, receipt: lastReceipt };
  }
  async function streamed(body: Json): Promise<Json> {
    const message: Json = { role: "assistant", content: "", reasoning: "", reasoning_details: [], tool_calls: [] };
    const chunks: Json = await sdk.chat.completions.create({ ...body, stream: true });
    for await (const chunk of chunks) {
      const delta = chunk.choices[0]?.delta ?? {};
      message.content += delta.content ?? "";
      message.reasoning += delta.reasoning ?? "";
      message.reasoning_details.push(...(delta.reasoning_details ?? []));
      for (const call of delta.tool_calls ?? []) {
        message.tool_calls[call.index] ??= {
          id: call.id,
          type: "function",
          function: { name: call.function.name, arguments: "" },
        };
        message.tool_calls[call.index].function.arguments += call.function.arguments ?? "";
      }
    }
    if (message.tool_calls.length === 0) delete message.tool_calls;
    return message;
  }
  return client;
}

function messagesClient(model: string, stream: boolean): Client {
  const sdk = new Anthropic({ baseURL: `${gateway.url}/api/msg`, apiKey: gateway.key, maxRetries: 0, fetch: watched });
  const messages: Json[] = [];
  let calls: Step["calls"] = [];
  const client: Client = {
    model,
    forge: () => forgeLast(messages, ["signature", "data"]),
    say: (text) => {
      messages.push({ role: "user", content: text });
      return next();
    },
    answer: () => {
      const content = calls.map(({ id, name }) => ({
        type: "tool_result",
        tool_use_id: id,
        content: `${name} says so`,
      }));
      messages.push({ role: "user", content });
      return next();
    },
  };
  async function next(): Promise<Step> {
    const body: Json = {
      model: client.model,
      max_tokens: 8000,
      messages,
      tools: TOOLS.map((name) => ({ name, input_schema: SCHEMA })),
      thinking: { type: "enabled", budget_tokens: 1024 },
    };
    const { content }: Json = stream ? await sdk.messages.stream(body).finalMessage() : await sdk.messages.create(body);
    messages.push({ role: "assistant", content });
    const of = (type: string) => content.filter((block: Json) => block.type === type);
    calls = of("tool_use").map((block: Json) => ({ id: block.id, name: block.name, args: block.input }));
    return {
      text: of("text")
        .map((block: Json) => block.text)
        .join(""),
      thought: of("thinking")
        .map((block: Json) => block.thinking)
        .join(""),
      calls,
      receipt: lastReceipt,
    };
  }
  return client;
}

function genaiClient(model: string, stream: boolean): Client {
  const sdk = new GoogleGenAI({
    vertexai: true,
    apiKey: gateway.key,
    httpOptions: { baseUrl: `${gateway.url}/api/genai`, apiVersion: "v1" },
  });
  const contents: Json[] = [];
  let calls: Step["calls"] = [];
  const client: Client = {
    model,
    forge: () => forgeLast(contents, ["thoughtSignature"]),
    say: (text) => {
      contents.push({ role: "user", parts: [{ text }] });
      return next();
    },
    answer: () => {
      const parts = calls.map(({ id, name }) => ({
        functionResponse: { id, name, response: { output: `${name} says so` } },
      }));
      contents.push({ role: "user", parts });
      return next();
    },
  };
  async function next(): Promise<Step> {
    const request: Json = {
      model: client.model,
      contents,
      config: {
        tools: [{ functionDeclarations: TOOLS.map((name) => ({ name, parametersJsonSchema: SCHEMA })) }],
        thinkingConfig: { includeThoughts: true, thinkingBudget: 1024 },
      },
    };
    let parts: Json[] = [];
    if (stream) {
      for await (const chunk of await sdk.models.generateContentStream(request)) {
        parts.push(...(chunk.candidates?.[0]?.content?.parts ?? []));
      }
    } else parts = (await sdk.models.generateContent(request)).candidates?.[0]?.content?.parts ?? [];
    contents.push({ role: "model", parts });
    calls = parts.flatMap(({ functionCall: call }) =>
      call ? [{ id: call.id, name: call.name, args: call.args }] : [],
    );
    const join = (thought: boolean) =>
      parts.map((part) => (Boolean(part.thought) === thought ? (part.text ?? "") : "")).join("");
    return { text: join(false), thought: join(true), calls, receipt: lastReceipt };
  }
  return client;
}

function responsesClient(model: string, stream: boolean): Client {
  const sdk = new OpenAI({ baseURL: `${gateway.url}/api/v1`, apiKey: gateway.key, maxRetries: 0, fetch: watched });
  const input: Json[] = [];
  let calls: Step["calls"] = [];
  const tools = TOOLS.map((name) => ({ type: "function" as const, name, parameters: SCHEMA, strict: false }));
  const client: Client = {
    model,
    forge: () => forgeLast(input, ["encrypted_content"]),
    say: (content) => {
      input.push({ role: "user", content });
      return next();
    },
    answer: () => {
      for (const { id, name } of calls)
        input.push({ type: "function_call_output", call_id: id, output: `${name} says so` });
      return next();
    },
  };
  async function next(): Promise<Step> {
    const body: Json = {
      model: client.model,
      input,
      tools,
      store: false,
      reasoning: { effort: "low", summary: "auto" },
    };
    const answer: Json = stream ? await sdk.responses.stream(body).finalResponse() : await sdk.responses.create(body);
    // The helper adds what it parsed, which is not part of the protocol.
    const output: Json[] = answer.output.map(({ parsed_arguments: _parsed, ...item }: Json) => item);
    input.push(...output);
    const of = (type: string) => output.filter((item) => item.type === type);
    calls = of("function_call").map((item) => ({
      id: item.call_id,
      name: item.name,
      args: JSON.parse(item.arguments),
    }));
    const textsOf = (parts: Json[]) => parts.map(({ text }) => text ?? "").join("");
    return {
      text: of("message")
        .map(({ content }) => textsOf(content))
        .join(""),
      thought: of("reasoning")
        .map(({ summary }) => textsOf(summary))
        .join(""),
      calls,
      receipt: lastReceipt,
    };
  }
  return client;
}

const CLIENTS: Record<ScriptedDialect, (model: string, stream: boolean) => Client> = {
  chat: chatClient,
  messages: messagesClient,
  genai: genaiClient,
  responses: responsesClient,
};

beforeAll(async () => {
  simulator = await startSimulator({ tokenDelayMs: 0 });
  gateway = await startTestGateway({
    config: {
      providers: {
        ...simulatedProviders(simulator.url),
      },
      models: SCRIPTED_DIALECTS.flatMap((dialect) =>
        ["strict-thinker", "thinker"].map((model) => ({
          id: `${dialect}/${model}`,
          reasoning: true,
          max_output_tokens: 64_000,
          pricings: {},
          offers: [{ provider: `at-${dialect}`, model, dialect }],
        })),
      ),
    },
  });
});
afterAll(async () => {
  await gateway.stop();
  await simulator.stop();
});

for (const client of SCRIPTED_DIALECTS) {
  for (const upstream of SCRIPTED_DIALECTS) {
    for (const stream of [false, true]) {
      describe(`a ${client} client, a ${upstream} model${stream ? ", streamed" : ""}`, () => {
        const open = (model = "strict-thinker") => CLIENTS[client](`${upstream}/${model}`, stream);

        test("H01, H02: four turns with tools and thinking", async () => {
          const talk = open();
          const first = await talk.say("Please use get_weather for Lisbon.");
          expect(first.calls).toMatchObject([{ name: "get_weather", args: { city: "Lisbon" } }]);
          expect(first.thought).not.toBe("");
          const second = await talk.answer();
          expect(second.text).toContain("get_weather answered “get_weather says so”");
          const third = await talk.say("Now call get_weather and get_time in parallel for Porto.");
          expect(third.calls).toMatchObject([
            { name: "get_weather", args: { city: "Porto" } },
            { name: "get_time", args: { city: "Porto" } },
          ]);
          expect(new Set(third.calls.map(({ id }) => id)).size).toBe(2);
          const fourth = await talk.answer();
          expect(fourth.text).toContain("get_weather answered “get_weather says so”");
          expect(fourth.text).toContain("get_time answered “get_time says so”");
        });

        // The simulator's chat host signs nothing, like most of them.
        if (upstream !== "chat")
          test("an altered signature is a client error", async () => {
            const talk = open();
            await talk.say("Please use get_weather for Lisbon.");
            talk.forge();
            await expect(talk.answer()).rejects.toThrow();
          });

        test("a conversation moves to a model of another family: its thoughts are dropped, and the receipt says so", async () => {
          const talk = open();
          await talk.say("Please use get_weather for Lisbon.");
          await talk.answer();
          for (const other of SCRIPTED_DIALECTS.filter((dialect) => dialect !== upstream)) {
            talk.model = `${other}/thinker`;
            const moved = await talk.say("Please use get_time for Lisbon.");
            expect(moved.calls).toMatchObject([{ name: "get_time" }]);
            if (client !== "genai") {
              const { fields } = await gateway.receipt(
                new Response(null, { headers: { "x-trivium-receipt": moved.receipt } }),
              );
              expect(fields.length).toBeGreaterThan(0);
            }
            expect((await talk.answer()).text).toContain("get_time answered “get_time says so”");
          }
        });
      });
    }
  }
}
