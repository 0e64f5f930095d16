import { beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { Harness, UPSTREAM_URL } from "../../testing/harness.ts";
import type { Script } from "../../testing/memory-network.ts";
import { plainStream, plainUsage } from "../../testing/plain-answer.ts";
import { SCRIPTED_DIALECTS } from "../../testing/sampled-dialects.ts";
import { modelsOfEveryDialect } from "../../testing/scripted-models.ts";
import { errorIn, type ReadAnswer } from "../../testing/sent-call.ts";
import { wire } from "../../testing/upstream-wire.ts";

const SECOND = `${UPSTREAM_URL}/second/v1`;

/** By the harness's randomness, which is always the same. */
const PAUSE_MS = 103;
const SECOND_PAUSE_MS = 205;

let harness: Harness;
beforeAll(async () => {
  const config = modelsOfEveryDialect(UPSTREAM_URL) as {
    providers: Record<string, object>;
    models: { id: string; offers: object[] }[];
  };
  const [model] = config.models;
  const offers = ["up-chat", "up-second"].map((provider) => ({ provider, model: "upstream-model" }));
  harness = await Harness.start({
    config: {
      providers: { ...config.providers, "up-second": { ...config.providers["up-chat"], base_url: SECOND } },
      models: [...config.models, { ...model, id: "test/two", offers }],
    },
  });
});

/** Waits until no offer is paused because of earlier calls. */
const recover = () => harness.clock.pass(3_700_000);
beforeEach(recover);

const answer = {
  choices: [{ index: 0, message: { role: "assistant", content: "hi" }, finish_reason: "stop" }],
  usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
};
const answers: Script = (...asked) => harness.upstream.json(answer)(...asked);
const refuses =
  (status: number, headers: Record<string, string> = {}, body: object = {}): Script =>
  (...asked) =>
    harness.upstream.json(body, status, headers)(...asked);
const breaks: Script = (reply) => reply.fail("broken");

/** When each request was sent, since the first. */
const sentMs = () => harness.upstream.requests.map(({ atMs }) => atMs - (harness.upstream.requests[0]?.atMs ?? 0));
const outcomesOf = async (given: ReadAnswer) =>
  (await harness.receipt(given)).offers.map(({ provider, outcome, reason }) =>
    outcome === "failed" ? `${provider}: ${reason}` : `${provider}: ${outcome}`,
  );

/** The whole seconds of Retry-After. */
const toldSeconds = ({ headers }: ReadAnswer) => Number(headers.get("retry-after"));

describe("H19: a provider's Retry-After is honoured and passed on", () => {
  test.each(
    SCRIPTED_DIALECTS.flatMap((dialect) =>
      [503, 529, 429].flatMap((status) => [true, false].map((stream) => [dialect, status, stream] as const)),
    ),
  )(
    "%s, HTTP %d, streaming %p: a long one is not waited for, and no provider is called again",
    async (dialect, status, stream) => {
      harness.upstream.play(refuses(status, { "retry-after": "30" }, { error: { message: "busy" } }));
      const given = await harness.call(dialect, { stream });
      expect([given.status < 400, toldSeconds(given), sentMs()]).toEqual([false, 30, [0]]);
      expect(given.endMs).toBe(0);
    },
  );

  test("a date is read by the wall clock", async () => {
    harness.clock.stepWall(3_600_000);
    const at = new Date(harness.clock.wallMs() + 40_000).toUTCString();
    harness.upstream.play(refuses(503, { "retry-after": at }));
    const given = await harness.call("chat");
    harness.clock.stepWall(-3_600_000);
    expect(toldSeconds(given)).toBeWithin(39, 41);
    expect(sentMs()).toEqual([0]);
  });

  test("a wait of over a minute is reported as a minute", async () => {
    harness.upstream.play(refuses(503, { "retry-after": "86400" }));
    expect(toldSeconds(await harness.call("chat"))).toBe(60);
  });

  test("a short one is waited for before the same offer is retried", async () => {
    harness.upstream.play(refuses(503, { "retry-after": "1" }), answers);
    const given = await harness.call("chat");
    expect([given.status, sentMs()]).toEqual([200, [0, 1_000]]);
  });

  test("two seconds are still waited for, and no more", async () => {
    harness.upstream.play(refuses(503, { "retry-after": "2" }), answers);
    const waited = await harness.call("chat");
    expect([waited.status, sentMs()]).toEqual([200, [0, 2_000]]);
    harness.upstream.play(refuses(503, { "retry-after": "3" }), answers);
    const reported = await harness.call("chat");
    expect([reported.status, toldSeconds(reported), sentMs()]).toEqual([503, 3, [0]]);
  });

  test("another offer is called at once instead", async () => {
    harness.upstream.play(refuses(503, { "retry-after": "30" }), answers);
    const given = await harness.call("chat", { model: "test/two" });
    expect([given.status, sentMs()]).toEqual([200, [0, 0]]);
    expect(harness.upstream.requests.map(({ url }) => url.startsWith(SECOND))).toEqual([false, true]);
  });
});

describe("choices 4: what is retried", () => {
  test("5xx on the same offer, after a pause; then the next one", async () => {
    harness.upstream.play(refuses(500), answers);
    const given = await harness.call("chat");
    expect([given.status, sentMs()]).toEqual([200, [0, PAUSE_MS]]);
    expect(await outcomesOf(given)).toEqual(["up-chat: upstream_failed", "up-chat: answered"]);
    await recover();
    harness.upstream.play(refuses(500), refuses(500), refuses(500), answers);
    const second = await harness.call("chat", { model: "test/two" });
    expect([second.status, sentMs()]).toEqual([200, [0, PAUSE_MS, PAUSE_MS, PAUSE_MS + SECOND_PAUSE_MS]]);
    expect(await outcomesOf(second)).toEqual([
      "up-chat: upstream_failed",
      "up-chat: upstream_failed",
      "up-second: upstream_failed",
      "up-second: answered",
    ]);
  });

  test("if no provider answers, the client gets the last failure", async () => {
    harness.upstream.play(refuses(500), refuses(500), refuses(500), refuses(503, { "retry-after": "9" }));
    const given = await harness.call("chat", { model: "test/two" });
    expect([given.status, toldSeconds(given), sentMs().length]).toEqual([503, 9, 4]);
  });

  test("a bad request is only the client's fault", async () => {
    const error = { message: "Unsupported value: 'x'", type: "invalid_request_error", param: "x", code: null };
    harness.upstream.play(refuses(400, {}, { error }));
    const given = await harness.call("chat", { model: "test/two" });
    expect([given.status, errorIn(given).message, sentMs()]).toEqual([400, "Unsupported value: 'x'", [0]]);
  });

  test("an unreachable host, and a connection that breaks", async () => {
    for (const kind of ["connect", "broken"] as const) {
      harness.upstream.play((reply) => reply.fail(kind), answers);
      const given = await harness.call("chat");
      expect([kind, given.status, sentMs()]).toEqual([kind, 200, [0, PAUSE_MS]]);
    }
  });

  test("H32: without a pause if a reused connection had been closed", async () => {
    harness.upstream.play((reply) => reply.fail("stale"), answers);
    const given = await harness.call("chat");
    expect([given.status, sentMs()]).toEqual([200, [0, 0]]);
    expect(await outcomesOf(given)).toEqual(["up-chat: upstream_failed", "up-chat: answered"]);
  });

  test("H28: an offer that used all of its time is not retried, but another is tried", async () => {
    harness.upstream.play(() => {}, answers);
    const given = await harness.call("chat", { model: "test/two" });
    expect(await outcomesOf(given)).toEqual(["up-chat: upstream_timeout", "up-second: answered"]);
    expect(given.endMs).toBeWithin(3_000, 3_201);
  });

  test("H13, H55: a client that disconnects during the pause ends the call", async () => {
    harness.upstream.play(breaks);
    const call = harness.send("chat");
    await harness.clock.pass(PAUSE_MS / 2);
    call.disconnect();
    await harness.clock.pass(10_000);
    expect(sentMs()).toEqual([0]);
    expect(harness.leftovers()).toMatchObject({ runningCalls: 0, openUpstreams: 0 });
  });
});

describe("choices 4: a stream is committed by its first content, and an empty block is not content", () => {
  const opensBlock = wire.messageStart() + wire.textBlock();
  const emptyPart = wire.genaiChunk("");
  test.each([
    ["messages", "messages", opensBlock],
    ["messages", "chat", opensBlock],
    ["genai", "genai", emptyPart],
    ["genai", "messages", emptyPart],
  ] as const)(
    "a host of %s breaks off after an announcement: a client of %s gets the next offer's response",
    async (host, dialect, announced) => {
      const whole = plainStream(host, ["Whole ", "answer"], plainUsage(host, 10, 2));
      harness.upstream.play(harness.upstream.brokenStream(announced, 5), harness.upstream.stream(whole));
      const given = await harness.call(dialect, { model: `test/${host}`, stream: true });
      expect([given.status, harness.upstream.requests.length]).toEqual([200, 2]);
      expect(given.text).toContain("answer");
      expect(given.text).not.toContain("error");
    },
  );
});
