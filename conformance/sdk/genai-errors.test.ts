import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { GoogleGenAI } from "@google/genai";
import {
  GENAI_1,
  GENAI_2,
  GENAI_MODES,
  type GenaiAnswer,
  type GenaiConfig,
  type GenaiGeneration,
  type GenaiRequest,
  type ReadTurn,
  setupFor,
  textOf,
} from "./genai-clients.ts";
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
import { type Trouble, upstreamOf } from "./upstreams.ts";

interface Refusal {
  what: string;
  model?: string;
  config?: GenaiConfig;
  key?: string;
  code: number;
  status: string;
}

// biome-ignore format: a table is read in columns
/** choices 4; the package has one class for all of them (sdks 1.6). */
const REFUSALS: readonly Refusal[] = [
  { what: "a field out of its range", config: { stopSequences: ["1", "2", "3", "4", "5", "6"] }, code: 400, status: "INVALID_ARGUMENT" },
  { what: "a request that the upstream refuses", model: "fail-400", code: 400, status: "INVALID_ARGUMENT" },
  { what: "an unknown key", key: WRONG_KEY, code: 401, status: "UNAUTHENTICATED" },
  { what: "an unknown model", model: "standrad", code: 404, status: "NOT_FOUND" },
  { what: "a model that the upstream does not know", model: "fail-404", code: 404, status: "NOT_FOUND" },
  { what: "a body over the limit", config: { systemInstruction: TOO_LARGE_TEXT }, code: 413, status: "INVALID_ARGUMENT" },
  { what: "the upstream's rate limit", model: "fail-429", code: 429, status: "RESOURCE_EXHAUSTED" },
  { what: "a key that the upstream refuses", model: "fail-401", code: 502, status: "UNAVAILABLE" },
  { what: "an upstream's 500", model: "fail-500", code: 502, status: "UNAVAILABLE" },
  { what: "an upstream's 503", model: "fail-503", code: 503, status: "UNAVAILABLE" },
  { what: "an upstream's 529", model: "fail-529", code: 503, status: "UNAVAILABLE" },
  { what: "an upstream that never answers", model: "slow-first-byte", code: 504, status: "DEADLINE_EXCEEDED" },
];

const TROUBLES: Readonly<Record<Trouble, number>> = { failed: 502, overloaded: 503, "rate-limited": 429 };

const BREAKS = ["error-in-stream", "cut-mid-stream", "cut-mid-event", "close-mid-stream", "garbage-in-stream"];

let harness: SimulatedGateway;
beforeAll(async () => {
  // The chunks of this protocol are large and few, so reaching the middle of a response takes longer pauses.
  harness = await startSimulatedGateway({ tokenDelayMs: 5 });
});
afterAll(() => harness.stop());

function refusals<Turn extends ReadTurn>({ version, error, connect }: GenaiGeneration<Turn>): void {
  for (const mode of GENAI_MODES) {
    const { name, kind } = mode;
    describe(`genai ${version}, ${name}`, () => {
      const upstream = upstreamOf(kind, "genai");
      const open = (key = harness.gateway.key) => connect(setupFor(mode, harness.gateway.url, key)).models;
      const asking = (model = "standard"): GenaiRequest<Turn> => ({
        model: `${kind}/${model}`,
        contents: "Does it hold?",
      });
      const failures = new Map<Refusal, Error[]>();
      let firstEvent: Error;

      // Concurrently, because some of them take the time of a retry or of a timeout.
      beforeAll(async () => {
        const calls = REFUSALS.map(async (refusal) => {
          const models = open(refusal.key);
          const request = { ...asking(refusal.model), ...(refusal.config ? { config: refusal.config } : {}) };
          const whole = failureOf(models.generateContent(request));
          const streamed = failureOf(models.generateContentStream(request));
          failures.set(refusal, await Promise.all([whole, streamed]));
        });
        const first = failureOf(open().generateContentStream(asking("error-first-event")));
        [firstEvent] = await Promise.all([first, ...calls]);
      });

      for (const refusal of REFUSALS) {
        test(`sdks 1.6: ${refusal.what} is an ApiError ${refusal.code} ${refusal.status}, streamed or not`, () => {
          const { code, status } = refusal;
          const [whole, streamed] = failures.get(refusal) ?? [];
          for (const failure of [whole, streamed]) {
            expect(failure?.constructor).toBe(error);
            expect(failure).toMatchObject({ status: code });
            expect(JSON.parse(failure?.message ?? "")).toMatchObject({ error: { code, status } });
          }
        });
      }

      test("choices 4: an error as the first event of the upstream's stream gets a real status", () => {
        expect(firstEvent.constructor).toBe(error);
        expect(firstEvent).toMatchObject({ status: TROUBLES[upstream.firstError] });
      });

      test.each(BREAKS)("sdks 1.5: %s raises an ApiError after the received text", async (model) => {
        const chunks: GenaiAnswer<Turn>[] = [];
        const stream = await open().generateContentStream(asking(model));
        const read = async () => {
          for await (const chunk of stream) chunks.push(chunk);
        };
        const failure = await failureOf(read());
        expect(chunks.map(textOf).join("")).toStartWith("This");
        expect(chunks.filter((chunk) => chunk.candidates?.[0]?.finishReason)).toEqual([]);
        expect(failure.constructor).toBe(error);
        const trouble = model === "error-in-stream" ? upstream.streamError : "failed";
        expect(failure).toMatchObject({ status: TROUBLES[trouble] });
      });
    });
  }
}

