import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { system } from "../../src/base/system.ts";
import { ERROR_TABLE, type ErrorKind } from "../../src/canon/error.ts";
import { createSend, sendFailure } from "../../src/wire/send.ts";
import { Harness, UPSTREAM_URL } from "../../testing/harness.ts";
import type { Script } from "../../testing/memory-network.ts";
import { plainAnswer, plainStream, plainUsage } from "../../testing/plain-answer.ts";
import { SCRIPTED_DIALECTS, type ScriptedDialect } from "../../testing/sampled-dialects.ts";
import { wire } from "../../testing/upstream-wire.ts";
import { ResponsesScript } from "../../testing/wires/responses-wire.ts";

type Reply = Parameters<Script>[0];

/**
 * Choices 4: the effect of a fault of the first of two providers, in four protocols, streamed or not, with fallback or
 * without. `npm run faults:matrix` prints it.
 */
const PRINT = process.env["TRIVIUM_FAULTS"] === "matrix";

/**
 * The effect of a fault on the health of its offer after two calls: it opens the breaker, pauses the offer, or has no
 * effect.
 */
type Effect = "open" | "quiet" | "none";

interface Fault {
  name: string;
  kind: ErrorKind;
  effect: Effect;
  play: (reply: Reply, dialect: ScriptedDialect, stream: boolean) => void | Promise<void>;
  /**
   * Streamed, it comes after the first content: the client gets the error inside its stream, and what was generated is
   * billed.
   */
  afterContent?: true;
}

const refuses =
  (status: number, headers: Record<string, string> = {}) =>
  (reply: Reply) => {
    reply.head(status, headers);
    void reply.write(JSON.stringify({ error: { message: "no", type: "api_error" } }));
    reply.end();
  };

const EVENTS = { "content-type": "text/event-stream" };
const typeOf = (stream: boolean) => (stream ? EVENTS : {});

/** The first content of a stream, or half of a response. */
const beginning = (dialect: ScriptedDialect, stream: boolean): string => {
  if (!stream) return JSON.stringify(plainAnswer(dialect, { text: "half", usage: {} })).slice(0, 40);
  const half = new ResponsesScript();
  return {
    chat: wire.chatChunk({ content: "half of it" }),
    messages: wire.messageStart() + wire.textBlock("half of it"),
    genai: wire.genaiChunk("half of it"),
    responses: half.begin() + half.delta("half of it"),
  }[dialect];
};

/** An error in each protocol's form. */
const errorEvent = (dialect: ScriptedDialect): string =>
  dialect === "messages" || dialect === "responses"
    ? wire.event({ type: "error", error: { type: "api_error", message: "it broke" } })
    : `data: ${JSON.stringify({ error: { message: "it broke", code: 500, status: "INTERNAL" } })}\n\n`;

const FAULTS: readonly Fault[] = [
  { name: "refused", kind: "upstream_failed", effect: "open", play: (reply) => reply.fail("connect") },
  { name: "DNS", kind: "upstream_failed", effect: "open", play: (reply) => reply.fail("connect") },
  { name: "TLS", kind: "upstream_failed", effect: "open", play: (reply) => reply.fail("connect") },
  { name: "401", kind: "upstream_credentials", effect: "open", play: refuses(401) },
  { name: "403", kind: "upstream_credentials", effect: "open", play: refuses(403) },
  { name: "404", kind: "not_found", effect: "open", play: refuses(404) },
  { name: "408", kind: "upstream_timeout", effect: "open", play: refuses(408) },
  { name: "409", kind: "upstream_failed", effect: "open", play: refuses(409) },
  { name: "429", kind: "rate_limited", effect: "quiet", play: refuses(429) },
  { name: "429, Retry-After", kind: "rate_limited", effect: "quiet", play: refuses(429, { "retry-after": "30" }) },
  { name: "500", kind: "upstream_failed", effect: "open", play: refuses(500) },
  { name: "502", kind: "upstream_failed", effect: "open", play: refuses(502) },
  { name: "503", kind: "overloaded", effect: "open", play: refuses(503) },
  { name: "529", kind: "overloaded", effect: "open", play: refuses(529) },
  { name: "slow first byte", kind: "upstream_timeout", effect: "open", play: () => {} },
  {
    name: "stall",
    kind: "upstream_timeout",
    effect: "open",
    afterContent: true,
    play: async (reply, dialect, stream) => {
      reply.head(200, typeOf(stream));
      await reply.write(beginning(dialect, stream));
    },
  },
  {
    name: "cut in mid-event",
    kind: "upstream_failed",
    effect: "open",
    afterContent: true,
    play: async (reply, dialect, stream) => {
      reply.head(200, typeOf(stream));
      await reply.write(`${beginning(dialect, stream)}${stream ? 'data: {"id":"ch' : ""}`);
      reply.fail("broken");
    },
  },
  {
    name: "garbage",
    kind: "upstream_failed",
    effect: "open",
    play: (reply, _dialect, stream) => {
      reply.head(200, typeOf(stream));
      void reply.write(stream ? "data: \u0000\u0001{[[\n\n" : "\u0000\u0001{[[");
      reply.end();
    },
  },
  {
    name: "HTML 200",
    kind: "upstream_failed",
    effect: "open",
    play: (reply) => {
      reply.head(200, { "content-type": "text/html" });
      void reply.write("<html><body>Welcome</body></html>");
      reply.end();
    },
  },
  {
    name: "error inside 200",
    kind: "upstream_failed",
    effect: "open",
    play: (reply, dialect) => {
      reply.head(200);
      const error = { message: "it broke", code: 500, status: "INTERNAL", type: "api_error" };
      void reply.write(JSON.stringify(dialect === "messages" ? { type: "error", error } : { error }));
      reply.end();
    },
  },
  {
    name: "error in stream",
    kind: "upstream_failed",
    effect: "open",
    afterContent: true,
    play: async (reply, dialect, stream) => {
      if (!stream) return refuses(500)(reply);
      reply.head(200, EVENTS);
      await reply.write(beginning(dialect, true) + errorEvent(dialect));
      reply.end();
    },
  },
];

