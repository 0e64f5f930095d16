import { afterEach, beforeAll, describe, expect, test } from "bun:test";
import type { DialectName } from "../../src/canon/dialect-name.ts";
import { Harness, UPSTREAM_URL } from "../../testing/harness.ts";
import { HOSTILE_ANSWERS, type HostileAnswer, hostileText } from "../../testing/hostile-answers.ts";
import { modelsOfEveryDialect } from "../../testing/scripted-models.ts";
import { errorIn } from "../../testing/sent-call.ts";
import { wire } from "../../testing/upstream-wire.ts";

const KB = 1024;
const CLIENTS: readonly DialectName[] = ["chat", "messages", "genai", "responses"];

let harness: Harness;
beforeAll(async () => {
  harness = await Harness.start({ config: modelsOfEveryDialect(UPSTREAM_URL, { first_byte: 60_000, idle: 30_000 }) });
});
afterEach(() => expect(harness.leftovers()).toMatchObject({ runningCalls: 0, heldBytes: 0, openUpstreams: 0 }));

/** The client's answer to a text of an upstream, sent in packets as a socket would give them. */
async function answerTo({ upstream: from, stream }: HostileAnswer, text: string, client: DialectName) {
  const { upstream } = harness;
  upstream.play(async (reply) => {
    reply.head(200, { "content-type": stream ? "text/event-stream" : "application/json" });
    const bytes = Buffer.from(text);
    for (let at = 0; at < bytes.length; at += 64 * KB) {
      if (reply.closedAtMs !== undefined) return;
      await reply.write(bytes.subarray(at, at + 64 * KB));
    }
    reply.end();
  });
  return await harness.call(client, { stream, model: `test/${from}` });
}

/** The least CPU time of a few runs, in milliseconds: what else the machine does only adds to it. */
async function cpuOf(answer: HostileAnswer, bytes: number, client: DialectName): Promise<number> {
  const text = hostileText(answer, bytes);
  let least = Number.POSITIVE_INFINITY;
  for (let run = 0; run < 2; run++) {
    const before = process.cpuUsage();
    await answerTo(answer, text, client);
    const { user, system } = process.cpuUsage(before);
    least = Math.min(least, (user + system) / 1000);
  }
  return least;
}

describe("S18: what an answer costs grows with its length, and no faster", () => {
  // Twice the bytes may cost twice the time; four times would be quadratic. Below some milliseconds nothing is measured.
  const MOST = 3;
  const NOTHING_MS = 40;

  test.each(HOSTILE_ANSWERS.map((answer) => [`${answer.upstream}: ${answer.name}`, answer] as const))(
    "%s",
    async (_name, answer) => {
      // Its own protocol, and one that it is translated to: the encoders of all of them are the same for every upstream.
      for (const client of [answer.upstream, answer.upstream === "responses" ? "messages" : "responses"] as const) {
        const small = await cpuOf(answer, 256 * KB, client);
        let large = await cpuOf(answer, 512 * KB, client);
        // A collection of garbage in one of them proves nothing.
        for (let again = 0; again < 3 && large > MOST * small + NOTHING_MS; again++)
          large = Math.min(large, await cpuOf(answer, 512 * KB, client));
        expect({ client, small, large, grows: large > MOST * small + NOTHING_MS }).toMatchObject({ grows: false });
      }
    },
  );
});

describe("S18: an answer that holds too much is the provider's failure", () => {
  const named = (name: string, upstream: DialectName = "chat") => {
    const found = HOSTILE_ANSWERS.find((answer) => answer.name === name && answer.upstream === upstream);
    if (found === undefined) throw new Error(`no answer ${name}`);
    return found;
  };
  const failureOf = (text: string) => /(more than \d+ [^."\\]+)/.exec(text)?.[1];

  test.each([
    ["calls", 1024 * KB, "more than 1024 tool calls in one answer"],
    ["calls in one event", 200 * KB, "more than 1024 tool calls in one answer"],
    ["calls with one id", 1024 * KB, "more than 1024 tool calls in one answer"],
    ["data lines", 100 * KB, "more than 10000 lines"],
    ["comment lines", 100 * KB, "more than 10000 lines"],
    ["choices in one event", 40 * KB, "more than 128 choices in one answer"],
    ["annotations in one event", 2048 * KB, "more than 10000 items in one event"],
    ["tiny values in one event", 1024 * KB, "more than 250000 JSON values in one event"],
    ["newlines", 2200 * KB, "more than 1000000 events in one answer"],
  ] as const)("chat: %s", async (name, bytes, failure) => {
    const { text } = await answerTo(named(name), hostileText(named(name), bytes), "chat");
    expect(failureOf(text)).toBe(failure);
    expect(text).toContain("upstream_failed");
  });

  test.each(CLIENTS)("more than 1024 calls, whatever the protocols: %s", async (client) => {
    for (const upstream of CLIENTS) {
      const answer = named("calls", upstream);
      const { text } = await answerTo(answer, hostileText(answer, 1024 * KB), client);
      // Between two of the same protocol nothing is kept of a call but in chat.
      if (client !== upstream || client === "chat")
        expect([upstream, failureOf(text)]).toEqual([upstream, "more than 1024 tool calls in one answer"]);
    }
  });

  test.each([
    ["whole: calls", 600 * KB, "more than 1024 tool calls in one answer"],
    ["whole: choices", 200 * KB, "more than 128 choices in one answer"],
    ["whole: parts", 400 * KB, "more than 10000 items in one answer"],
    ["whole: tiny values", 2100 * KB, "more than 1000000 JSON values in one answer"],
  ] as const)("chat, %s", async (name, bytes, failure) => {
    const refused = await answerTo(named(name), hostileText(named(name), bytes), "chat");
    expect([refused.status, failureOf(errorIn(refused).message)]).toEqual([502, failure]);
  });

  test("H31: what came before an event that is too large stands", async () => {
    const answer = named("data lines");
    for (const client of CLIENTS) {
      const { status, text } = await answerTo(answer, hostileText(answer, 100 * KB), client);
      expect([status, text.includes("hello"), failureOf(text)]).toEqual([200, true, "more than 10000 lines"]);
    }
  });

  test("H03: as many calls as are read arrive whole, interleaved too", async () => {
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
