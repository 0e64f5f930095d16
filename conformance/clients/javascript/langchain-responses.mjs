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
const count = (message) => {
  report.tokens(message.usage_metadata?.input_tokens, message.usage_metadata?.output_tokens);
  return message;
};
const whole = (chat, messages) => chat.invoke(messages);
async function streamed(chat, messages, see = () => {}) {
  let answer;
  for await (const chunk of await chat.stream(messages)) {
    see(chunk.text);
    answer = answer === undefined ? chunk : answer.concat(chunk);
  }
  return answer;
}

count(await streamed(client(model, thinking), HELLO, report.addChunk));
const definition = { name: "get_weather", description: "Tells the weather of a city.", schema: WEATHER_SCHEMA };

async function runTools(asked, ask) {
  const tooled = client(model, thinking).bindTools([definition]);
  const question = new HumanMessage(asked);
  const answer = count(await ask(tooled, [question]));
  for (const call of answer.tool_calls) report.tool(call.name);
  const results = answer.tool_calls.map(({ id }) => new ToolMessage({ content: "Sunny in Paris", tool_call_id: id }));
  const ended = count(await ask(tooled, [question, answer, ...results]));
  assert.match(ended.text, /Sunny in Paris/);
  return answer.tool_calls.length;
}

const toldBy = ({ additional_kwargs, response_metadata }) =>
  additional_kwargs.refusal || `${response_metadata.status}: ${JSON.stringify(response_metadata.incomplete_details)}`;
const image = { type: "image_url", image_url: { url: `data:image/png;base64,${report.PIXEL}` } };
const look = new HumanMessage({ content: [{ type: "text", text: report.LOOK }, image] });
for (const [kind, ask] of [
  ["", whole],
  [", streamed", streamed],
]) {
  report.showCase(`a tool${kind}`, (await runTools(WEATHER, ask)) === 1);
  report.showCase(`tools in parallel${kind}`, (await runTools(report.TWO_CITIES, ask)) === 2);
  const seen = count(await ask(client(model, thinking), [look]));
  report.showCase(`image${kind}`, /image/i.test(seen.text), seen.text);
  await report.decline(`refusal${kind}`, async () => toldBy(await ask(client(report.refusingModel), HELLO)));
}
const city = {
  title: "City",
  type: "object",
  properties: { name: { type: "string" }, inhabitants: { type: "integer" } },
  required: ["name", "inhabitants"],
  additionalProperties: false,
};
const described = await client(model, thinking)
  .withStructuredOutput(city, { method: "jsonSchema", includeRaw: true })
  .invoke(report.DESCRIBE);
count(described.raw);
report.showCase("structured output", typeof described.parsed.name === "string", described);
await report.error("broken", async () => {
  for await (const _ of await client(brokenModel).stream(HELLO));
});
await report.error("refused", () => client(UNKNOWN_MODEL).invoke(HELLO));
const failure = await report.error("failed", () => client(report.failingModel).invoke(HELLO));
report.showCase("error by its kind", failure?.status === 429, failure);
report.show();
