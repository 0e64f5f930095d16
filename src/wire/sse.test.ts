import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { EventSplitter, EventTooLargeError, readFrames } from "./sse.ts";

const encoder = new TextEncoder();

function readInChunks(bytes: Uint8Array, cuts: readonly number[]): { text: string; rest: string; pushes: string[] } {
  const splitter = new EventSplitter();
  const pushes: string[] = [];
  let from = 0;
  for (const cut of [...cuts, bytes.length]) {
    pushes.push(splitter.push(bytes.slice(from, cut)));
    from = cut;
  }
  return { text: pushes.join(""), rest: splitter.end(), pushes };
}

describe("H07: events are read from bytes, CR and LF only", () => {
  const stream =
    'data: {"t":"snow ☃ 🚀 \u2028\u2029\u0085"}\n\nevent: x\r\ndata: a\r\ndata: b\r\n\r\n: comment\n\ndata: last\n\n';

  test("reading one byte at a time gives the same events, also inside UTF-8 characters", () => {
    const bytes = encoder.encode(stream);
    const cuts = Array.from({ length: bytes.length - 1 }, (_, index) => index + 1);
    const { text, rest } = readInChunks(bytes, cuts);
    expect(text).toBe(stream);
    expect(rest).toBe("");
    const frames = readFrames(text);
    expect(frames.map(({ event, data }) => ({ event, data }))).toEqual([
      { event: undefined, data: '{"t":"snow ☃ 🚀 \u2028\u2029\u0085"}' },
      { event: "x", data: "a\nb" },
      { event: undefined, data: undefined },
      { event: undefined, data: "last" },
    ]);
    expect(frames.map((frame) => frame.raw).join("")).toBe(stream);
  });

  test("the raw text of the frames is the stream, for any line ends and any cuts", () => {
    const line = fc.constantFrom("data: x", "data:y", "event: é", ": 🚀", "data: \u2028");
    const lineEnd = fc.constantFrom("\n", "\r\n", "\r");
    fc.assert(
      fc.property(
        fc.array(fc.array(line, { minLength: 1, maxLength: 3 }), { maxLength: 6 }),
        lineEnd,
        fc.infiniteStream(fc.integer({ min: 1, max: 9 })),
        (events, end, sizes) => {
          const whole = events.map((lines) => lines.map((one) => one + end).join("") + end).join("");
          const bytes = encoder.encode(whole);
          const cuts: number[] = [];
          for (const size of sizes) {
            const next = (cuts.at(-1) ?? 0) + size;
            if (next >= bytes.length) break;
            cuts.push(next);
          }
          const { text, rest, pushes } = readInChunks(bytes, cuts);
          expect(text + rest).toBe(whole);
          const joined = pushes.flatMap((push) => readFrames(push)).filter((frame) => frame.raw.trim() !== "");
          expect(joined.map(({ event, data }) => ({ event, data }))).toEqual(
            readFrames(whole).map(({ event, data }) => ({ event, data })),
          );
        },
      ),
    );
  });

  test("an event without its blank line is returned separately at the end", () => {
    const { text, rest } = readInChunks(encoder.encode("data: a\n\ndata: b\n"), []);
    expect(text).toBe("data: a\n\n");
    expect(rest).toBe("data: b\n");
  });

  test("an endless event exceeds its limit", () => {
    const splitter = new EventSplitter(1000);
    expect(() => {
      for (let sent = 0; sent < 2000; sent += 100) splitter.push(encoder.encode("x".repeat(100)));
    }).toThrow(EventTooLargeError);
  });
});
