import { describe, expect, test } from "bun:test";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { crc32 } from "node:zlib";
import { isOptional } from "../../testing/is-present.ts";
import { AwsEventSplitter, BrokenFrameError } from "./aws-event-stream.ts";
import { readFrames } from "./sse.ts";

/** A hand-made frame. `lies` replaces its lengths and checksums with wrong ones. */
function frame(headers: Record<string, string>, payload: string, lies: { total?: number; headers?: number } = {}) {
  const head = Buffer.concat(
    Object.entries(headers).map(([name, value]) => {
      const length = Buffer.alloc(2);
      length.writeUInt16BE(Buffer.byteLength(value));
      return Buffer.concat([
        Buffer.from([name.length]),
        Buffer.from(name),
        Buffer.from([7]),
        length,
        Buffer.from(value),
      ]);
    }),
  );
  const body = Buffer.from(payload);
  const prelude = Buffer.alloc(12);
  prelude.writeUInt32BE(lies.total ?? 16 + head.length + body.length, 0);
  prelude.writeUInt32BE(lies.headers ?? head.length, 4);
  prelude.writeUInt32BE(crc32(prelude.subarray(0, 8)), 8);
  const checksum = Buffer.alloc(4);
  const before = Buffer.concat([prelude, head, body]);
  checksum.writeUInt32BE(crc32(before));
  return new Uint8Array(Buffer.concat([before, checksum]));
}

const event = (type: string, payload: string) =>
  frame({ ":event-type": type, ":content-type": "application/json", ":message-type": "event" }, payload);

const read = (...chunks: Uint8Array[]) => {
  const splitter = new AwsEventSplitter();
  return { text: chunks.map((chunk) => splitter.push(chunk)).join(""), rest: splitter.end() };
};

describe("frames of application/vnd.amazon.eventstream (providers 1.6)", () => {
  test("a frame becomes one event, its payload on one line", () => {
    const { text, rest } = read(event("messageStart", '{\n  "role": "assistant",\r\n  "note": "é\\n🚀"\n}'));
    expect(rest).toBe("");
    const [only, ...others] = readFrames(text);
    expect(others).toEqual([]);
    expect(only?.event).toBe("messageStart");
    expect(JSON.parse(only?.data ?? "")).toEqual({ role: "assistant", note: "é\n🚀" });
    expect(text.match(/\n/g)).toHaveLength(3);
  });

  test("an empty payload becomes an empty object, and headers of other types are skipped", () => {
    const bytes = event("messageStop", "");
    expect(read(bytes).text).toBe("event: messageStop\ndata: {}\n\n");
    const odd = Buffer.concat([
      Buffer.from([2, 0x3a, 0x61, 0]), // :a = true
      Buffer.from([2, 0x3a, 0x62, 4, 0, 0, 0, 9]), // :b = an integer of four bytes
      Buffer.from([2, 0x3a, 0x63, 8, 0, 0, 0, 0, 0, 0, 0, 1]), // :c = a moment
      Buffer.from([2, 0x3a, 0x64, 6, 0, 2, 1, 2]), // :d = two bytes
      Buffer.from([11, ...Buffer.from(":event-type"), 7, 0, 4, ...Buffer.from("ping")]),
    ]);
    const before = Buffer.alloc(12);
    before.writeUInt32BE(16 + odd.length, 0);
    before.writeUInt32BE(odd.length, 4);
    before.writeUInt32BE(crc32(before.subarray(0, 8)), 8);
    const whole = Buffer.concat([before, odd]);
    const checksum = Buffer.alloc(4);
    checksum.writeUInt32BE(crc32(whole));
    expect(read(new Uint8Array(Buffer.concat([whole, checksum]))).text).toBe("event: ping\ndata: {}\n\n");
  });

  test("a model's event is unwrapped from its chunk and named by its type or its first member", () => {
    const chunk = (inner: string) =>
      event("chunk", JSON.stringify({ bytes: Buffer.from(inner).toString("base64"), p: "abc" }));
    const inner = '{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"ü"}}';
    expect(read(chunk(inner)).text).toBe(`event: content_block_delta\ndata: ${inner}\n\n`);
    expect(read(chunk('{"messageStop":{"stopReason":"end_turn"}}')).text).toBe(
      'event: messageStop\ndata: {"stopReason":"end_turn"}\n\n',
    );
    expect(() => read(chunk("not json"))).toThrow(BrokenFrameError);
    expect(() => read(event("chunk", "{}"))).toThrow("has no bytes field");
  });

  test("exceptions and errors become events of the same form", () => {
    const exception = frame(
      { ":exception-type": "throttlingException", ":content-type": "application/json", ":message-type": "exception" },
      '{"message":"Too many requests, please wait"}',
    );
    const error = frame({ ":error-code": "InternalError", ":error-message": "It broke", ":message-type": "error" }, "");
    expect(read(exception, error).text).toBe(
      'event: exception\ndata: {"type":"throttlingException","message":"Too many requests, please wait"}\n\n' +
        'event: exception\ndata: {"type":"InternalError","message":"It broke"}\n\n',
    );
  });

  test("a changed byte is detected wherever it is", () => {
    const good = event("contentBlockDelta", '{"contentBlockIndex":0,"delta":{"text":"hello"}}');
    for (let at = 0; at < good.length; at++) {
      const bad = good.slice();
      bad[at] = (bad[at] ?? 0) ^ 0x20;
      expect(() => read(bad)).toThrow(BrokenFrameError);
    }
  });

  test("an impossible length is rejected without waiting for the bytes", () => {
    const header = { ":event-type": "x" };
    for (const total of [0, 15, 24 * 1024 * 1024 + 1, 0xffffffff]) {
      expect(() => read(frame(header, "{}", { total }).subarray(0, 12))).toThrow(`length of ${total} bytes`);
    }
    expect(() => read(frame(header, "{}", { headers: 1000 }).subarray(0, 12))).toThrow("header length of 1000 bytes");
    expect(() => read(frame({ ":event-type": "a\nb: c" }, "{}"))).toThrow("no valid event name");
  });

  test("H16: an end inside a frame is reported", () => {
    const bytes = event("messageStop", '{"stopReason":"end_turn"}');
    for (let length = 1; length < bytes.length; length++) {
      const { text, rest } = read(bytes.subarray(0, length));
      expect(text).toBe("");
      expect(rest).toContain("ended inside a frame");
      expect(readFrames(rest)[0]?.event).toBe("exception");
    }
  });
});

const FOLDER = new URL("../../../shared/transcripts/bedrock/bedrock/", import.meta.url);
const there = isOptional(existsSync(FOLDER), "recorded event streams, because ../shared/transcripts is not there");

describe.skipIf(!there)("law 6: recorded streams cut at every byte", () => {
  const files = there ? readdirSync(FOLDER).filter((file) => file.endsWith(".eventstream")) : [];

  test("there are recordings", () => expect(files.length).toBeGreaterThan(3));

  test.each(files)("%s", (file) => {
    const bytes = new Uint8Array(readFileSync(new URL(file, FOLDER)));
    const whole = read(bytes);
    expect(whole.rest).toBe("");
    expect(readFrames(whole.text).every(({ data }) => typeof JSON.parse(data ?? "") === "object")).toBe(true);
    expect(read(...Array.from(bytes, (_, at) => bytes.subarray(at, at + 1)))).toEqual(whole);
    const step = bytes.length < 4000 ? 1 : 13;
    for (let cut = 1; cut < bytes.length; cut += step) {
      expect(read(bytes.subarray(0, cut), bytes.subarray(cut)).text === whole.text).toBe(true);
    }
  });
});
