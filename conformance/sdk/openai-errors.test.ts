import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { withoutAbsent } from "../../src/base/without-absent.ts";
import { CHAT_DOORS, CHAT_GENERATIONS, type ChatBody, type ChatErrors, type Chunk, joined } from "./openai-clients.ts";
import {
  callWithBusyKey,
  extra,
  failureOf,
  headerOf,
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
  body?: Partial<ChatBody>;
  key?: string;
  class: keyof ChatErrors;
  status: number;
  type: string;
  code?: string;
}

// biome-ignore format: a table is read in columns
/** choices 4, and the classes of sdks 3.2. */
const REFUSALS: readonly Refusal[] = [
  { what: "a field out of its range", body: { n: 2 }, class: "BadRequestError", status: 400, type: "invalid_request_error" },
  { what: "a request that the upstream refuses", model: "fail-400", class: "BadRequestError", status: 400, type: "invalid_request_error" },
  { what: "an unknown key", key: WRONG_KEY, class: "AuthenticationError", status: 401, type: "authentication_error", code: "invalid_api_key" },
  { what: "an unknown model", model: "standrad", class: "NotFoundError", status: 404, type: "not_found_error", code: "model_not_found" },
  { what: "a model that the upstream does not know", model: "fail-404", class: "NotFoundError", status: 404, type: "not_found_error", code: "model_not_found" },
  { what: "a body over the limit", body: { messages: [{ role: "user", content: TOO_LARGE_TEXT }] }, class: "APIError", status: 413, type: "invalid_request_error", code: "request_too_large" },
  { what: "the upstream's rate limit", model: "fail-429", class: "RateLimitError", status: 429, type: "rate_limit_error", code: "rate_limit_exceeded" },
  { what: "a key that the upstream refuses", model: "fail-401", class: "InternalServerError", status: 502, type: "api_error", code: "upstream_credentials" },
  { what: "an upstream's 500", model: "fail-500", class: "InternalServerError", status: 502, type: "api_error", code: "upstream_failed" },
  { what: "an upstream's 503", model: "fail-503", class: "InternalServerError", status: 503, type: "api_error", code: "overloaded" },
  { what: "an upstream's 529", model: "fail-529", class: "InternalServerError", status: 503, type: "api_error", code: "overloaded" },
  { what: "an upstream that never answers", model: "slow-first-byte", class: "InternalServerError", status: 504, type: "timeout_error", code: "upstream_timeout" },
];

// biome-ignore format: a table is read in columns
const TROUBLES: Readonly<Record<Trouble, Pick<Refusal, "class" | "status" | "type" | "code">>> = {
  failed: { class: "InternalServerError", status: 502, type: "api_error", code: "upstream_failed" },
  overloaded: { class: "InternalServerError", status: 503, type: "api_error", code: "overloaded" },
  "rate-limited": { class: "RateLimitError", status: 429, type: "rate_limit_error", code: "rate_limit_exceeded" },
};

const BREAKS = ["error-in-stream", "cut-mid-stream", "cut-mid-event", "close-mid-stream", "garbage-in-stream"];

let harness: SimulatedGateway;
beforeAll(async () => {
  harness = await startSimulatedGateway();
});
afterAll(() => harness.stop());

