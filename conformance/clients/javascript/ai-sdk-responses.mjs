import assert from "node:assert";
import { createOpenAI } from "@ai-sdk/openai";
import { generateText, jsonSchema, stepCountIs, streamText, tool as toolOf } from "ai";
import * as report from "./report.mjs";
import { brokenModel, HELLO, key, model, UNKNOWN_MODEL, url, WEATHER, WEATHER_SCHEMA } from "./report.mjs";

const sent = [];
const fetchAndKeep = (address, init) => {
  sent.push(init.body);
  return fetch(address, init);
};
const openai = createOpenAI({ baseURL: `${url}/v1`, apiKey: key, fetch: fetchAndKeep });
const thinking = { openai: { reasoningEffort: "low", reasoningSummary: "auto" } };
const options = { model: openai(model), maxOutputTokens: 2000, maxRetries: 0, providerOptions: thinking };
const streamed = streamText({ ...options, prompt: HELLO });
for await (const text of streamed.textStream) report.addChunk(text);
const usage = await streamed.usage;
report.tokens(usage.inputTokens, usage.outputTokens);

// Its own loop replays reasoning as references to stored items.
const get_weather = toolOf({
  description: "Tells the weather of a city.",
  inputSchema: jsonSchema(WEATHER_SCHEMA),
  execute: ({ city }) => {
    report.tool("get_weather");
    return `Sunny in ${city}`;
  },
});
const answer = await generateText({ ...options, prompt: WEATHER, tools: { get_weather }, stopWhen: stepCountIs(3) });
assert.equal(answer.steps.length, 2);
assert.match(answer.text, /Sunny in/);
assert.match(sent.at(-1), /"item_reference"/);
report.tokens(answer.totalUsage.inputTokens, answer.totalUsage.outputTokens);

const quiet = { maxRetries: 0, prompt: HELLO, onError: () => {} };
await report.error("broken", async () => {
  let failed;
  const broken = streamText({ ...quiet, model: openai(brokenModel), onError: ({ error }) => (failed = error) });
  await broken.consumeStream();
  if (failed !== undefined) throw failed;
});
await report.error("refused", () => generateText({ ...quiet, model: openai(UNKNOWN_MODEL) }));
report.show();
