import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import {
  ANTHROPIC_0,
  ANTHROPIC_1,
  MESSAGES_DOORS,
  type MessagesBody,
  type MessagesErrors,
  type MessagesGeneration,
  type ReadBlock,
  type StreamEvent,
  textOf,
} from "./anthropic-clients.ts";
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
  body?: { temperature?: number; system?: string };
  key?: string;
  class: keyof MessagesErrors;
  status: number;
  type: string;
}

// biome-ignore format: a table is read in columns
/** choices 4, and the classes of sdks 2.4. */
const REFUSALS: readonly Refusal[] = [
  { what: "a field out of its range", body: { temperature: 1.5 }, class: "badRequest", status: 400, type: "invalid_request_error" },
  { what: "a request that the upstream refuses", model: "fail-400", class: "badRequest", status: 400, type: "invalid_request_error" },
  { what: "an unknown key", key: WRONG_KEY, class: "badKey", status: 401, type: "authentication_error" },
  { what: "an unknown model", model: "standrad", class: "notFound", status: 404, type: "not_found_error" },
  { what: "a model that the upstream does not know", model: "fail-404", class: "notFound", status: 404, type: "not_found_error" },
  { what: "a body over the limit", body: { system: TOO_LARGE_TEXT }, class: "tooLarge", status: 413, type: "request_too_large" },
  { what: "the upstream's rate limit", model: "fail-429", class: "rateLimited", status: 429, type: "rate_limit_error" },
  { what: "a key that the upstream refuses", model: "fail-401", class: "failed", status: 502, type: "api_error" },
  { what: "an upstream's 500", model: "fail-500", class: "failed", status: 502, type: "api_error" },
  { what: "an upstream's 503", model: "fail-503", class: "overloaded", status: 529, type: "overloaded_error" },
  { what: "an upstream's 529", model: "fail-529", class: "overloaded", status: 529, type: "overloaded_error" },
  { what: "an upstream that never answers", model: "slow-first-byte", class: "timedOut", status: 504, type: "timeout_error" },
];

const TROUBLES: Readonly<Record<Trouble, Pick<Refusal, "class" | "status" | "type">>> = {
  failed: { class: "failed", status: 502, type: "api_error" },
  overloaded: { class: "overloaded", status: 529, type: "overloaded_error" },
  "rate-limited": { class: "rateLimited", status: 429, type: "rate_limit_error" },
};

const BREAKS = ["error-in-stream", "cut-mid-stream", "cut-mid-event", "close-mid-stream", "garbage-in-stream"];

let harness: SimulatedGateway;
beforeAll(async () => {
  harness = await startSimulatedGateway();
});
afterAll(() => harness.stop());

