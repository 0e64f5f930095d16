import { expect, test } from "bun:test";
import fc from "fast-check";
import { Harness, UPSTREAM_URL } from "../../testing/harness.ts";
import { plainStream, plainUsage } from "../../testing/plain-answer.ts";
import { SCRIPTED_DIALECTS } from "../../testing/sampled-dialects.ts";
import { modelsOfEveryDialect } from "../../testing/scripted-models.ts";
import { wire } from "../../testing/upstream-wire.ts";

const CONCURRENT = 8;
const LIMITED_KEY = `sk-trv-${"KeyWithAFewSlots".padEnd(43, "x")}`;
/** Longer than a response takes here, and than the pause before a retry. */
const LONG_MS = 4_000;

const whole = {
  responses: plainStream("responses", ["hi", "!"], plainUsage("responses", 10, 5)),
  chat: wire.chatChunk({ role: "assistant", content: "hi" }) + wire.chatChunk({}, "stop") + wire.done,
  messages: wire.messageStart() + wire.textBlock("hi") + wire.messageEnd(),
  genai: wire.genaiChunk("hi") + wire.genaiChunk("!", "STOP"),
};

const moment = fc.integer({ min: 0, max: LONG_MS });
/**
 * When the host begins and ends, and when the client disconnects; a non-streamed response fails here, and is retried.
 */
const visit = fc.record({ beginsMs: moment, goesOnMs: moment, leavesMs: moment, stream: fc.boolean() });

for (const dialect of SCRIPTED_DIALECTS) {
  test(`H13, H23: ${dialect}: clients that disconnect at any moment release their slot and stop their upstream`, async () => {
    const harness = await Harness.start({
      config: {
        ...modelsOfEveryDialect(UPSTREAM_URL, { first_byte: 60_000, idle: 60_000 }),
        keys: [{ name: "few", key: LIMITED_KEY, limits: { concurrent: CONCURRENT } }],
      },
      timings: { commitDeadlineMs: 1_500, readOnMs: 1_000 },
    });
    const { clock, upstream } = harness;
    const visits = fc.array(visit, { minLength: CONCURRENT, maxLength: CONCURRENT });
    await fc.assert(
      fc.asyncProperty(visits, async (all) => {
        upstream.play(
          ...all.map(({ beginsMs, goesOnMs }) =>
            upstream.stream(beginsMs, whole[dialect].slice(0, 300), goesOnMs, whole[dialect].slice(300)),
          ),
        );
        const calls = all.map(({ stream, leavesMs }) => {
          const call = harness.send(dialect, { stream, key: LIMITED_KEY });
          clock.after(leavesMs, () => call.disconnect());
          return call;
        });
        await clock.pass(5 * LONG_MS);
        expect(harness.leftovers()).toMatchObject({
          runningCalls: 0,
          orphanedTexts: 0,
          heldBytes: 0,
          openUpstreams: 0,
        });
        const statuses = await Promise.allSettled(calls.map(async (call) => (await call.response).status));
        // No call was refused: the slots of the calls before were free again.
        for (const one of statuses) expect(one).not.toMatchObject({ value: 429 });
      }),
      { numRuns: 25 },
    );
  });
}
