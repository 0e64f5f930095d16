import { expect, test } from "bun:test";
import { chatChunk, DONE } from "../../../testing/chat-chunks.ts";
import { Harness } from "../../../testing/harness.ts";

test("contract 2.13: audio in a streamed response is content: it is sent as it arrives, not held until the end", async () => {
  const harness = await Harness.start();
  const sound = { audio: { id: "audio_1", data: "AAAA" } };
  harness.upstream.play(
    harness.upstream.stream(
      chatChunk({ role: "assistant" }),
      chatChunk(sound),
      1_200,
      chatChunk(sound),
      chatChunk({}, "stop"),
      DONE,
    ),
  );
  const answer = await harness.call("chat", { stream: true });
  expect(answer.headMs).toBeLessThan(1_000);
  expect(answer.text.match(/AAAA/g)).toHaveLength(2);
  expect(answer.chunks.find(({ text }) => text.includes("AAAA"))?.ms).toBeLessThan(1_000);
  await harness.storage.close();
});
