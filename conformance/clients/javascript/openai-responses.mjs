import assert from "node:assert";
import OpenAI from "openai";
import { zodTextFormat } from "openai/helpers/zod";
import { z } from "zod";
import * as report from "./report.mjs";
import { brokenModel, HELLO, key, model, UNKNOWN_MODEL, url, WEATHER, WEATHER_SCHEMA } from "./report.mjs";

const client = new OpenAI({ baseURL: `${url}/v1`, apiKey: key, maxRetries: 0 });
const options = { model, max_output_tokens: 2000, reasoning: { effort: "low", summary: "auto" } };
const parameters = { ...WEATHER_SCHEMA, additionalProperties: false };
const tools = [{ type: "function", name: "get_weather", parameters, strict: true }];
const count = (answer) => {
  report.tokens(answer.usage.input_tokens, answer.usage.output_tokens);
  return answer;
};

const stream = client.responses.stream({ ...options, input: HELLO });
stream.on("response.output_text.delta", ({ delta }) => report.addChunk(delta));
count(await stream.finalResponse());

const whole = async (request) => count(await client.responses.create({ ...options, ...request }));
const streamed = async (request) => count(await client.responses.stream({ ...options, ...request }).finalResponse());

/** A loop over the whole history, which it gives back with the number of calls. */
async function runTools(content, ask, before = []) {
  const input = [...before, { role: "user", content }];
  const answer = await ask({ input, tools });
  const calls = answer.output.filter(({ type }) => type === "function_call");
  for (const { name } of calls) report.tool(name);
  const results = calls.map(({ call_id }) => ({ type: "function_call_output", call_id, output: "Sunny in Paris" }));
  // The helper adds what it parsed to the items, which no host takes.
  const saidBy = ({ output }) =>
    output.map(({ parsed_arguments: _arguments, ...item }) => ({
      ...item,
      ...(item.type === "message" && { content: item.content.map(({ parsed: _text, ...part }) => part) }),
    }));
  input.push(...saidBy(answer), ...results);
  const ended = await ask({ input, tools });
  const text = ended.output.flatMap(({ content: parts = [] }) => parts.map(({ text: part }) => part ?? "")).join("");
  assert.match(text, /Sunny in Paris/);
  return { called: calls.length, history: [...input, ...saidBy(ended)] };
}

const format = zodTextFormat(z.object({ name: z.string(), inhabitants: z.number() }), "city");
const image = { type: "input_image", detail: "auto", image_url: `data:image/png;base64,${report.PIXEL}` };
const look = [{ role: "user", content: [{ type: "input_text", text: report.LOOK }, image] }];
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
  const seen = await ask({ input: look });
  report.showCase(`image${kind}`, /image/i.test(JSON.stringify(seen.output)), seen);
}
const parsed = await client.responses.parse({ ...options, input: report.DESCRIBE, text: { format } });
count(parsed);
report.showCase("structured output", typeof parsed.output_parsed.name === "string", parsed);
const parsedStream = await streamed({ input: report.DESCRIBE, text: { format } });
report.showCase("structured output, streamed", typeof parsedStream.output_parsed.name === "string", parsedStream);

const toldBy = ({ output, status, incomplete_details }) =>
  output.flatMap(({ content = [] }) => content.map(({ refusal = "" }) => refusal)).join(" ") ||
  `${status}: ${incomplete_details?.reason}`;
const refused = { model: report.refusingModel, input: HELLO };
await report.decline("refusal", async () => toldBy(await client.responses.create(refused)));
await report.decline("refusal, streamed", async () => {
  let last;
  for await (const event of await client.responses.create({ ...refused, stream: true })) last = event;
  return toldBy(last.response);
});
await report.error("broken", async () => {
  for await (const _ of await client.responses.create({ model: brokenModel, input: HELLO, stream: true }));
});
await report.error("refused", () => client.responses.create({ model: UNKNOWN_MODEL, input: HELLO }));
const failure = await report.error("failed", () =>
  client.responses.create({ model: report.failingModel, input: HELLO }),
);
report.showCase("error by its kind", failure instanceof OpenAI.RateLimitError, failure);
const failureStreamed = await report.error("failed, streamed", async () => {
  for await (const _ of await client.responses.create({ model: report.failingModel, input: HELLO, stream: true }));
});
report.showCase("error by its kind, streamed", failureStreamed instanceof OpenAI.RateLimitError, failureStreamed);
report.show();
