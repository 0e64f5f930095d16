import { expect, test } from "bun:test";
import { buildCall } from "../../testing/build-call.ts";
import { scriptedModels } from "../../testing/scripted-models.ts";
import { wire } from "../../testing/upstream-wire.ts";
import { beginCall } from "../support/client-calls.ts";
import { scriptedHarness } from "../support/scripted-harness.ts";
import { sleep, startEvents } from "../support/scripted-upstream.ts";

const { upstream, gateway } = await scriptedHarness((url) => ({
  config: scriptedModels(url),
  timings: { slowReaderMs: 300 },
}));

test("H13, H20: a client that reads nothing is dropped: its upstream stops, and its connection is closed", async () => {
  const chunk = wire.chatChunk({ content: "x".repeat(100_000) });
  upstream.play(async (_request, response) => {
    startEvents(response);
    while (!response.destroyed) {
      if (!response.write(chunk))
        await Promise.race([new Promise((resolve) => response.once("drain", resolve)), sleep(50)]);
    }
  });
  const call = buildCall(gateway.url, "chat", gateway.key, { stream: true });
  const body = String(call[1].body);
  const socket = beginCall(call, body.length);
  socket.pause();
  socket.write(body);
  const until = Date.now() + 60_000;
  while (upstream.disconnects === 0 && Date.now() < until) await sleep(50);
  expect(upstream.disconnects).toBe(1);
  // The runtime checks for silent connections every few seconds.
  await sleep(5_000);
  const closed = new Promise((resolve) => socket.once("close", () => resolve("closed")));
  socket.on("error", () => {});
  socket.resume();
  expect(await Promise.race([closed, sleep(60_000)])).toBe("closed");
});
