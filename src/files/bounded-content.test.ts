import { describe, expect, test } from "bun:test";
import { VirtualClock } from "../../testing/virtual-clock.ts";
import { system } from "../base/system.ts";
import { boundedContent } from "./bounded-content.ts";

describe("bounded content", () => {
  test("a silent source is abandoned in time, and cancelled while a read is pending", async () => {
    const cancelled = Promise.withResolvers<void>();
    const silent = new ReadableStream<Uint8Array>({
      start: (controller) => controller.enqueue(new Uint8Array(3)),
      pull: () => new Promise(() => undefined),
      cancel: () => cancelled.resolve(),
    });
    const chunks = boundedContent(silent, { maxBytes: 10, stallMs: 50 }, system.clock);
    expect((await chunks.next()).value).toHaveLength(3);
    await expect(chunks.next()).rejects.toHaveProperty("kind", "upstream_timeout");
    await cancelled.promise;
  });

  test("time that the reader takes does not count against the source", async () => {
    const content = (async function* () {
      yield new Uint8Array(1);
      yield new Uint8Array(2);
    })();
    let size = 0;
    const clock = new VirtualClock();
    const reading = async () => {
      for await (const chunk of boundedContent(content, { maxBytes: 3, stallMs: 30 }, clock)) {
        size += chunk.length;
        await clock.sleep(60);
      }
    };
    await clock.until(reading());
    expect(size).toBe(3);
  });
});
