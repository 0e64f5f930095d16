import { expect, test } from "bun:test";
import { buildCall } from "../../testing/build-call.ts";
import { eventually } from "../../testing/eventually.ts";
import { scriptedModels } from "../../testing/scripted-models.ts";
import { wire } from "../../testing/upstream-wire.ts";
import { beginCall } from "../support/client-calls.ts";
import { scriptedHarness } from "../support/scripted-harness.ts";
import { drained, startEvents } from "../support/scripted-upstream.ts";

const { upstream, gateway } = await scriptedHarness((url) => ({
  config: scriptedModels(url),
  timings: { slowReaderMs: 300 },
}));

test("H13, H20: a client that reads nothing is dropped: its upstream stops, and its connection is closed", async () => {
  const chunk = wire.chatChunk({ content: "x".repeat(100_000) });
  upstream.play(async (_request, response) => {
    startEvents(response);
    while (!response.destroyed) {
      if (!response.write(chunk)) await drained(response);
    }
  });
  const call = buildCall(gateway.url, "chat", gateway.key, { stream: true });
  const body = String(call[1].body);
  const socket = beginCall(call, body.length);
  socket.pause();
  socket.write(body);
  await eventually("the upstream to be stopped", () => upstream.disconnects === 1);
  const closed = new Promise((resolve) => socket.once("close", () => resolve("closed")));
  socket.on("error", () => {});
  socket.resume();
  expect(await closed).toBe("closed");
});
