import { Database } from "bun:sqlite";
import { afterAll, expect, test } from "bun:test";
import { join } from "node:path";
import fc from "fast-check";
import { eventually } from "../../testing/eventually.ts";
import { plainAnswer, plainStream, plainUsage } from "../../testing/plain-answer.ts";
import { SCRIPTED_DIALECTS, type ScriptedDialect } from "../../testing/sampled-dialects.ts";
import { modelsOfEveryDialect } from "../../testing/scripted-models.ts";
import { TEST_KEY } from "../../testing/test-key.ts";
import { callGateway } from "../support/client-calls.ts";
import { startScriptedUpstream } from "../support/scripted-upstream.ts";
import { startTestGateway } from "../support/test-gateway.ts";

/**
 * H13, H14, H29: however host and client end, at any byte, nothing leaks: no call, no memory, no concurrency slot, no
 * reserved money, no connection; each call has one row that lists every request sent. A few times over sockets;
 * conformance/memory/random-endings.test.ts does it many times.
 */
const CONCURRENT = 8;
const BUDGET_USD = 1_000;
const answerOf = (host: ScriptedDialect, stream: boolean): string => {
  const usage = plainUsage(host, 10, 20);
  return stream
    ? plainStream(host, ["Hello ", "there"], usage)
    : JSON.stringify(plainAnswer(host, { text: "Hello there", usage }));
};

function bytesOf(host: ScriptedDialect, stream: boolean): string {
  const body = answerOf(host, stream);
  const type = stream ? "text/event-stream" : "application/json";
  const head = `content-type: ${type}\r\ncontent-length: ${Buffer.byteLength(body)}\r\nconnection: close`;
  return `HTTP/1.1 200 OK\r\n${head}\r\n\r\n${body}`;
}

interface Ending {
  client: ScriptedDialect;
  host: ScriptedDialect;
  stream: boolean;
  /** How much of its response the host sends. */
  part: number;
  hostEnds: "close" | "reset" | "freeze";
  /** When the client disconnects, if it does. */
  disconnectsAfterMs: number | undefined;
}

const ending: fc.Arbitrary<Ending> = fc.record({
  client: fc.constantFrom(...SCRIPTED_DIALECTS),
  host: fc.constantFrom(...SCRIPTED_DIALECTS),
  stream: fc.boolean(),
  part: fc.oneof(fc.constant(1), fc.double({ min: 0, max: 1, noNaN: true })),
  hostEnds: fc.constantFrom("close" as const, "reset" as const, "freeze" as const),
  disconnectsAfterMs: fc.option(fc.integer({ min: 0, max: 150 }), { nil: undefined }),
});

/** Selected by the prompt: the host reads it in the request. */
const plays = new Map<string, Ending>();
const upstream = await startScriptedUpstream();
upstream.play(({ body }, { socket }) => {
  const play = plays.get(/ending-\d+/.exec(body)?.[0] ?? "");
  if (play === undefined || socket === null) return;
  const bytes = bytesOf(play.host, play.stream);
  socket.write(bytes.slice(0, Math.floor(bytes.length * play.part)));
  if (play.hostEnds === "close") socket.end();
  else if (play.hostEnds === "reset") socket.resetAndDestroy();
});
const gateway = await startTestGateway({
  config: {
    ...modelsOfEveryDialect(upstream.url, { first_byte: 250, idle: 200, content: 500, total: 1_000 }),
    keys: [{ name: "tests", key: TEST_KEY, limits: { concurrent: CONCURRENT, budget_usd_per_day: BUDGET_USD } }],
  },
  timings: { commitDeadlineMs: 60, keepAliveMs: 30, afterFinishMs: 100, readOnMs: 100 },
});
afterAll(async () => {
  await gateway.stop();
  await upstream.stop();
});

interface Row {
  id: string;
  offers: string;
}
const database = new Database(join(gateway.folder, "data", "trivium.db"), { readonly: true });
afterAll(() => database.close());
const rows = (): Row[] => database.query<Row, []>("SELECT id, offers FROM receipts").all();

let number = 0;
async function play(one: Ending): Promise<void> {
  const name = `ending-${++number}`;
  plays.set(name, one);
  const { client, stream, disconnectsAfterMs } = one;
  const messages = [{ role: "user", content: name }];
  const body = {
    chat: { messages },
    messages: { messages },
    genai: { contents: [{ role: "user", parts: [{ text: name }] }] },
    responses: { input: name },
  }[client];
  const disconnect = new AbortController();
  const timer = disconnectsAfterMs === undefined ? undefined : setTimeout(() => disconnect.abort(), disconnectsAfterMs);
  const options = { model: `test/${one.host}`, stream, body, signal: disconnect.signal };
  try {
    const answer = await callGateway(gateway.url, client, TEST_KEY, options);
    await answer.text();
    expect(answer.status).not.toBe(429);
  } catch (thrown) {
    if (!disconnect.signal.aborted) throw thrown;
  }
  clearTimeout(timer);
  plays.delete(name);
}

test("H13, H14, H29: random endings on both sides leak nothing", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(ending, { minLength: CONCURRENT, maxLength: CONCURRENT }), async (endings) => {
      const [rowsBefore, heardBefore] = [rows().length, upstream.seen.length];
      // All at once: a leaked slot would refuse one of the next round.
      await Promise.all(endings.map(play));
      const left = () => [gateway.app.active(), gateway.app.heldBytes(), upstream.open];
      await eventually("the end of everything", () => left().every((count) => count === 0), { seen: left });
      const reported = () =>
        rows()
          .slice(rowsBefore)
          .reduce((sum, { offers }) => sum + (JSON.parse(offers) as unknown[]).length, 0);
      await eventually("all attempts to be reported", () => reported() >= upstream.seen.length - heardBefore, {
        seen: () => [reported(), upstream.seen.length - heardBefore],
      });
      expect(rows().length - rowsBefore).toBeLessThanOrEqual(endings.length);
    }),
    { numRuns: 4, endOnFailure: true },
  );
});