refusals(GENAI_2);
refusals(GENAI_1);

// Generation 1.20 has no retries at all.
describe("genai 3, retries", () => {
  const attempt = (model: string, apiKey = harness.gateway.key) => {
    const { fetch, answers } = watchedFetch();
    const httpOptions = {
      baseUrl: `${harness.gateway.url}/api/genai`,
      apiVersion: "v1",
      retryOptions: { attempts: 2, initialDelay: 0.5, jitter: 0 },
      fetch,
    };
    const { models } = new GoogleGenAI({ vertexai: true, apiKey, httpOptions });
    return { call: () => models.generateContent({ model, contents: "Again?" }), answers };
  };

  test("sdks 1.6: a 429 with retry-after is retried, and then succeeds", async () => {
    const { call, answers } = attempt("vertex/standard", NARROW_KEY);
    const answer = await callWithBusyKey(harness, call, () => answers.length > 0);
    expect(answer.text).toContain("Again?");
    expect(answers).toEqual([
      { status: 429, retryAfter: "1" },
      { status: 200, retryAfter: null },
    ]);
  });

  test("sdks 1.6: an overloaded upstream is retried by the package, once the gateway has tried twice", async () => {
    const { call, answers } = attempt("vertex/flaky-2");
    expect((await call()).text).toContain("Again?");
    expect(answers.map(({ status }) => status)).toEqual([503, 200]);
  });

  test("choices 4: the gateway retries one failure of the upstream, unseen by the package", async () => {
    const { call, answers } = attempt("vertex/flaky-1");
    expect((await call()).text).toContain("Again?");
    expect(answers.map(({ status }) => status)).toEqual([200]);
  });
});

describe("genai 3: an API of the vendor that the gateway does not serve yet", () => {
  const client = () => {
    const httpOptions = { baseUrl: harness.gateway.url };
    return new GoogleGenAI({ apiKey: harness.gateway.key, httpOptions });
  };
  const missing: readonly [name: string, says: string, call: (ai: GoogleGenAI) => Promise<unknown>][] = [
    ["fileSearchStores.create", "The File search stores API", (ai) => ai.fileSearchStores.create({})],
    [
      "fileSearchStores.importFile",
      "The File search stores API",
      (ai) => ai.fileSearchStores.importFile({ fileSearchStoreName: "fileSearchStores/abc", fileName: "files/abc" }),
    ],
    ["authTokens.create", "The Ephemeral tokens API", (ai) => ai.authTokens.create({})],
  ];

  test.each(missing)("%s names it in the vendor's form", async (_name, says, call) => {
    const thrown = (await call(client()).catch((error: unknown) => error)) as { status: number; message: string };
    expect(thrown.status).toBe(404);
    const { error } = JSON.parse(thrown.message) as { error: { code: number; status: string; message: string } };
    expect(error).toMatchObject({ code: 404, status: "NOT_FOUND" });
    expect(error.message).toContain(`${says} is not supported`);
  });
});
