import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { generateText, jsonSchema, type ModelMessage, Output, stepCountIs, streamText, tool } from "ai";
import { AI_PROVIDERS, setupOf } from "./ai-sdk-models.ts";
import {
  expectUpstreamStopped,
  failureOf,
  receiptOf,
  type SimulatedGateway,
  startSimulatedGateway,
} from "./support.ts";
import { upstreamOf } from "./upstreams.ts";

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
const ONE_CALL = "Please use get_weather for Lisbon.";
const TWO_CALLS = "Call get_weather and get_time in parallel for Lisbon.";

const WEATHER_USED = /get_weather answered “[^”]*weather of Lisbon/;

/** The package warns on the console about every model name it does not know. */
Reflect.set(globalThis, "AI_SDK_LOG_WARNINGS", false);

let harness: SimulatedGateway;
beforeAll(async () => {
  harness = await startSimulatedGateway();
});
afterAll(() => harness.stop());

// The AI SDK has neither model lists nor a token count.
for (const { name, dialect, kind, thinkingKind, thinking, model } of AI_PROVIDERS) {
  describe(`ai 6, ${name}`, () => {
    const upstream = upstreamOf(kind, dialect);
    const asking = (prompt: string, modelName = "standard") => ({
      model: model(setupOf(harness), kind, modelName),
      system: "Be brief.",
      prompt,
      maxRetries: 0,
    });
    const thinker = (modelName: string) => ({
      model: model(setupOf(harness), thinkingKind, modelName),
      providerOptions: thinking,
      maxRetries: 0,
    });

    test("contract 2.13, 2.11, 2.7: a non-streamed response", async () => {
      const answer = await generateText(asking("Where do three roads meet?"));
      expect(answer.text).toContain("Where do three roads meet?");
      expect(answer.finishReason).toBe("stop");
      expect(answer.usage.inputTokens).toBeGreaterThan(0);
      expect(answer.usage.outputTokens).toBeGreaterThan(0);
    });

    test("sdks 3.1, 2.3, 1.5: a stream adds up to the same response, with its usage", async () => {
      const whole = await generateText(asking("Stream this, please."));
      const streamed = streamText(asking("Stream this, please."));
      expect(await streamed.text).toBe(whole.text);
      expect(await streamed.finishReason).toBe("stop");
      const { inputTokens, outputTokens } = await streamed.usage;
      expect({ inputTokens, outputTokens }).toEqual({
        inputTokens: whole.usage.inputTokens,
        outputTokens: whole.usage.outputTokens,
      });
    });

    test("sdks 1.4: a response truncated by its limit is marked as such", async () => {
      expect((await generateText(asking("Hi.", "max-tokens"))).finishReason).toBe("length");
      expect(await streamText(asking("Hi.", "max-tokens")).finishReason).toBe("length");
    });

    test("contract 2.12, 2.10, 2.6: the package's loop: a tool is called, its result sent back, the answer uses it", async () => {
      const answer = await generateText({ ...asking(ONE_CALL), tools, stopWhen: stepCountIs(3) });
      expect(answer.steps.map((step) => step.finishReason)).toEqual(["tool-calls", "stop"]);
      expect(answer.steps[0]?.toolCalls).toMatchObject([{ toolName: "get_weather", input: { city: "Lisbon" } }]);
      expect(answer.text).toMatch(WEATHER_USED);
    });

    test("sdks 3.1, 2.3, 1.5: the package's loop, streamed: each parallel call gets its own result", async () => {
      const streamed = streamText({ ...asking(TWO_CALLS), tools, stopWhen: stepCountIs(3) });
      const steps = await streamed.steps;
      expect(steps.map((step) => step.finishReason)).toEqual(["tool-calls", "stop"]);
      expect(steps[0]?.toolCalls.map((call) => call.toolName)).toEqual(["get_weather", "get_time"]);
      const text = await streamed.text;
      expect(text).toMatch(WEATHER_USED);
      expect(text).toMatch(/get_time answered “[^”]*time of Lisbon/);
    });

    test("sdks 3.1, contract 2.11, 2.8: reasoning is read, streamed or not", async () => {
      const whole = await generateText({ ...thinker("thinker"), prompt: "Think about it." });
      expect(whole.reasoningText).toContain("Think about it.");
      const streamed = streamText({ ...thinker("thinker"), prompt: "Think about it." });
      expect(await streamed.reasoningText).toBe(whole.reasoningText);
      expect(await streamed.text).toBe(whole.text);
    });

    test("contract 2.12, 2.10, 2.8: the package's loop: thoughts and signatures are returned with a tool's result, and a strict host accepts them", async () => {
      const asked = generateText({
        ...thinker("strict-thinker"),
        prompt: ONE_CALL,
        tools,
        stopWhen: stepCountIs(3),
      });
      if (dialect === "chat" && upstream.signs === "calls") {
        // This package does not send reasoning_details back. Models known to require their signatures get the
        // documented stand-in; for others the host's own refusal is returned.
        expect((await failureOf(asked)).message).toContain("thought_signature");
        return;
      }
      const whole = await asked;
      expect(whole.text).toMatch(WEATHER_USED);
      const streamed = streamText({ ...thinker("strict-thinker"), prompt: ONE_CALL, tools, stopWhen: stepCountIs(3) });
      expect(await streamed.text).toBe(whole.text);
    });

    // For translated forgeries see conversations.test.ts.
    if (upstream.native)
      test("contract 2.12, 2.10, 2.8: altered thoughts or signatures are reported as the upstream's 400", async () => {
        const first = await generateText({ ...thinker("strict-thinker"), prompt: ONE_CALL, tools });
        const messages: ModelMessage[] = [{ role: "user", content: ONE_CALL }, ...first.response.messages];
        const altered = JSON.parse(
          JSON.stringify(messages, (key, value) => (/signature$/i.test(key) ? `AAAA${String(value).slice(4)}` : value)),
        ) as ModelMessage[];
        // The chat protocol signs nothing: there the thoughts are dropped.
        const forgetful = altered.map((message) =>
          message.role === "assistant" && typeof message.content !== "string" && name.startsWith("openai")
            ? { ...message, content: message.content.filter((part) => part.type !== "reasoning") }
            : message,
        );
        const failure = await failureOf(generateText({ ...thinker("strict-thinker"), messages: forgetful, tools }));
        expect(failure).toMatchObject({ name: "AI_APICallError", statusCode: 400, isRetryable: false });
      });

    test("contract 2.12, 2.6, sdks 2.2: structured output follows its schema", async () => {
      const schema = jsonSchema<{ city: string; degrees: number; sunny: boolean }>({
        type: "object",
        properties: { city: { type: "string" }, degrees: { type: "integer" }, sunny: { type: "boolean" } },
        required: ["city", "degrees", "sunny"],
        additionalProperties: false,
      });
      const answer = await generateText({
        ...asking("The weather in Lisbon, as JSON."),
        output: Output.object({ schema }),
      });
      expect(answer.output).toEqual({
        city: expect.any(String),
        degrees: expect.any(Number),
        sunny: expect.any(Boolean),
      });
    });

    test("H13: an abort signal in mid-stream stops the upstream", async () => {
      await expectUpstreamStopped(harness, async () => {
        const controller = new AbortController();
        const streamed = streamText({ ...asking("A long story, please.", "slow"), abortSignal: controller.signal });
        const kinds: string[] = [];
        for await (const part of streamed.fullStream) {
          kinds.push(part.type);
          if (part.type === "text-delta") controller.abort();
        }
        expect(kinds).toContain("abort");
      });
    });

    test("choices 6: every response has a receipt", async () => {
      const whole = await generateText(asking("Receipt, please."));
      const receipt = await receiptOf(harness, whole.response.headers?.["x-trivium-receipt"]);
      expect(receipt).toMatchObject({
        model: `${kind}/standard`,
        provider: `patient-${kind}`,
        lane: upstream.native ? "native" : "translated",
        stream: false,
      });
      expect(receipt.usage["output"]).toBe(whole.usage.outputTokens ?? -1);
      const streamed = streamText(asking("Receipt, please."));
      await streamed.consumeStream();
      const { headers } = await streamed.response;
      expect(await receiptOf(harness, headers?.["x-trivium-receipt"])).toMatchObject({
        stream: true,
        usage_source: "measured",
      });
    });
  });
}
