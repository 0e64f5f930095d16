import { describe, expect, test } from "bun:test";
import { ByteBuffer } from "../../base/byte-buffer.ts";
import type { Clock } from "../../base/clock.ts";
import type { Tap } from "../../dialects/dialect.ts";
import type { HttpAnswer } from "../../wire/http/http-exchange.ts";
import type { Attempt } from "./attempt.ts";
import { EventReader } from "./event-reader.ts";

const KB = 1024;
const MB = 1024 * KB;

/** A tap that passes everything on, and takes a millisecond of the clock for each push. */
function slowTap(onPush: (events: Uint8Array) => void): Tap {
  return {
    state: "open",
    failure: undefined,
    contentSeen: false,
    generatedCharacters: 0,
    push(events: Uint8Array, output: ByteBuffer) {
      onPush(events);
      output.putBytes(events);
      return this;
    },
  } as unknown as Tap;
}

function readerOf(outputModalities: readonly string[] = ["text"]) {
  let nowMs = 0;
  const pushes: number[] = [];
  const tap = slowTap((events) => {
    nowMs++;
    pushes.push(events.length);
  });
  const attempt = {
    target: { model: { outputModalities } },
    follow: () => {},
    received: () => {},
    hold: () => {},
  } as unknown as Attempt;
  const clock = { nowMs: () => nowMs } as Clock;
  return { reader: new EventReader(attempt, {} as HttpAnswer, tap, "sse", clock), pushes };
}

describe("S18: a stream takes short turns of the event loop", () => {
  test.each(["\n", "\r\n", "\r"])(
    "events that came at once are rendered over several turns, lines end in %j",
    (end) => {
      const { reader, pushes } = readerOf();
      const event = `data: ${"x".repeat(90)}${end}${end}`;
      const text = event.repeat(Math.ceil((300 * KB) / event.length));
      const output = new ByteBuffer();
      reader.take(Buffer.from(text), output);
      expect(reader.isBehind).toBe(true);
      // Five milliseconds, one slice each.
      expect(pushes).toHaveLength(5);
      for (const bytes of pushes) expect(bytes).toBeWithin(16 * KB, 17 * KB);
      let turns = 1;
      for (; reader.isBehind; turns++) reader.takeMore(output);
      expect(turns).toBe(4);
      expect(output.view().toString()).toBe(text);
    },
  );

  test("an ordinary read is rendered at once", () => {
    const { reader, pushes } = readerOf();
    reader.take(Buffer.from("data: a\n\n".repeat(1000)), new ByteBuffer());
    expect([pushes.length, reader.isBehind]).toEqual([1, false]);
  });

  test("an event of a text-only model has at most 8 MB, one with images 32 MB", () => {
    const piece = Buffer.alloc(MB, "x");
    for (const [modalities, most] of [
      [["text"], 8],
      [["text", "image"], 32],
    ] as const) {
      const { reader } = readerOf(modalities);
      const output = new ByteBuffer();
      for (let count = 0; count < most; count++) expect(reader.take(piece, output).failure).toBeUndefined();
      expect(reader.take(piece, output).failure?.message).toBe(
        `The provider sent an event of more than ${most * MB} bytes.`,
      );
    }
  });
});
