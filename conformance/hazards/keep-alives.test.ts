import { expect, test } from "bun:test";
import type { ServerResponse } from "node:http";
import { scriptedModels } from "../../testing/scripted-models.ts";
import { wire } from "../../testing/upstream-wire.ts";
import { callGateway, errorOf } from "../support/client-calls.ts";
import { scriptedHarness } from "../support/scripted-harness.ts";
import { startEvents } from "../support/scripted-upstream.ts";

/** Once over sockets; every lane and every limit is in conformance/memory/timeouts.test.ts, in memory. */

const { upstream, gateway } = await scriptedHarness((url) => ({
  config: scriptedModels(url, { first_byte: 5000, idle: 5000, content: 400 }),
}));

/** Writes until the gateway closes the connection. */
function keepWriting(response: ServerResponse, text: string): void {
  const timer = setInterval(() => response.write(text), 40);
  response.on("close", () => clearInterval(timer));
}

test("H28: a stream with only keep-alives times out, native and translated, and no provider is called twice", async () => {
  upstream.play((_request, response) => {
    startEvents(response);
    keepWriting(response, `: keep-alive\n\n${wire.chatChunk({ role: "assistant", content: "" })}`);
  });
  const answers = ["chat", "messages"] as const;
  await Promise.all(
    answers.map(async (client) => {
      const response = await callGateway(gateway.url, client, gateway.key, { model: "test/chat", stream: true });
      const { status, message } = await errorOf(response);
      expect([status, message]).toEqual([504, "Provider `up-chat` sent no content for 400 ms."]);
    }),
  );
  expect(upstream.seen).toHaveLength(answers.length);
});
