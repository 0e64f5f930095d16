import { describe, expect, test } from "bun:test";
import { ByteBuffer } from "../../../base/byte-buffer.ts";
import type { NativeAnswerContext } from "../../dialect.ts";
import { type ChatQuirks, DEFAULT_CHAT_QUIRKS } from "../quirks.ts";
import { chatRecordings, readRecording, recordingsPresent } from "../recordings.sample.ts";
import { ChatTap } from "./tap.ts";

const context: NativeAnswerContext<ChatQuirks> = {
  publicModel: "acme/über-model",
  request: { stream_options: { include_usage: true } },
  options: undefined,
  receivedAtMs: 1_700_000_000_000,
  nowSeconds: () => 1_700_000_000,
  makeId: () => "made",
  costUsd: () => 0,
  quirks: DEFAULT_CHAT_QUIRKS,
};

const eventsOf = (bytes: Buffer): Buffer[] =>
  bytes
    .toString("latin1")
    .split(/(?<=\n\n)/)
    .map((event) => Buffer.from(event, "latin1"));

/** The same, with a separate output for each event. */
function fedApart(events: readonly Buffer[]): { text: string; characters: number } {
  const tap = new ChatTap(context);
  const rendered = events.map((event) => {
    const output = new ByteBuffer();
    tap.push(event, output);
    return output.view().toString();
  });
  return { text: rendered.join(""), characters: tap.generatedCharacters };
}

/** The result, which must be the same for both ways of feeding. */
function fed(chunks: readonly Buffer[]): { text: string; characters: number } {
  const tap = new ChatTap(context);
  const output = new ByteBuffer();
  for (const bytes of chunks) tap.push(Buffer.from(bytes), output);
  return { text: output.view().toString(), characters: tap.generatedCharacters };
}

describe.skipIf(!recordingsPresent)("an event is patched the same way alone and among others", () => {
  const streams = chatRecordings.filter(({ stream, status }) => stream && status === 200);
  test.each(streams.map(({ response_file }) => [response_file]))("%s", (file) => {
    const events = eventsOf(readRecording(file));
    const apart = fedApart(events);
    expect(fed(events)).toEqual(apart);
    expect(fed([Buffer.concat(events)]).text).toBe(apart.text);
  });
});

const chunk = (content: string, more = "") =>
  `data: {"id":"c","object":"chat.completion.chunk","model":"m","choices":[{"index":0,"delta":{"content":${content}},"finish_reason":null}]${more}}\n\n`;

test("what only looks like an ordinary chunk is parsed", () => {
  const first = Buffer.from(chunk('"a"'));
  const odd = [
    chunk('"quote \\" and \\\\"'),
    chunk('"é🚀\\u00e9"'),
    chunk('"a"', ',"obfuscation":"xyz"'),
    chunk('"a"', ',"obfuscation":"x\\"z"'),
    chunk('"a"', ',"obfuscation":"","usage":{"prompt_tokens":1,"completion_tokens":2}'),
    chunk('"a"').replace('"finish_reason":null', '"finish_reason":"stop"'),
    chunk('""'),
    chunk('"a"').replace("\n\n", "\r\n\r\n"),
  ];
  for (const text of odd) {
    const bytes = Buffer.from(text);
    const apart = fedApart([first, bytes]);
    expect(fed([first, bytes])).toEqual(apart);
    expect(apart.text).not.toContain('"model":"m"');
  }
});
