import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { createOpenAI } from "@ai-sdk/openai";
import { generateText, jsonSchema, Output, stepCountIs, streamText, tool } from "ai";
import { RESPONSES_KINDS } from "./responses-clients.ts";
import { type SimulatedGateway, startSimulatedGateway } from "./support.ts";

const city = jsonSchema<{ city: string }>({
  type: "object",
  properties: { city: { type: "string" } },
  required: ["city"],
  additionalProperties: false,
});
const lookUp = (what: string) =>
  tool({
    description: `Looks up ${what} for a city.`,
    inputSchema: city,
    execute: ({ city: where }) => `${what} of ${where}`,
  });
const tools = { get_weather: lookUp("weather"), get_time: lookUp("time") };

/** The package warns on the console about every model name it does not know. */
Reflect.set(globalThis, "AI_SDK_LOG_WARNINGS", false);

let harness: SimulatedGateway;
beforeAll(async () => {
  harness = await startSimulatedGateway();
});
afterAll(() => harness.stop());

const model = (name: string) =>
  createOpenAI({ baseURL: `${harness.gateway.url}/v1`, apiKey: harness.gateway.key })(name);

for (const kind of RESPONSES_KINDS) {
  describe(`ai 6, openai("${kind}/…")`, () => {
    const asking = (prompt: string, name = "standard") => ({
      model: model(`${kind}/${name}`),
      system: "Be brief.",
      prompt,
      maxRetries: 0,
    });

    test("a response, streamed or not", async () => {
      const { text, finishReason, usage } = await generateText(asking("Where do three roads meet?"));
      expect(text).toContain("Where do three roads meet?");
      expect(finishReason).toBe("stop");
      expect(usage.outputTokens).toBeGreaterThan(0);
      expect(await streamText(asking("Where do three roads meet?")).text).toBe(text);
    });

    test("its tool loop runs to the end, with parallel calls", async () => {
      const prompt = "Call get_weather and get_time in parallel for Lisbon.";
      const looped = await generateText({ ...asking(prompt), tools, stopWhen: stepCountIs(4) });
      expect(looped.steps[0]?.toolCalls.length).toBe(2);
      expect(looped.text).toContain("get_weather answered “weather of Lisbon”");
      const streamed = streamText({ ...asking(prompt), tools, stopWhen: stepCountIs(4) });
      expect(await streamed.text).toContain("get_time answered “time of Lisbon”");
    });

    test("H02: with store false, thoughts are returned in the loop to a model that requires them", async () => {
      const options = {
        openai: { store: false, reasoningEffort: "low", reasoningSummary: "auto", forceReasoning: true },
      };
      const looped = await generateText({
        ...asking("Please use get_weather for Lisbon.", "strict-thinker"),
        tools,
        stopWhen: stepCountIs(4),
        providerOptions: options,
      });
      expect(looped.text).toContain("get_weather answered “weather of Lisbon”");
    });

    test("H02: by default it refers to its thoughts instead of repeating them, and the gateway has stored them", async () => {
      const looped = await generateText({
        ...asking("Please use get_weather for Lisbon.", "strict-thinker"),
        tools,
        stopWhen: stepCountIs(4),
        providerOptions: { openai: { reasoningEffort: "low", reasoningSummary: "auto", forceReasoning: true } },
      });
      expect(looped.text).toContain("get_weather answered “weather of Lisbon”");
      const body = JSON.stringify(looped.steps.at(-1)?.request.body);
      if (kind !== "gemini") expect(body).toContain("item_reference");
    });

    test("an object by its schema", async () => {
      const { output } = await generateText({ ...asking("Name a city."), output: Output.object({ schema: city }) });
      expect(output).toMatchObject({ city: expect.any(String) });
    });

    test("R1: a stream that breaks off is an error", async () => {
      const errors: unknown[] = [];
      const broken = streamText({
        ...asking("Hello", "cut-mid-stream"),
        onError: ({ error }) => void errors.push(error),
      });
      await broken.consumeStream();
      expect(errors.length).toBe(1);
    });

    test("a response truncated by its limit", async () => {
      expect((await generateText(asking("Tell a story.", "max-tokens"))).finishReason).toBe("length");
    });
  });
}
