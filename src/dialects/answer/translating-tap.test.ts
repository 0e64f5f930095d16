import { expect, test } from "bun:test";
import { ByteBuffer } from "../../base/byte-buffer.ts";
import type { CanonEvent } from "../../canon/event.ts";
import { TranslatingTap } from "./translating-tap.ts";

const EMPTY = Buffer.from("data: {}\n\n");

test("H20: an endless response is ended before the encoders' buffers grow without limit", () => {
  const megabyte = "x".repeat(1024 * 1024);
  const thought: CanonEvent = { type: "reasoning-delta", block: 0, text: megabyte };
  const decoder = { push: () => [thought], complete: false, end: () => [] };
  let written = 0;
  const encoder = { push: () => String(++written) };
  const tap = new TranslatingTap(decoder, encoder, {});
  for (let count = 0; count < 8; count++) tap.push(EMPTY, new ByteBuffer());
  expect(tap.failure).toBeUndefined();
  tap.push(EMPTY, new ByteBuffer());
  expect(tap.failure?.kind).toBe("upstream_failed");
  expect(written).toBe(8);
});

test("H20: content that arrives only with the end is limited too", () => {
  const text = "x".repeat(65 * 1024 * 1024);
  const finish: CanonEvent = { type: "finish", stop: { unified: "stop", raw: "stop" } };
  const kept: CanonEvent[] = [{ type: "tool-input-delta", block: 0, text }, finish];
  const decoder = { push: () => [], complete: true, end: () => kept };
  const tap = new TranslatingTap(decoder, { push: () => "" }, {});
  tap.push(EMPTY, new ByteBuffer());
  expect(tap.state).toBe("complete");
  const output = new ByteBuffer();
  expect(tap.end("", output).failure?.message).toMatch(/exceeds the size limit for translation/);
  expect(output.length).toBe(0);
});
