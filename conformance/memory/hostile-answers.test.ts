import { afterEach, beforeAll, describe, expect, test } from "bun:test";
import { cpuMs } from "../../src/base/cpu-time.sample.ts";
import type { DialectName } from "../../src/canon/dialect-name.ts";
import { Harness, UPSTREAM_URL } from "../../testing/harness.ts";
import {
  HOSTILE_ANSWERS,
  type HostileAnswer,
  type HostileHost,
  hostileBytes,
  hostileModels,
  hostileType,
} from "../../testing/hostile-answers.ts";
import { errorIn } from "../../testing/sent-call.ts";
import { wire } from "../../testing/upstream-wire.ts";

const KB = 1024;
const CLIENTS: readonly DialectName[] = ["chat", "messages", "genai", "responses"];

let harness: Harness;
beforeAll(async () => {
  harness = await Harness.start({ config: hostileModels(UPSTREAM_URL, { first_byte: 60_000, idle: 30_000 }) });
});
afterEach(() => expect(harness.leftovers()).toMatchObject({ runningCalls: 0, heldBytes: 0, openUpstreams: 0 }));

/** The client's response to an upstream text, sent in packets as a socket would deliver them. */
async function answerTo(answer: HostileAnswer, bytes: Uint8Array, client: DialectName) {
  const { upstream } = harness;
  upstream.play(async (reply) => {
    reply.head(200, { "content-type": hostileType(answer) });
    for (let at = 0; at < bytes.length; at += 64 * KB) {
      if (reply.closedAtMs !== undefined) return;
      await reply.write(bytes.subarray(at, at + 64 * KB));
    }
    reply.end();
  });
  return await harness.call(client, { stream: answer.stream, model: `test/${answer.host}` });
}

/** CPU time in milliseconds: other load on the machine makes a call wait, not work. */
async function cpuOf(answer: HostileAnswer, bytes: Uint8Array, client: DialectName): Promise<number> {
  const before = cpuMs();
  await answerTo(answer, bytes, client);
  return cpuMs() - before;
}

/** Its own protocol if clients speak it, and one that it is translated to: the encoders are the same for every host. */
const clientsOf = ({ host }: HostileAnswer): readonly DialectName[] => {
  const own = CLIENTS.filter((client) => client === host);
  return [...own, host === "responses" ? "messages" : "responses", ...(own.length === 0 ? (["genai"] as const) : [])];
};

describe("S18: the cost of a response grows linearly with its length", () => {
  // Four times the bytes may cost four times the CPU time; sixteen times would be quadratic.
  const MOST = 8;
  // Whatever costs less for half a megabyte is cheap, however it grows up to there: the limits on answers end it soon after.
  const CHEAP_MS = 40;

  test.each(HOSTILE_ANSWERS.map((answer) => [`${answer.host}: ${answer.name}`, answer] as const))(
    "%s",
    async (_name, answer) => {
      const large = hostileBytes(answer, 512 * KB);
      for (const client of clientsOf(answer)) {
        let cost = await cpuOf(answer, large, client);
        if (cost < CHEAP_MS) continue;
        const small = await cpuOf(answer, hostileBytes(answer, 128 * KB), client);
        // A garbage collection, or the compiler, in one of them proves nothing.
        for (let again = 0; again < 3 && cost > MOST * small + CHEAP_MS; again++)
          cost = Math.min(cost, await cpuOf(answer, large, client));
        expect({ client, small, cost, grows: cost > MOST * small + CHEAP_MS }).toMatchObject({ grows: false });
      }
    },
  );
});

