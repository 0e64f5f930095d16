import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { generateText, streamText } from "ai";
import { AI_PROVIDERS, type AiProvider, setupOf } from "./ai-sdk-models.ts";
import {
  callWithBusyKey,
  failureOf,
  NARROW_KEY,
  type SimulatedGateway,
  startSimulatedGateway,
  TOO_LARGE_TEXT,
  WRONG_KEY,
  watchedFetch,
} from "./support.ts";

interface Refusal {
  what: string;
  model?: string;
  prompt?: string;
  key?: string;
  status: number | ((provider: AiProvider) => number);
  isRetryable: boolean;
}

// biome-ignore format: a table is read in columns
/** choices 4; the package has one class for all of them, and marks each as retryable or not (sdks 1.6). */
const REFUSALS: readonly Refusal[] = [
  { what: "a request that the upstream refuses", model: "fail-400", status: 400, isRetryable: false },
  { what: "an unknown key", key: WRONG_KEY, status: 401, isRetryable: false },
  { what: "an unknown model", model: "standrad", status: 404, isRetryable: false },
  { what: "a body over the limit", prompt: TOO_LARGE_TEXT, status: 413, isRetryable: false },
  { what: "the upstream's rate limit", model: "fail-429", status: 429, isRetryable: true },
  { what: "an upstream's 500", model: "fail-500", status: 502, isRetryable: true },
  { what: "an upstream's 503", model: "fail-503", status: (provider) => provider.overloadedStatus, isRetryable: true },
  { what: "an upstream's 529", model: "fail-529", status: (provider) => provider.overloadedStatus, isRetryable: true },
  { what: "an upstream that never answers", model: "slow-first-byte", status: 504, isRetryable: true },
];

const BREAKS = ["cut-mid-stream", "cut-mid-event", "close-mid-stream", "garbage-in-stream"];

/** The package warns on the console about every model name it does not know. */
Reflect.set(globalThis, "AI_SDK_LOG_WARNINGS", false);

let harness: SimulatedGateway;
beforeAll(async () => {
  // The chunks of the genai protocol are large and few, so reaching the middle of a response takes longer pauses.
  harness = await startSimulatedGateway({ tokenDelayMs: 5 });
});
afterAll(() => harness.stop());

/** A stream read to its end: the package reports an error as one of its parts. */
async function readParts(options: Parameters<typeof streamText>[0]) {
  const streamed = streamText({ ...options, onError: () => undefined });
  let text = "";
  let finish: string | undefined;
  const errors: unknown[] = [];
  for await (const part of streamed.fullStream) {
    if (part.type === "text-delta") text += part.text;
    if (part.type === "error") errors.push(part.error);
    if (part.type === "finish") finish = part.finishReason;
  }
  return { text, errors, finish };
}

for (const provider of AI_PROVIDERS) {
  const { name, kind, model, broken } = provider;
  describe(`ai 6, ${name}`, () => {
    const asking = (modelName = "standard", key?: string) => ({
      model: model(setupOf(harness, key), kind, modelName),
      prompt: "Does it hold?",
      maxRetries: 0,
    });
    const failures = new Map<Refusal, unknown[]>();

    // Concurrently, because some of them take the time of a retry or of a timeout.
    beforeAll(async () => {
      const calls = REFUSALS.map(async (refusal) => {
        const { prompt = "Does it hold?" } = refusal;
        const options = { ...asking(refusal.model, refusal.key), prompt };
        const [whole, streamed] = await Promise.all([failureOf(generateText(options)), readParts(options)]);
        failures.set(refusal, [whole, ...streamed.errors]);
      });
      await Promise.all(calls);
    });

    for (const refusal of REFUSALS) {
      const { what, isRetryable } = refusal;
      const status = typeof refusal.status === "number" ? refusal.status : refusal.status(provider);
      test(`sdks 1.6: ${what} is an APICallError ${status}, streamed or not`, () => {
        const reported = failures.get(refusal);
        expect(reported).toHaveLength(2);
        for (const failure of reported ?? []) {
          expect(failure).toMatchObject({ name: "AI_APICallError", statusCode: status, isRetryable });
        }
      });
    }

    test("sdks 3.2, 2.4, 1.5: an error in mid-stream is an error part after the received text", async () => {
      const { text, errors, finish } = await readParts(asking("error-in-stream"));
      expect(text).toStartWith("This");
      expect(errors).toMatchObject([{ message: expect.stringMatching(/^Provider `patient-/) }]);
      expect(finish).toBe("error");
    });

    test.each(BREAKS)("sdks 3.2, 2.4, 1.5: %s is an error part after the received text", async (modelName) => {
      const { text, errors, finish } = await readParts(asking(modelName));
      expect(text).toStartWith("This");
      expect(errors).toMatchObject([broken]);
      expect(finish).toBe("error");
    });

    if (name.includes("contract door")) {
      test("sdks 1.6: a 429 with retry-after is retried, and then succeeds", async () => {
        const { fetch, answers } = watchedFetch();
        const patient = model({ ...setupOf(harness, NARROW_KEY), fetch }, kind, "standard");
        const call = () => generateText({ model: patient, prompt: "Again?", maxRetries: 1 });
        const answer = await callWithBusyKey(harness, call, () => answers.length > 0);
        expect(answer.text).toContain("Again?");
        expect(answers).toEqual([
          { status: 429, retryAfter: "1" },
          { status: 200, retryAfter: null },
        ]);
      });
    }
  });
}

describe("ai 6, the output limit", () => {
  const limited = (name: string) => {
    const provider = AI_PROVIDERS.find((one) => one.name.startsWith(name));
    if (provider === undefined) throw new Error(`no provider ${name}`);
    const model = provider.model(setupOf(harness), provider.kind, "standard");
    return generateText({ model, prompt: "As much as you can.", maxOutputTokens: 100_000, maxRetries: 0 });
  };

  test("contract 2.12: max_tokens, which the package sends, is refused at the contract door with its replacement's name", async () => {
    const failure = await failureOf(limited("openai-compatible at the contract door"));
    expect(failure).toMatchObject({
      statusCode: 400,
      data: { error: { code: "unsupported_parameter", param: "max_tokens" } },
    });
    expect(failure.message).toContain("max_completion_tokens");
  });

  test.each([
    ["openai-compatible at the drop-in door", { max_completion_tokens: 64_000 }],
    ["anthropic at the contract door", { max_tokens: 64_000 }],
    ["google at the contract door", { generationConfig: { maxOutputTokens: 64_000 } }],
  ])("choices 3: %s, more than the model supports is clamped", async (name, sent) => {
    expect((await limited(name)).finishReason).toBe("stop");
    const body = harness.simulator.stats().last?.body;
    expect(body).toMatchObject(sent);
    if (!("max_tokens" in sent)) expect(body).not.toHaveProperty("max_tokens");
  });
});
