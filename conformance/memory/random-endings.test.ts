import { expect, test } from "bun:test";
import fc from "fast-check";
import type { DialectName } from "../../src/canon/dialect-name.ts";
import { Harness, UPSTREAM_URL } from "../../testing/harness.ts";
import type { Script } from "../../testing/memory-network.ts";
import { plainAnswer, plainStream, plainUsage } from "../../testing/plain-answer.ts";
import { SCRIPTED_DIALECTS } from "../../testing/sampled-dialects.ts";
import { modelsOfEveryDialect } from "../../testing/scripted-models.ts";
import { TEST_KEY } from "../../testing/test-key.ts";

/**
 * H13, H14, H29: however host and client end, at any byte and moment, nothing leaks: no call, no memory, no
 * concurrency slot, no reserved money, no open request; each call has one row that lists every request sent.
 */
const CONCURRENT = 8;
const BUDGET_USD = 1_000;
/** Longer than every limit of an attempt. */
const LONG_MS = 150_000;
const answerOf = (host: DialectName, stream: boolean): string => {
  const usage = plainUsage(host, 10, 20);
  return stream
    ? plainStream(host, ["Hello ", "there"], usage)
    : JSON.stringify(plainAnswer(host, { text: "Hello there", usage }));
};

interface Ending {
  client: DialectName;
  host: DialectName;
  stream: boolean;
  /** How much of its response the host sends. */
  part: number;
  hostEnds: "closes" | "breaks" | "freezes" | "refuses" | "was stale";
  /** When its response begins, and when the second half of what it sends arrives. */
  beginsMs: number;
  goesOnMs: number;
  /** When the client disconnects, if it does. */
  disconnectsAfterMs: number | undefined;
}

const moment = fc.integer({ min: 0, max: 60_000 });
const ending: fc.Arbitrary<Ending> = fc.record({
  client: fc.constantFrom(...SCRIPTED_DIALECTS),
  host: fc.constantFrom(...SCRIPTED_DIALECTS),
  stream: fc.boolean(),
  part: fc.oneof(fc.constant(1), fc.double({ min: 0, max: 1, noNaN: true })),
  hostEnds: fc.constantFrom("closes", "breaks", "freezes", "refuses", "was stale"),
  beginsMs: moment,
  goesOnMs: moment,
  disconnectsAfterMs: fc.option(moment, { nil: undefined }),
});

/** The host that a test plays. */
const playing =
  ({ host, stream, part, hostEnds, beginsMs, goesOnMs }: Ending, { clock }: Harness): Script =>
  async (reply) => {
    if (hostEnds === "was stale") return reply.fail("stale");
    await clock.sleep(beginsMs);
    if (hostEnds === "refuses") return reply.fail("connect");
    const bytes = Buffer.from(answerOf(host, stream));
    const sent = bytes.subarray(0, Math.floor(bytes.length * part));
    const half = Math.floor(sent.length / 2);
    reply.head(200, { "content-type": stream ? "text/event-stream" : "application/json" });
    if (half > 0) void reply.write(sent.subarray(0, half));
    await clock.sleep(goesOnMs);
    if (sent.length > half) void reply.write(sent.subarray(half));
    if (hostEnds === "closes") reply.end();
    else if (hostEnds === "breaks") reply.fail("broken");
  };

test("H13, H14, H29: random endings on both sides leak nothing", async () => {
  const harness = await Harness.start({
    config: {
      ...modelsOfEveryDialect(UPSTREAM_URL, { first_byte: 25_000, idle: 20_000, content: 50_000, total: 100_000 }),
      keys: [{ name: "tests", key: TEST_KEY, limits: { concurrent: CONCURRENT, budget_usd_per_day: BUDGET_USD } }],
    },
  });
  const { clock, upstream, storage } = harness;
  const rows = async () => await storage.query("SELECT id, offers FROM receipts");
  await fc.assert(
    fc.asyncProperty(fc.array(ending, { minLength: CONCURRENT, maxLength: CONCURRENT }), async (endings) => {
      const before = (await rows()).length;
      upstream.play(...endings.map((one) => playing(one, harness)));
      // All at once: a leaked slot would refuse one of the next round.
      const calls = endings.map(({ client, host, stream, disconnectsAfterMs }) => {
        const call = harness.send(client, { model: `test/${host}`, stream });
        if (disconnectsAfterMs !== undefined) clock.after(disconnectsAfterMs, () => call.disconnect());
        return call;
      });
      await clock.pass(2 * LONG_MS);
      expect(harness.leftovers()).toEqual({
        runningCalls: 0,
        orphanedTexts: 0,
        orphanedImages: 0,
        heldBytes: 0,
        openUpstreams: 0,
      });
      for (const one of await Promise.allSettled(calls.map(async ({ response }) => (await response).status)))
        expect(one).not.toMatchObject({ value: 429 });
      const reported = (await rows())
        .slice(before)
        .map(({ offers }) => (JSON.parse(String(offers)) as unknown[]).length);
      expect(reported.length).toBe(endings.length);
      expect(reported.reduce((sum, count) => sum + count, 0)).toBe(upstream.requests.length);
      expect(upstream.mistakes).toEqual([]);
    }),
    { numRuns: 60, endOnFailure: true },
  );
});
