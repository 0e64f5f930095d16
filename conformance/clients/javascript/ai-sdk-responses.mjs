import assert from "node:assert";
import { createOpenAI } from "@ai-sdk/openai";
import { generateText, jsonSchema, Output, stepCountIs, streamText, tool as toolOf } from "ai";
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
const whole = async (request) => {
  const answer = await generateText({ ...options, ...request });
  report.tokens(answer.totalUsage.inputTokens, answer.totalUsage.outputTokens);
  return answer;
};
const streamedWhole = async (request) => {
  let failed;
  const answer = streamText({ ...options, ...request, onError: ({ error }) => (failed = error) });
  await answer.consumeStream();
  if (failed !== undefined) throw failed;
  const total = await answer.totalUsage;
  report.tokens(total.inputTokens, total.outputTokens);
  const response = await answer.response;
  return { text: await answer.text, steps: await answer.steps, output: await answer.output, response };
};
const city = jsonSchema({
  type: "object",
  properties: { name: { type: "string" }, inhabitants: { type: "integer" } },
  required: ["name", "inhabitants"],
  additionalProperties: false,
});
const image = { type: "file", mediaType: "image/png", data: report.PIXEL };
const look = [{ role: "user", content: [{ type: "text", text: report.LOOK }, image] }];
for (const [kind, ask] of [
  ["", whole],
  [", streamed", streamedWhole],
]) {
  const loop = { tools: { get_weather }, stopWhen: stepCountIs(3) };
  const asked = { role: "user", content: WEATHER };
  const answer = await ask({ ...loop, messages: [asked] });
  report.showCase(`a tool${kind}`, answer.steps.length === 2 && /Sunny in/.test(answer.text), answer);
  assert.match(sent.at(-1), /"item_reference"/);
  const both = await ask({ ...loop, prompt: report.TWO_CITIES });
  report.showCase(`tools in parallel${kind}`, both.steps[0].toolCalls.length === 2, both.steps);
  const next = await ask({ ...loop, messages: [asked, ...answer.response.messages, asked] });
  report.showCase(`thinking over turns${kind}`, next.steps.length === 2 && /Sunny in/.test(next.text), next);
  const described = await ask({ prompt: report.DESCRIBE, output: Output.object({ schema: city }) });
  report.showCase(`structured output${kind}`, typeof described.output.name === "string", described.output);
  const seen = await ask({ messages: look });
  report.showCase(`image${kind}`, /image/i.test(seen.text), seen.text);
}

const quiet = { maxRetries: 0, prompt: HELLO, onError: () => {} };
await report.error("broken", async () => {
  let failed;
  const broken = streamText({ ...quiet, model: openai(brokenModel), onError: ({ error }) => (failed = error) });
  await broken.consumeStream();
  if (failed !== undefined) throw failed;
});
await report.error("refused", () => generateText({ ...quiet, model: openai(UNKNOWN_MODEL) }));
const refusing = { ...quiet, model: openai(report.refusingModel) };
await report.decline("refusal", async () => {
  const { text, finishReason } = await generateText(refusing);
  return `${finishReason} ${text}`;
});
await report.decline("refusal, streamed", async () => {
  const answer = streamText(refusing);
  await answer.consumeStream();
  return `${await answer.finishReason} ${await answer.text}`;
});
const failure = await report.error("failed", () => generateText({ ...quiet, model: openai(report.failingModel) }));
report.showCase("error by its kind", failure?.statusCode === 429, failure);
const failureStreamed = await report.error("failed, streamed", async () => {
  let failed;
  const answer = streamText({ ...quiet, model: openai(report.failingModel), onError: ({ error }) => (failed = error) });
  await answer.consumeStream();
  if (failed !== undefined) throw failed;
});
report.showCase("error by its kind, streamed", failureStreamed?.statusCode === 429, failureStreamed);
report.show();
