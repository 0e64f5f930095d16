import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import {
  GENAI_1,
  GENAI_2,
  GENAI_MODES,
  type GenaiAnswer,
  type GenaiGeneration,
  type GenaiRequest,
  type ReadTurn,
  setupFor,
  textOf,
  thoughtsOf,
} from "./genai-clients.ts";
import {
  collect,
  expectUpstreamStopped,
  failureOf,
  hasReachedUpstream,
  receiptOf,
  type SimulatedGateway,
  startSimulatedGateway,
} from "./support.ts";
import { upstreamOf } from "./upstreams.ts";

const SCHEMA = {
  type: "object",
  properties: { city: { type: "string" }, degrees: { type: "integer" }, sunny: { type: "boolean" } },
  required: ["city", "degrees", "sunny"],
};
const WEATHER = { city: expect.any(String), degrees: expect.any(Number), sunny: expect.any(Boolean) };

const finishReasons = (chunks: readonly GenaiAnswer<ReadTurn>[]) =>
  chunks.map((chunk) => chunk.candidates?.[0]?.finishReason);
const receiptId = (answer: GenaiAnswer<ReadTurn> | undefined) =>
  answer?.sdkHttpResponse?.headers?.["x-trivium-receipt"];

let harness: SimulatedGateway;
beforeAll(async () => {
  harness = await startSimulatedGateway();
});
afterAll(() => harness.stop());