function refusals<Block extends ReadBlock>({ version, errors, connect }: MessagesGeneration<Block>): void {
  for (const { name, path, kind } of MESSAGES_DOORS) {
    describe(`anthropic ${version}, ${name}`, () => {
      const upstream = upstreamOf(kind, "messages");
      const open = (apiKey = harness.gateway.key) =>
        connect({ baseURL: `${harness.gateway.url}${path}`, apiKey, maxRetries: 0 });
      const asking = (model = "standard"): MessagesBody<Block> => ({
        model: `${kind}/${model}`,
        max_tokens: 500,
        messages: [{ role: "user", content: "Does it hold?" }],
      });
      const failures = new Map<Refusal, Error[]>();
      let firstEvent: Error;

      // Concurrently, because some of them take the time of a retry or of a timeout.
      beforeAll(async () => {
        const calls = REFUSALS.map(async (refusal) => {
          const { messages } = open(refusal.key);
          const body = { ...asking(refusal.model), ...refusal.body };
          const whole = failureOf(messages.create(body));
          const streamed = failureOf(messages.create({ ...body, stream: true }));
          const helped = failureOf(messages.stream(body).finalMessage());
          failures.set(refusal, await Promise.all([whole, streamed, helped]));
        });
        const first = failureOf(open().messages.create({ ...asking("error-first-event"), stream: true }));
        [firstEvent] = await Promise.all([first, ...calls]);
      });

      for (const refusal of REFUSALS) {
        test(`sdks 2.4: ${refusal.what} is a ${errors[refusal.class].name} ${refusal.status}, streamed or not`, () => {
          const { status, type } = refusal;
          const [whole, streamed, helped] = failures.get(refusal) ?? [];
          for (const failure of [whole, streamed, helped]) {
            expect(failure?.constructor).toBe(errors[refusal.class]);
            expect(failure).toMatchObject({ status, error: { type: "error", error: { type } } });
            // Generation 0.60 leaves the type in the body.
            if (version !== "0.60") expect(failure).toMatchObject({ type });
            if (status === 429 && failure) expect(headerOf(failure, "retry-after")).toBe(upstream.retryAfter);
          }
        });
      }

      test("sdks 2.4: an error has the ids of its request and its receipt", async () => {
        const failure = await failureOf(open().messages.create(asking("fail-400")));
        expect(extra(failure, "requestID")).toMatch(/^req_/);
        expect(failure).toMatchObject({ error: { request_id: extra(failure, "requestID") } });
        expect(headerOf(failure, "x-trivium-receipt")).toMatch(/^rcp_/);
      });

      test("choices 4: an error as the first event of the upstream's stream gets a real status", () => {
        const { class: wanted, status, type } = TROUBLES[upstream.firstError];
        expect(firstEvent.constructor).toBe(errors[wanted]);
        expect(firstEvent).toMatchObject({ status, error: { error: { type } } });
      });

      test.each(BREAKS)("sdks 2.4: %s raises an APIError after the received text", async (model) => {
        const adding = failureOf(open().messages.stream(asking(model)).finalMessage());
        const events: StreamEvent[] = [];
        const stream = await open().messages.create({ ...asking(model), stream: true });
        const read = async () => {
          for await (const event of stream) events.push(event);
        };
        const failure = await failureOf(read());
        expect(events.map((event) => extra(event.delta, "text") ?? "").join("")).toStartWith("This");
        expect(events.map((event) => event.type)).not.toContain("message_stop");
        for (const one of [failure, await adding]) {
          expect(one.constructor).toBe(errors.any);
          // Contract 7: inside a stream there are four types only.
          expect(one).toMatchObject({ status: undefined, error: { type: "error", error: { type: "api_error" } } });
        }
      });
    });
  }

  describe(`anthropic ${version}, retries`, () => {
    const attempt = (model: string, apiKey = harness.gateway.key) => {
      const { fetch, answers } = watchedFetch();
      const client = connect({ baseURL: `${harness.gateway.url}/api/msg`, apiKey, maxRetries: 1, fetch });
      const body: MessagesBody<Block> = { model, max_tokens: 500, messages: [{ role: "user", content: "Again?" }] };
      return { call: () => client.messages.create(body), answers };
    };

    test("sdks 4: a 429 with retry-after is retried, and then succeeds", async () => {
      const { call, answers } = attempt("anthropic/standard", NARROW_KEY);
      const message = await callWithBusyKey(harness, call, () => answers.length > 0);
      expect(textOf(message.content)).toContain("Again?");
      expect(answers).toEqual([
        { status: 429, retryAfter: "1" },
        { status: 200, retryAfter: null },
      ]);
    });

    // The gateway's part in these two is the same for every client.
    if (version !== ANTHROPIC_1.version) return;

    test("sdks 4: an overloaded upstream is retried by the package, once the gateway has tried twice", async () => {
      const { call, answers } = attempt("anthropic/flaky-2");
      expect(textOf((await call()).content)).toContain("Again?");
      expect(answers.map(({ status }) => status)).toEqual([529, 200]);
    });

    test("choices 4: the gateway retries one failure of the upstream, unseen by the package", async () => {
      const { call, answers } = attempt("anthropic/flaky-1");
      expect(textOf((await call()).content)).toContain("Again?");
      expect(answers.map(({ status }) => status)).toEqual([200]);
    });
  });
}

refusals(ANTHROPIC_1);
refusals(ANTHROPIC_0);
