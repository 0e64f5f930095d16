import { addChunk, HELLO, key, model, show, tokens, tool, url, WEATHER, WEATHER_SCHEMA } from "./report.mjs";

const CLIENTS = {
  openai: async () => {
    const { ChatOpenAI } = await import("@langchain/openai");
    return new ChatOpenAI({ model, apiKey: key, maxTokens: 400, configuration: { baseURL: `${url}/v1` } });
  },
  anthropic: async () => {
    const { ChatAnthropic } = await import("@langchain/anthropic");
    return new ChatAnthropic({ model, apiKey: key, maxTokens: 400, anthropicApiUrl: url });
  },
  google: async () => {
    const { ChatGoogleGenerativeAI } = await import("@langchain/google-genai");
    return new ChatGoogleGenerativeAI({ model, apiKey: key, maxOutputTokens: 400, baseUrl: url });
  },
};

const client = await CLIENTS[process.env.LANGCHAIN_PROVIDER]();
let whole;
for await (const chunk of await client.stream(HELLO)) {
  addChunk(chunk.text);
  whole = whole === undefined ? chunk : whole.concat(chunk);
}
tokens(whole.usage_metadata?.input_tokens, whole.usage_metadata?.output_tokens);
const definition = { name: "get_weather", description: "Tells the weather of a city.", schema: WEATHER_SCHEMA };
const answer = await client.bindTools([definition]).invoke(WEATHER);
for (const call of answer.tool_calls) tool(call.name);
tokens(answer.usage_metadata?.input_tokens, answer.usage_metadata?.output_tokens);
show();
