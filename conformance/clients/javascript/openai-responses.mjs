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
const count = ({ usage }) => report.tokens(usage.input_tokens, usage.output_tokens);

const stream = client.responses.stream({ ...options, input: HELLO });
stream.on("response.output_text.delta", ({ delta }) => report.addChunk(delta));
count(await stream.finalResponse());

/** A loop over the whole history. */
async function runTools(content) {
  const input = [{ role: "user", content }];
  const answer = await client.responses.create({ ...options, input, tools });
  count(answer);
  const calls = answer.output.filter(({ type }) => type === "function_call");
  for (const { name } of calls) report.tool(name);
  const results = calls.map(({ call_id }) => ({ type: "function_call_output", call_id, output: "Sunny in Paris" }));
  const ended = await client.responses.create({ ...options, input: [...input, ...answer.output, ...results], tools });
  assert.match(ended.output_text, /Sunny in Paris/);
  count(ended);
  return calls.length;
}
assert.equal(await runTools(WEATHER), 1);
assert.equal(await runTools("Use get_weather in parallel for Paris and Rome."), 2);

const format = zodTextFormat(z.object({ name: z.string(), inhabitants: z.number() }), "city");
const parsed = await client.responses.parse({ ...options, input: "Describe a city.", text: { format } });
assert.equal(typeof parsed.output_parsed.name, "string");
count(parsed);
const image = { type: "input_image", detail: "auto", image_url: `data:image/png;base64,${report.PIXEL}` };
const content = [{ type: "input_text", text: "What is this?" }, image];
const seen = await client.responses.create({ ...options, input: [{ role: "user", content }] });
assert.match(seen.output_text, /image/i);
count(seen);

await report.error("broken", async () => {
  for await (const _ of await client.responses.create({ model: brokenModel, input: HELLO, stream: true }));
});
await report.error("refused", () => client.responses.create({ model: UNKNOWN_MODEL, input: HELLO }));
report.show();