for (const { version, errors, connect } of CHAT_GENERATIONS) {
  for (const { name, path, kind } of CHAT_DOORS) {
    describe(`openai ${version}, ${name}`, () => {
      const upstream = upstreamOf(kind, "chat");
      const open = (apiKey = harness.gateway.key) =>
        connect({ baseURL: `${harness.gateway.url}${path}`, apiKey, maxRetries: 0 });
      const asking = (model = "standard"): ChatBody => ({
        model: `${kind}/${model}`,
        messages: [{ role: "user", content: "Does it hold?" }],
      });
      const failures = new Map<Refusal, Error[]>();
      let firstEvent: Error;

      // Concurrently, because some of them take the time of a retry or of a timeout.
      beforeAll(async () => {
        const calls = REFUSALS.map(async (refusal) => {
          const { completions } = open(refusal.key).chat;
          const body = { ...asking(refusal.model), ...refusal.body };
          const whole = failureOf(completions.create(body));
          const streamed = failureOf(completions.create({ ...body, stream: true }));
          failures.set(refusal, await Promise.all([whole, streamed]));
        });
        const { completions } = open().chat;
        const first = failureOf(completions.create({ ...asking("error-first-event"), stream: true }));
        [firstEvent] = await Promise.all([first, ...calls]);
      });

      for (const refusal of REFUSALS) {
        test(`sdks 3.2: ${refusal.what} is a ${refusal.class} ${refusal.status}, streamed or not`, () => {
          const { status, type, code } = refusal;
          const [whole, streamed] = failures.get(refusal) ?? [];
          for (const failure of [whole, streamed]) {
            expect(failure?.constructor).toBe(errors[refusal.class]);
            expect(failure).toMatchObject(withoutAbsent({ status, type, code }));
            if (status === 429 && failure) expect(headerOf(failure, "retry-after")).toBe(upstream.retryAfter);
          }
        });
      }

      test("choices 4: an upstream's bad request is returned as such, with its message, and its code and param if it has them", () => {
        const refused = REFUSALS.find(({ model }) => model === "fail-400");
        const reported = refused && failures.get(refused);
        expect(reported).toHaveLength(2);
        for (const failure of reported ?? []) {
          expect(failure.message).toContain("Simulated");
          const has = upstream.native;
          expect(failure).toMatchObject({ code: has ? "invalid_value" : null, param: has ? "messages" : null });
        }
      });

      test("sdks 3.2: an error has the ids of its request and its receipt", async () => {
        const failure = await failureOf(open().chat.completions.create(asking("fail-400")));
        expect(extra(failure, "requestID") ?? extra(failure, "request_id")).toMatch(/^req_/);
        expect(headerOf(failure, "x-trivium-receipt")).toMatch(/^rcp_/);
      });

      test("choices 4: an error as the first event of the upstream's stream gets a real status", () => {
        const { class: wanted, status, type, code } = TROUBLES[upstream.firstError];
        expect(firstEvent.constructor).toBe(errors[wanted]);
        expect(firstEvent).toMatchObject({ status, type, code });
      });

      test.each(BREAKS)("sdks 3.2: %s raises an APIError after the received text", async (model) => {
        const adding = failureOf(open().addUp(asking(model)).finalChatCompletion());
        const chunks: Chunk[] = [];
        const stream = await open().chat.completions.create({ ...asking(model), stream: true });
        const read = async () => {
          for await (const chunk of stream) chunks.push(chunk);
        };
        const failure = await failureOf(read());
        expect(joined(chunks, (delta) => delta.content)).toStartWith("This");
        expect(chunks.filter(({ choices }) => choices[0]?.finish_reason)).toEqual([]);
        expect(failure.constructor).toBe(errors.APIError);
        const { type, code } = TROUBLES[model === "error-in-stream" ? upstream.streamError : "failed"];
        expect(failure).toMatchObject({ status: undefined, type, code });
        const helped = await adding;
        expect(helped).toBeInstanceOf(errors.APIError);
        expect(helped).toMatchObject({ type, code });
      });
    });
  }

  describe(`openai ${version}, retries`, () => {
    const attempt = (model: string, apiKey = harness.gateway.key) => {
      const { fetch, answers } = watchedFetch();
      const client = connect({ baseURL: `${harness.gateway.url}/api/v1`, apiKey, maxRetries: 1, fetch });
      const body: ChatBody = { model, messages: [{ role: "user", content: "Again?" }] };
      return { call: () => client.chat.completions.create(body), answers };
    };

    test("sdks 4: a 429 with retry-after is retried, and then succeeds", async () => {
      const { call, answers } = attempt("openai/standard", NARROW_KEY);
      const completion = await callWithBusyKey(harness, call, () => answers.length > 0);
      expect(completion.choices[0]?.message.content).toContain("Again?");
      expect(answers).toEqual([
        { status: 429, retryAfter: "1" },
        { status: 200, retryAfter: null },
      ]);
    });

    // The gateway's part in these two is the same for every client.
    if (version !== CHAT_GENERATIONS[0]?.version) return;

    test("sdks 4: an overloaded upstream is retried by the package, once the gateway has tried twice", async () => {
      const { call, answers } = attempt("openai/flaky-2");
      expect((await call()).choices[0]?.message.content).toContain("Again?");
      expect(answers.map(({ status }) => status)).toEqual([503, 200]);
    });

    test("choices 4: the gateway retries one failure of the upstream, unseen by the package", async () => {
      const { call, answers } = attempt("openai/flaky-1");
      expect((await call()).choices[0]?.message.content).toContain("Again?");
      expect(answers.map(({ status }) => status)).toEqual([200]);
    });
  });
}