interface Case {
  fault: Fault;
  dialect: ScriptedDialect;
  stream: boolean;
  fallback: boolean;
  place: string;
}

const CASES: readonly Case[] = FAULTS.flatMap((fault) =>
  SCRIPTED_DIALECTS.flatMap((dialect) =>
    [false, true].flatMap((stream) => [true, false].map((fallback) => ({ fault, dialect, stream, fallback }))),
  ),
).map((one, index) => ({ ...one, place: `case${index}` }));

const KINDS = {
  chat: "openai-compatible",
  messages: "anthropic",
  genai: "gemini",
  responses: "openai-compatible",
} as const;
const SAID = { input: 10, output: 20 };

let harness: Harness;
beforeAll(async () => {
  const provider = (dialect: ScriptedDialect, path: string) => ({
    kind: KINDS[dialect],
    base_url: `${UPSTREAM_URL}/${path}${KINDS[dialect] === "openai-compatible" ? "/v1" : ""}`,
    api_key: "key-of-the-host",
    timeout_ms: { first_byte: 3_000, idle: 1_500 },
  });
  const prices = {
    prompt: [{ value: 1, unit: "perMTokens", currency: "USD" }],
    completion: [{ value: 2, unit: "perMTokens", currency: "USD" }],
  };
  harness = await Harness.start({
    config: {
      routing: { breaker: { failures: 2, window_ms: 600_000, open_ms: 600_000 }, sticky: "off" },
      providers: Object.fromEntries(
        CASES.flatMap(({ dialect, place }) => [
          [`${place}-first`, provider(dialect, `${place}/first`)],
          [`${place}-second`, provider(dialect, `${place}/second`)],
        ]),
      ),
      models: CASES.map(({ place, dialect }) => ({
        id: `test/${place}`,
        max_output_tokens: 8192,
        pricings: prices,
        offers: ["first", "second"].map((name) => ({
          provider: `${place}-${name}`,
          model: "upstream-model",
          ...(dialect === "responses" && { dialect }),
        })),
      })),
    },
  });
});

const answers =
  (dialect: ScriptedDialect, stream: boolean): Script =>
  async (reply) => {
    const usage = plainUsage(dialect, SAID.input, SAID.output);
    reply.head(200, typeOf(stream));
    void reply.write(
      stream
        ? plainStream(dialect, ["Hello ", "there"], usage)
        : JSON.stringify(plainAnswer(dialect, { text: "Hello there", usage })),
    );
    reply.end();
  };

/** What the state of an offer is called in the table. */
function effectOn({ place }: Case): Effect {
  const { snapshot, health, clock } = harness.gateway;
  const target = snapshot.targets.all().find(({ id }) => id.startsWith(`test/${place} ${place}-first `));
  if (target === undefined) throw new Error("no such target");
  const { state, quietUntilMs } = health.of(target);
  if (state === "open") return "open";
  return quietUntilMs > clock.nowMs() ? "quiet" : "none";
}

