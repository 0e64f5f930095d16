import assert from "node:assert";
import { HumanMessage, ToolMessage } from "@langchain/core/messages";
import { ChatOpenAI } from "@langchain/openai";
import * as report from "./report.mjs";
import { brokenModel, HELLO, key, model, UNKNOWN_MODEL, url, WEATHER, WEATHER_SCHEMA } from "./report.mjs";

const client = (name, options = {}) =>
  new ChatOpenAI({
    model: name,
    apiKey: key,
    maxTokens: 2000,
    maxRetries: 0,
    useResponsesApi: true,
    ...options,
    configuration: { baseURL: `${url}/v1` },
  });
const thinking = { reasoning: { effort: "low", summary: "auto" } };
const count = ({ usage_metadata }) => report.tokens(usage_metadata?.input_tokens, usage_metadata?.output_tokens);

let whole;
for await (const chunk of await client(model, thinking).stream(HELLO)) {
  report.addChunk(chunk.text);
  whole = whole === undefined ? chunk : whole.concat(chunk);
}
count(whole);
const definition = { name: "get_weather", description: "Tells the weather of a city.", schema: WEATHER_SCHEMA };
const tooled = client(model, thinking).bindTools([definition]);
const question = new HumanMessage(WEATHER);
const answer = await tooled.invoke([question]);
count(answer);
for (const call of answer.tool_calls) report.tool(call.name);
const results = answer.tool_calls.map(({ id }) => new ToolMessage({ content: "Sunny in Paris", tool_call_id: id }));
const ended = await tooled.invoke([question, answer, ...results]);
assert.match(ended.text, /Sunny in Paris/);
count(ended);
await report.error("broken", async () => {
  for await (const _ of await client(brokenModel).stream(HELLO));
});
await report.error("refused", () => client(UNKNOWN_MODEL).invoke(HELLO));
report.show();
