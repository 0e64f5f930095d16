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

/** The number of calls, and the history with them. */
async function runTools(asked, ask, before = []) {
  const tooled = client(model, thinking).bindTools([definition]);
  const history = [...before, new HumanMessage(asked)];
  const answer = count(await ask(tooled, history));
  for (const call of answer.tool_calls) report.tool(call.name);
  const results = answer.tool_calls.map(({ id }) => new ToolMessage({ content: "Sunny in Paris", tool_call_id: id }));
  history.push(answer, ...results);
  const ended = count(await ask(tooled, history));
  assert.match(ended.text, /Sunny in Paris/);
  return { called: answer.tool_calls.length, history: [...history, ended] };
}

const toldBy = ({ additional_kwargs, response_metadata }) =>
  additional_kwargs.refusal || `${response_metadata.status}: ${JSON.stringify(response_metadata.incomplete_details)}`;
const image = { type: "image_url", image_url: { url: `data:image/png;base64,${report.PIXEL}` } };
const look = new HumanMessage({ content: [{ type: "text", text: report.LOOK }, image] });
for (const [kind, ask] of [
  ["", whole],
  [", streamed", streamed],
]) {
  const first = await runTools(WEATHER, ask);
  report.showCase(`a tool${kind}`, first.called === 1);
  const both = await runTools(report.TWO_CITIES, ask, first.history);
  report.showCase(`tools in parallel${kind}`, both.called === 2);
  const third = await runTools(WEATHER, ask, both.history);
  report.showCase(`thinking over turns${kind}`, third.called === 1);
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
const structured = client(model, thinking).withStructuredOutput(city, { method: "jsonSchema", includeRaw: true });
const described = await structured.invoke(report.DESCRIBE);
count(described.raw);
report.showCase("structured output", typeof described.parsed.name === "string", described);
const pieces = {};
for await (const { raw, parsed } of await structured.stream(report.DESCRIBE)) {
  if (raw !== undefined) pieces.raw = pieces.raw?.concat(raw) ?? raw;
  if (parsed !== undefined) pieces.parsed = parsed;
}
count(pieces.raw);
report.showCase("structured output, streamed", typeof pieces.parsed?.name === "string", pieces);
await report.error("broken", async () => {
  for await (const _ of await client(brokenModel).stream(HELLO));
});
await report.error("refused", () => client(UNKNOWN_MODEL).invoke(HELLO));
const failure = await report.error("failed", () => client(report.failingModel).invoke(HELLO));
report.showCase("error by its kind", failure?.status === 429, failure);
const failureStreamed = await report.error("failed, streamed", async () => {
  for await (const _ of await client(report.failingModel).stream(HELLO));
});
report.showCase("error by its kind, streamed", failureStreamed?.status === 429, failureStreamed);
report.show();
