import { expect, test } from "bun:test";
import { Harness } from "../../testing/harness.ts";

const chunk = (delta: object, finish_reason: string | null = null) =>
  `data: ${JSON.stringify({ id: "c", object: "chat.completion.chunk", model: "m", choices: [{ index: 0, delta, finish_reason }] })}\n\n`;

test("contract 2.13: the sound of a streamed answer is content: it is sent as it comes, and not held until the end", async () => {
  const harness = await Harness.start();
  const sound = { audio: { id: "audio_1", data: "AAAA" } };
  harness.upstream.play(
    harness.upstream.stream(
      chunk({ role: "assistant" }),
      chunk(sound),
      1_200,
      chunk(sound),
      chunk({}, "stop"),
      "data: [DONE]\n\n",
    ),
  );
  const answer = await harness.call("chat", { stream: true });
  expect(answer.headMs).toBeLessThan(1_000);
  expect(answer.text.match(/AAAA/g)).toHaveLength(2);
  expect(answer.chunks.find(({ text }) => text.includes("AAAA"))?.ms).toBeLessThan(1_000);
  await harness.storage.close();
});
