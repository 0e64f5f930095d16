import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import {
  type FunctionCall,
  GENAI_1,
  GENAI_2,
  GENAI_MODES,
  type GenaiAnswer,
  type GenaiGeneration,
  type OwnTurn,
  type ReadTurn,
  setupFor,
  textOf,
} from "./genai-clients.ts";
import { collect, type SimulatedGateway, startSimulatedGateway } from "./support.ts";
import { upstreamOf } from "./upstreams.ts";

/**
 * The vendor's own SDKs, in both of their modes, with models whose providers speak other protocols. A surface that is
 * not the vendor's shows here first: other shapes, fields that go nowhere, one id for two calls.
 */

const TOOLS = {
  functionDeclarations: [
    {
      name: "get_weather",
      description: "The weather in a city.",
      parametersJsonSchema: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
    },
  ],
};
const PROMPT: OwnTurn = { role: "user", parts: [{ text: "use get_weather for Lisbon, parallel" }] };

/** How hosts of each kind are sent the same settings: in their own fields, and nowhere else. */
const SETTINGS_SENT: Readonly<Record<string, object>> = {
  anthropic: { system: [{ type: "text", text: "Be odd." }], max_tokens: 77, top_p: 0.5, stop_sequences: ["sunset"] },
  "openai-compatible": {
    messages: [
      { role: "system", content: "Be odd." },
      { role: "user", content: "Hi." },
    ],
    max_tokens: 77,
    top_p: 0.5,
    stop: ["sunset"],
  },
  bedrock: {
    system: [{ text: "Be odd." }],
    inferenceConfig: { maxTokens: 77, topP: 0.5, stopSequences: ["sunset"] },
  },
};

/** The possible fields of a vendor's response, and what its package adds. */
const MEMBERS = [
  "candidates",
  "createTime",
  "modelVersion",
  "promptFeedback",
  "responseId",
  "usageMetadata",
  "automaticFunctionCallingHistory",
  "sdkHttpResponse",
];
const CANDIDATE = ["avgLogprobs", "content", "finishMessage", "finishReason", "index"];
const PART = ["functionCall", "text", "thought", "thoughtSignature"];

function expectShape({ candidates = [], ...rest }: GenaiAnswer<ReadTurn>): void {
  expect(Object.keys(rest).filter((name) => !MEMBERS.includes(name))).toEqual([]);
  for (const candidate of candidates) {
    expect(Object.keys(candidate).filter((name) => !CANDIDATE.includes(name))).toEqual([]);
    expect(candidate.content?.role ?? "model").toBe("model");
    for (const part of candidate.content?.parts ?? []) {
      expect(Object.keys(part).filter((name) => !PART.includes(name))).toEqual([]);
    }
  }
}

const callsOf = (answers: readonly GenaiAnswer<ReadTurn>[]): FunctionCall[] =>
  answers.flatMap(({ candidates }) =>
    (candidates?.[0]?.content?.parts ?? []).flatMap((part) => part.functionCall ?? []),
  );

let harness: SimulatedGateway;
beforeAll(async () => {
  harness = await startSimulatedGateway();
});
afterAll(() => harness.stop());

function surface<Turn extends ReadTurn>({ version, finish, connect }: GenaiGeneration<Turn>): void {
  for (const mode of GENAI_MODES.filter(({ kind }) => !upstreamOf(kind, "genai").native)) {
    const { name, kind } = mode;
    describe(`genai ${version}, ${name}`, () => {
      const open = () => connect(setupFor(mode, harness.gateway.url, harness.gateway.key)).models;

      test("H10: two calls of one function have two ids, and each gets its own result", async () => {
        const models = open();
        const request = { model: `${kind}/standard`, contents: [PROMPT], config: { tools: [TOOLS] } };
        for (const calls of [
          callsOf([await models.generateContent(request)]),
          callsOf(await collect(await models.generateContentStream(request))),
        ]) {
          expect(calls).toMatchObject([{ name: "get_weather" }, { name: "get_weather" }]);
          expect(new Set(calls.map(({ id }) => id)).size).toBe(2);
          // The last one first: only the ids distinguish them.
          const results = calls.map(({ id = "", name: called = "" }, at) => ({
            functionResponse: { id, name: called, response: { output: `result ${at}` } },
          }));
          const contents: OwnTurn[] = [
            PROMPT,
            { role: "model", parts: calls.map((functionCall) => ({ functionCall })) },
            { role: "user", parts: results.toReversed() },
          ];
          expect(textOf(await models.generateContent({ ...request, contents }))).toContain("result 1");
          const sent = JSON.stringify(harness.simulator.stats().last?.body);
          const found = calls.map(({ id }) => new RegExp(`${id}"[^“]{0,60}?result (\\d)`).exec(sent)?.[1]);
          expect(found).toEqual(["0", "1"]);
        }
      });

      test("H10: responses, streamed or not, have exactly the fields of the vendor's", async () => {
        const models = open();
        const request = {
          model: `${kind}/thinker`,
          contents: "Hi.",
          config: { thinkingConfig: { includeThoughts: true } },
        };
        const whole = await models.generateContent(request);
        const chunks = await collect(await models.generateContentStream(request));
        for (const answer of [whole, ...chunks]) expectShape(answer);
        expect(whole.candidates).toHaveLength(1);
        expect(whole.candidates?.[0]?.finishReason).toBe(finish.STOP);
        const { promptTokenCount = 0, candidatesTokenCount = 0, thoughtsTokenCount = 0 } = whole.usageMetadata ?? {};
        expect(whole.usageMetadata?.totalTokenCount).toBe(promptTokenCount + candidatesTokenCount + thoughtsTokenCount);
      });

      test("H10: settings and the system instruction reach the host", async () => {
        await open().generateContent({
          model: `${kind}/standard`,
          contents: "Hi.",
          config: { systemInstruction: "Be odd.", maxOutputTokens: 77, topP: 0.5, stopSequences: ["sunset"] },
        });
        const sent = SETTINGS_SENT[kind];
        if (sent === undefined) throw new Error(`no settings of ${kind}`);
        expect(harness.simulator.stats().last?.body).toMatchObject(sent);
      });
    });
  }
}

surface(GENAI_2);
surface(GENAI_1);