describe("S18: a response that holds too much is the provider's failure", () => {
  const named = (name: string, host: HostileHost = "chat") => {
    const found = HOSTILE_ANSWERS.find((answer) => answer.name === name && answer.host === host);
    if (found === undefined) throw new Error(`no answer ${name}`);
    return found;
  };
  const failureOf = (text: string) => /(more than \d+ [^."\\]+)/.exec(text)?.[1];

  test.each([
    ["calls", 1024 * KB, "more than 1024 tool calls in one response"],
    ["calls in one event", 200 * KB, "more than 1024 tool calls in one response"],
    ["calls with one id", 1024 * KB, "more than 1024 tool calls in one response"],
    ["data lines", 100 * KB, "more than 10000 lines"],
    ["comment lines", 100 * KB, "more than 10000 lines"],
    ["choices in one event", 40 * KB, "more than 128 choices in one response"],
    ["annotations in one event", 2048 * KB, "more than 10000 items in one event"],
    ["one event, tiny values", 1024 * KB, "more than 250000 JSON values in one event"],
    ["newlines", 2200 * KB, "more than 1000000 events in one response"],
  ] as const)("chat: %s", async (name, bytes, failure) => {
    const { text } = await answerTo(named(name), hostileBytes(named(name), bytes), "chat");
    expect(failureOf(text)).toBe(failure);
    expect(text).toContain("upstream_failed");
  });

  test.each(CLIENTS)("more than 1024 calls, whatever the protocols: %s", async (client) => {
    for (const upstream of CLIENTS) {
      const answer = named("calls", upstream);
      const { text } = await answerTo(answer, hostileBytes(answer, 1024 * KB), client);
      // Within one protocol, only chat keeps anything about a call.
      if (client !== upstream || client === "chat")
        expect([upstream, failureOf(text)]).toEqual([upstream, "more than 1024 tool calls in one response"]);
    }
  });

  test.each([
    ["whole: calls", 600 * KB, "more than 1024 tool calls in one response"],
    ["whole: choices", 200 * KB, "more than 128 choices in one response"],
    ["whole: parts", 400 * KB, "more than 10000 items in one response"],
    ["whole: tiny values", 2100 * KB, "more than 1000000 JSON values in one response"],
  ] as const)("chat, %s", async (name, bytes, failure) => {
    const refused = await answerTo(named(name), hostileBytes(named(name), bytes), "chat");
    expect([refused.status, failureOf(errorIn(refused).message)]).toEqual([502, failure]);
  });

  test.each([
    ["chat", "sealed thoughts of a later call", 400 * KB, "more than 1024 tool calls in one response"],
    [
      "chat",
      "one call, a list in its arguments",
      1024 * KB,
      "more than 250000 JSON values in the arguments of one tool call",
    ],
    [
      "messages",
      "one call, a list in its arguments",
      1024 * KB,
      "more than 250000 JSON values in the arguments of one tool call",
    ],
    [
      "converse",
      "one call, a list in its arguments",
      1024 * KB,
      "more than 250000 JSON values in the arguments of one tool call",
    ],
    ["genai", "partial calls", 2048 * KB, "more than 10000 argument pieces in one tool call"],
    ["genai", "recitations", 2048 * KB, "more than 10000 blocks and citations in one response"],
    ["converse", "calls", 1024 * KB, "more than 1024 tool calls in one response"],
    ["converse", "one event, tiny values", 1024 * KB, "more than 250000 JSON values in one event"],
    ["framed", "one event, tiny values", 1024 * KB, "more than 250000 JSON values in one event"],
  ] as const)("%s: %s", async (host, name, bytes, failure) => {
    const client = host === "genai" ? "messages" : "genai";
    const { text } = await answerTo(named(name, host), hostileBytes(named(name, host), bytes), client);
    expect(failureOf(text)).toBe(failure);
  });

  test.each([
    ["chat", "one text that is not UTF-8"],
    ["chat", "whole: one text that is not UTF-8"],
    ["framed", "one text that is not UTF-8"],
  ] as const)("more than a megabyte that is not UTF-8 is not repaired: %s, %s", async (host, name) => {
    const answer = named(name, host);
    const { text } = await answerTo(answer, hostileBytes(answer, 1100 * KB), "responses");
    expect([text.includes("\ufffd"), /"code": ?"(?:upstream_failed|server_error)"/.test(text)]).toEqual([false, true]);
  });

  test("H31: what came before an oversized event is kept", async () => {
    const answer = named("data lines");
    for (const client of CLIENTS) {
      const { status, text } = await answerTo(answer, hostileBytes(answer, 100 * KB), client);
      expect([status, text.includes("hello"), failureOf(text)]).toEqual([200, true, "more than 10000 lines"]);
    }
  });

  test("H03: as many calls as are read arrive complete, even interleaved", async () => {
    const { upstream } = harness;
    const fragment = (index: number, more: object) => wire.chatChunk({ tool_calls: [{ index, ...more }] });
    const indices = Array.from({ length: 1024 }, (_, index) => index);
    const first = indices.map((index) =>
      fragment(index, { id: `call_${index}`, type: "function", function: { name: "f", arguments: '{"n":' } }),
    );
    const second = indices.map((index) => fragment(index, { function: { arguments: `${index}}` } }));
    upstream.play(upstream.stream(...first, ...second, wire.chatChunk({}, "tool_calls") + wire.done));
    const { text } = await harness.call("messages", { stream: true, model: "test/chat" });
    const inputs = new Map<number, string>();
    for (const [, data = ""] of text.matchAll(/^data: (.+)$/gm)) {
      const event = JSON.parse(data) as { index?: number; delta?: { partial_json?: string } };
      if (event.delta?.partial_json !== undefined && event.index !== undefined)
        inputs.set(event.index, (inputs.get(event.index) ?? "") + event.delta.partial_json);
    }
    expect([...inputs.values()]).toEqual(indices.map((index) => `{"n":${index}}`));
  });
});