function answers<Turn extends ReadTurn>({ version, error, finish, connect }: GenaiGeneration<Turn>): void {
  for (const mode of GENAI_MODES) {
    const { name, kind, vertexai } = mode;
    describe(`genai ${version}, ${name}`, () => {
      const upstream = upstreamOf(kind, "genai");
      const open = () => connect(setupFor(mode, harness.gateway.url, harness.gateway.key)).models;
      const asking = (contents: string, model = "standard"): GenaiRequest<Turn> => ({
        model: `${kind}/${model}`,
        contents,
        config: { systemInstruction: "Be brief." },
      });

      test("contract 2.7: a non-streamed response", async () => {
        const answer = await open().generateContent(asking("Where do three roads meet?"));
        expect(answer.text).toContain("Where do three roads meet?");
        const { promptTokenCount = 0, candidatesTokenCount = 0, totalTokenCount } = answer.usageMetadata ?? {};
        expect(candidatesTokenCount).toBeGreaterThan(0);
        expect(totalTokenCount).toBe(promptTokenCount + candidatesTokenCount);
      });

      test("sdks 1.5: a stream adds up to the same response", async () => {
        const models = open();
        const whole = await models.generateContent(asking("Stream this, please."));
        const chunks = await collect(await models.generateContentStream(asking("Stream this, please.")));
        expect(chunks.length).toBeGreaterThan(3);
        expect(chunks.map((chunk) => chunk.text ?? "").join("")).toBe(whole.text ?? "");
        const { promptTokenCount, candidatesTokenCount, totalTokenCount } = whole.usageMetadata ?? {};
        expect(chunks.at(-1)?.usageMetadata).toMatchObject({ promptTokenCount, candidatesTokenCount, totalTokenCount });
      });

      test("sdks 1.4: finishReason is the package's own value, and only on the last chunk", async () => {
        const models = open();
        const whole = async (model: string) => finishReasons([await models.generateContent(asking("Hi.", model))]);
        expect(await whole("standard")).toEqual([finish.STOP]);
        expect(await whole("max-tokens")).toEqual([finish.MAX_TOKENS]);
        expect(await whole("refusal")).toEqual([finish.SAFETY]);
        for (const [model, word] of [
          ["standard", finish.STOP],
          ["max-tokens", finish.MAX_TOKENS],
        ] as const) {
          const reasons = finishReasons(await collect(await models.generateContentStream(asking("Hi.", model))));
          expect(reasons.filter((reason) => reason !== undefined)).toEqual([word]);
          expect(reasons.at(-1)).toBe(word);
        }
      });

      // Other protocols report blocked prompts only as errors, or as responses that end at once.
      if (upstream.native)
        test("contract 7: a blocked prompt is reported in promptFeedback, without a candidate", async () => {
          const models = open();
          const whole = await models.generateContent(asking("Hi.", "blocked-prompt"));
          const chunks = await collect(await models.generateContentStream(asking("Hi.", "blocked-prompt")));
          for (const answer of [whole, chunks[0]]) {
            expect(answer?.promptFeedback?.blockReason).toBe("PROHIBITED_CONTENT");
            expect(answer?.text).toBeUndefined();
          }
        });

      test("contract 2.6: structured output follows its schema, in either spelling of it", async () => {
        const responseMimeType = "application/json";
        const upper = JSON.parse(JSON.stringify(SCHEMA), (key, value) =>
          key === "type" ? value.toUpperCase() : value,
        );
        for (const schema of [{ responseJsonSchema: SCHEMA }, { responseSchema: upper }]) {
          const request = { ...asking("The weather in Lisbon, as JSON."), config: { responseMimeType, ...schema } };
          const answer = await open().generateContent(request);
          expect(JSON.parse(answer.text ?? "")).toEqual(WEATHER);
        }
      });

      test("contract 2.8: thoughts are marked as thoughts, next to the text", async () => {
        const models = open();
        const request = {
          ...asking("Think about it.", "thinker"),
          config: { thinkingConfig: { includeThoughts: true } },
        };
        const whole = await models.generateContent(request);
        expect(thoughtsOf(whole)).toContain("Think about it.");
        // Only this host does not report how many of its tokens were thoughts.
        if (kind !== "bedrock") expect(whole.usageMetadata?.thoughtsTokenCount).toBeGreaterThan(0);
        const chunks = await collect(await models.generateContentStream(request));
        expect(chunks.map(thoughtsOf).join("")).toBe(thoughtsOf(whole));
        expect(chunks.map(textOf).join("")).toBe(textOf(whole));
      });

      test("sdks 1.1: tokens are counted as the response will bill them", async () => {
        const models = open();
        const request = { model: `${kind}/standard`, contents: "How many tokens is this?" };
        const answer = await models.generateContent(request);
        const { promptTokenCount = -1 } = answer.usageMetadata ?? {};
        const { totalTokens } = await models.countTokens(request);
        if (upstream.counts) expect(totalTokens).toBe(promptTokenCount);
        else expect(totalTokens).toBeWithin(1, 4 * promptTokenCount);
      });

      test("contract 2.9: models are listed, and shown one by one", async () => {
        const models = open();
        const listed = await collect(await models.list());
        const one = await models.get({ model: `${kind}/standard` });
        expect(one).toMatchObject({ name: `${kind}/standard`, displayName: "Simulator Standard" });
        expect(listed.find((model) => model.name === one.name)).toMatchObject({ displayName: "Simulator Standard" });
        // In vertex mode the package leaves the limits out.
        if (!vertexai) expect(one.inputTokenLimit).toBe(200_000);
        const missing = await failureOf(models.get({ model: `${kind}/standrad` }));
        expect(missing.constructor).toBe(error);
        expect(missing).toMatchObject({ status: 404 });
      });

      test("H13: an abort signal in mid-stream, and before the first byte, stops the upstream", async () => {
        let receipt: string | undefined;
        await expectUpstreamStopped(harness, async () => {
          const controller = new AbortController();
          const config = { abortSignal: controller.signal };
          const stream = await open().generateContentStream({ ...asking("A long story, please.", "slow"), config });
          const read = async () => {
            for await (const chunk of stream) {
              receipt = receiptId(chunk);
              controller.abort();
            }
          };
          expect((await failureOf(read())).name).toBe("AbortError");
        });
        expect(await receiptOf(harness, receipt)).toMatchObject({ stream: true, usage_source: "partial" });
        await expectUpstreamStopped(harness, async () => {
          const controller = new AbortController();
          const config = { abortSignal: controller.signal };
          const failure = failureOf(open().generateContent({ ...asking("Hello?", "slow-first-byte-3"), config }));
          await hasReachedUpstream(harness);
          controller.abort();
          expect((await failure).message).toMatch(/abort/i);
        });
      });

      test("choices 6: every response has a receipt", async () => {
        const models = open();
        const whole = await models.generateContent(asking("Receipt, please."));
        const receipt = await receiptOf(harness, receiptId(whole));
        expect(receipt).toMatchObject({
          model: `${kind}/standard`,
          provider: `patient-${kind}`,
          lane: upstream.native ? "native" : "translated",
          stream: false,
          usage_source: "measured",
          stop: { unified: "stop", raw: upstream.endWord },
        });
        expect(receipt.usage["output"]).toBe(whole.usageMetadata?.candidatesTokenCount ?? -1);
        const chunks = await collect(await models.generateContentStream(asking("Receipt, please.")));
        const second = await receiptOf(harness, receiptId(chunks[0]));
        expect(second).toMatchObject({ stream: true, usage_source: "measured" });
        expect(second.usage["output"]).toBe(receipt.usage["output"] ?? -1);
      });
    });
  }
}

answers(GENAI_2);
answers(GENAI_1);
