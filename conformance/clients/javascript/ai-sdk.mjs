import { generateText, jsonSchema, streamText, tool as toolOf } from "ai";
import { addChunk, HELLO, key, model, show, tokens, tool, url, WEATHER, WEATHER_SCHEMA } from "./report.mjs";

const MODELS = {
  openai: async () => {
    const { createOpenAI } = await import("@ai-sdk/openai");
    return createOpenAI({ baseURL: `${url}/v1`, apiKey: key }).chat(model);
  },
  "openai-compatible": async () => {
    const { createOpenAICompatible } = await import("@ai-sdk/openai-compatible");
    return createOpenAICompatible({ name: "trivium", baseURL: `${url}/v1`, apiKey: key, includeUsage: true })(model);
  },
  anthropic: async () => {
    const { createAnthropic } = await import("@ai-sdk/anthropic");
    return createAnthropic({ baseURL: `${url}/v1`, apiKey: key })(model);
  },
  google: async () => {
    const { createGoogleGenerativeAI } = await import("@ai-sdk/google");
    return createGoogleGenerativeAI({ baseURL: `${url}/v1beta`, apiKey: key })(model);
  },
};

const options = { model: await MODELS[process.env.AI_SDK_PROVIDER](), maxOutputTokens: 400 };
const streamed = streamText({ ...options, prompt: HELLO });
for await (const text of streamed.textStream) addChunk(text);
const usage = await streamed.usage;
tokens(usage.inputTokens, usage.outputTokens);
const get_weather = toolOf({ description: "Tells the weather of a city.", inputSchema: jsonSchema(WEATHER_SCHEMA) });
const answer = await generateText({ ...options, prompt: WEATHER, tools: { get_weather } });
for (const call of answer.toolCalls) tool(call.toolName);
tokens(answer.usage.inputTokens, answer.usage.outputTokens);
show();