async function play({ fault, dialect, stream, fallback, place }: Case) {
  harness.upstream.play((reply, request) =>
    request.url.includes("/second") ? answers(dialect, stream)(reply, request) : fault.play(reply, dialect, stream),
  );
  const answer = await harness.call(dialect, {
    model: `test/${place}`,
    stream,
    headers: fallback ? {} : { "x-trivium-routing": JSON.stringify({ provider: { fallback: "false" } }) },
  });
  const receipt = await harness.receipt(answer);
  const first = harness.upstream.requests.filter(({ url }) => url.includes("/first")).length;
  return { answer, receipt, first };
}

/** In the table and out of it. */
interface Seen {
  status: number;
  told: "answer" | "error";
  first: number;
  source: string;
  used: boolean;
}

/** What the error table makes of it. */
function expected({ fault, dialect, stream, fallback }: Case): Seen {
  const { status, retrySameOffer, tryNextOffer } = ERROR_TABLE[fault.kind];
  if (stream && fault.afterContent) return { status: 200, told: "error", first: 1, source: "partial", used: true };
  const first = retrySameOffer ? 2 : 1;
  if (tryNextOffer && fallback) return { status: 200, told: "answer", first, source: "measured", used: true };
  const overloaded = fault.kind === "overloaded" && dialect === "messages" ? 529 : status;
  return { status: overloaded, told: "error", first, source: "measured", used: false };
}

/** How often its last word occurs: a Responses stream repeats everything at its end. */
const saidOnce = ({ dialect, stream }: Case, text: string) =>
  text.match(dialect === "responses" && stream ? /"delta":"there/g : /there/g);

const rows = new Map<string, string[]>();

describe("choices 4: the fault matrix", () => {
  test.each(FAULTS.map((fault) => [fault.name, fault] as const))("%s", async (_, fault) => {
    for (const one of CASES.filter((each) => each.fault === fault)) {
      const { answer, receipt, first } = await play(one);
      // In one of the protocols every response states that it has no error.
      const isError = /"error":(?!null)/.test(answer.text);
      const used = (receipt.usage["input"] ?? 0) > 0;
      const seen: Seen = {
        status: answer.status,
        told: isError ? "error" : "answer",
        first,
        source: receipt.usage_source,
        used,
      };
      const label = { dialect: one.dialect, stream: one.stream, fallback: one.fallback };
      expect({ ...label, ...seen }).toEqual({ ...label, ...expected(one) });
      // A break never looks like an end (H16), and nothing is sent twice (H17).
      if (seen.told === "error")
        expect(answer.text).not.toMatch(/\[DONE\]|message_stop|"finishReason"|response\.completed/);
      else expect(saidOnce(one, answer.text)).toHaveLength(1);
      if (seen.told === "answer") expect(receipt.cost_nano_usd).toBe(SAID.input * 1000 + SAID.output * 2000);
      // Once more: by then it has failed twice at least.
      await play(one);
      const effect = effectOn(one);
      expect({ ...label, effect }).toEqual({ ...label, effect: fault.effect });
      const key = `${fault.name} | ${one.stream ? "stream" : "unary"} | ${one.fallback ? "on" : "off"}`;
      const cells = rows.get(key) ?? [];
      cells.push(`${seen.status} ${seen.told}`);
      if (cells.length === SCRIPTED_DIALECTS.length)
        cells.push(String(first), used ? seen.source : "nothing", `${fault.kind}, ${effect}`);
      rows.set(key, cells);
    }
    expect(harness.leftovers()).toMatchObject({ runningCalls: 0, heldBytes: 0, openUpstreams: 0 });
  });
});

test("refused connections, DNS and TLS behave over real sockets as the matrix plays them", async () => {
  const plain = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response("no TLS here") });
  const send = createSend(system.clock);
  const closed = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response("") });
  const { port } = closed;
  await closed.stop(true);
  const urls = [`http://127.0.0.1:${port}/`, "http://no-such-host.invalid/", `https://127.0.0.1:${plain.port}/`];
  const kinds = urls.map(async (url) => {
    const exchange = send({ url, headers: {}, body: "{}" });
    return await exchange.answer().then(
      () => "answered",
      (thrown: unknown) => sendFailure(thrown),
    );
  });
  expect(await Promise.all(kinds)).toEqual(["connect", "connect", "connect"]);
  await plain.stop(true);
});

afterAll(() => {
  if (!PRINT) return;
  const columns = [
    "fault",
    "answer",
    "fallback",
    ...SCRIPTED_DIALECTS,
    "tries of it",
    "billed",
    "kind, health after two calls",
  ];
  console.log(`| ${columns.join(" | ")} |`);
  console.log(`|${"---|".repeat(columns.length)}`);
  for (const [key, cells] of rows) console.log(`| ${key} | ${cells.join(" | ")} |`);
});
