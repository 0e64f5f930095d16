import { test } from "bun:test";
import { eventually } from "../../testing/eventually.ts";
import { scriptedModels } from "../../testing/scripted-models.ts";
import { wire } from "../../testing/upstream-wire.ts";
import { callGateway } from "../support/client-calls.ts";
import { scriptedHarness } from "../support/scripted-harness.ts";
import { sleep, startEvents } from "../support/scripted-upstream.ts";

/** Over sockets, for one protocol; all of them, at every moment, are in conformance/memory/disconnects.test.ts. */

const CONCURRENT = 8;
const ROUNDS = 4;
const LIMITED_KEY = `sk-trv-${"KeyWithAFewSlots".padEnd(43, "x")}`;
const { upstream, gateway } = await scriptedHarness((url) => ({
  config: {
    ...scriptedModels(url),
    keys: [{ name: "few", key: LIMITED_KEY, limits: { concurrent: CONCURRENT } }],
  },
  timings: { commitDeadlineMs: 15, readOnMs: 100 },
}));

const whole = wire.chatChunk({ role: "assistant", content: "hi" }) + wire.chatChunk({}, "stop") + wire.done;

test("H13, H23: clients that disconnect at any moment release their slot and stop their upstream", async () => {
  upstream.play(async (_request, response) => {
    await sleep(Math.random() * 25);
    startEvents(response);
    response.write(whole.slice(0, 300));
    await sleep(Math.random() * 25);
    response.end(whole.slice(300));
  });
  for (let round = 0; round < ROUNDS; round++) {
    const disconnects = Array.from({ length: CONCURRENT }, async (_, index) => {
      const controller = new AbortController();
      setTimeout(() => controller.abort(), 1 + index * 6 + Math.random() * 6);
      // A non-streamed call fails here, and its client disconnects in the pause before the retry.
      const options = { stream: index % 4 !== 3, signal: controller.signal };
      await callGateway(gateway.url, "chat", LIMITED_KEY, options)
        .then((response) => response.text())
        .catch(() => "left");
    });
    await Promise.all(disconnects);
  }
  const isQuiet = () => upstream.open === 0 && gateway.app.active() === 0;
  await eventually("the end of all calls", isQuiet, { seen: () => [upstream.open, gateway.app.active()] });
  // A call whose client has disconnected may still be unread in a socket, and takes a slot for a moment. One that leaks
  // is never released.
  const fill = () =>
    Promise.all(
      Array.from({ length: CONCURRENT }, async () => {
        const answer = await callGateway(gateway.url, "chat", LIMITED_KEY, { stream: true });
        await answer.text();
        return answer.status;
      }),
    );
  await eventually("all slots", async () => (await fill()).every((status) => status === 200));
});
