import { expect, test } from "bun:test";
import { DIALECTS } from "../../testing/build-call.ts";
import { scriptedModels } from "../../testing/scripted-models.ts";
import { wire } from "../../testing/upstream-wire.ts";
import { callGateway } from "../support/client-calls.ts";
import { scriptedHarness } from "../support/scripted-harness.ts";
import { sleep, startEvents } from "../support/scripted-upstream.ts";

const CONCURRENT = 8;
const LIMITED_KEY = `sk-trv-${"KeyWithAFewPlaces".padEnd(43, "x")}`;
const { upstream, gateway } = await scriptedHarness((url) => ({
  config: {
    ...scriptedModels(url),
    keys: [{ name: "few", key: LIMITED_KEY, limits: { concurrent: CONCURRENT } }],
  },
  timings: { commitDeadlineMs: 15, readOnMs: 100 },
}));

const whole = {
  chat: wire.chatChunk({ role: "assistant", content: "hi" }) + wire.chatChunk({}, "stop") + wire.done,
  messages: wire.messageStart() + wire.textBlock("hi") + wire.messageEnd(),
  genai: wire.genaiChunk("hi") + wire.genaiChunk("!", "STOP"),
};

for (const dialect of DIALECTS) {
  test(`H13, H23: ${dialect}: clients that leave at any moment give their place back, and stop their upstream`, async () => {
    upstream.play(async (_request, response) => {
      await sleep(Math.random() * 25);
      startEvents(response);
      response.write(whole[dialect].slice(0, 300));
      await sleep(Math.random() * 25);
      response.end(whole[dialect].slice(300));
    });
    for (let round = 0; round < 12; round++) {
      const leaving = Array.from({ length: CONCURRENT }, async (_, place) => {
        const controller = new AbortController();
        setTimeout(() => controller.abort(), 1 + place * 6 + Math.random() * 6);
        // An answer in one piece is none here: such a call fails, and its client leaves in the pause before the second try.
        const options = { stream: place % 4 !== 3, signal: controller.signal, key: LIMITED_KEY };
        await callGateway(gateway.url, dialect, LIMITED_KEY, options)
          .then((response) => response.text())
          .catch(() => "left");
      });
      await Promise.all(leaving);
    }
    const until = Date.now() + 3000;
    while (upstream.open > 0 && Date.now() < until) await sleep(20);
    expect(upstream.open).toBe(0);
    await sleep(50);
    const calls = Array.from({ length: CONCURRENT }, () =>
      callGateway(gateway.url, dialect, LIMITED_KEY, { stream: true, key: LIMITED_KEY }),
    );
    const statuses = await Promise.all(calls.map(async (call) => (await call).status));
    expect(statuses).toEqual(Array.from({ length: CONCURRENT }, () => 200));
    await Promise.all(calls.map(async (call) => (await call).text()));
  });
}
