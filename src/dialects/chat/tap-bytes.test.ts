import { describe, expect, test } from "bun:test";
import { Scratch } from "../../wire/scratch.ts";
import type { NativeAnswerContext } from "../dialect.ts";
import { type ChatQuirks, DEFAULT_CHAT_QUIRKS } from "./quirks.ts";
import { chatRecordings, readRecording, recordingsPresent } from "./recordings.sample.ts";
import { ChatTap } from "./tap.ts";

const context: NativeAnswerContext<ChatQuirks> = {
  publicModel: "acme/über-model",
  request: { stream_options: { include_usage: true } },
  options: undefined,
  receivedAtMs: 1_700_000_000_000,
  makeId: () => "made",
  costUsd: () => 0,
  quirks: DEFAULT_CHAT_QUIRKS,
};

const eventsOf = (bytes: Buffer): Buffer[] =>
  bytes
    .toString("latin1")
    .split(/(?<=\n\n)/)
    .map((event) => Buffer.from(event, "latin1"));

/** What each way of feeding gives. */
function fed(pieces: readonly Buffer[]): { text: string; characters: number } {
  const tap = new ChatTap(context);
  const room = new Scratch();
  for (const piece of pieces) tap.pushBytes(Buffer.from(piece), room);
  return { text: room.taken().toString(), characters: tap.generatedCharacters };
}

describe.skipIf(!recordingsPresent)("an event by itself is patched as it is among others", () => {
  const streams = chatRecordings.filter(({ stream, status }) => stream && status === 200);
  test.each(streams.map(({ response_file }) => [response_file]))("%s", (file) => {
    const events = eventsOf(readRecording(file));
    const tap = new ChatTap(context);
    const asText = events.map((event) => tap.push(event.toString())).join("");
    expect(fed(events)).toEqual({ text: asText, characters: tap.generatedCharacters });
    expect(fed([Buffer.concat(events)]).text).toBe(asText);
  });
});

const chunk = (content: string, more = "") =>
  `data: {"id":"c","object":"chat.completion.chunk","model":"m","choices":[{"index":0,"delta":{"content":${content}},"finish_reason":null}]${more}}\n\n`;

test("what only looks like an ordinary chunk is read with care", () => {
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
    const piece = Buffer.from(text);
    const tap = new ChatTap(context);
    const asText = tap.push(first.toString()) + tap.push(text);
    expect(fed([first, piece])).toEqual({ text: asText, characters: tap.generatedCharacters });
    expect(asText).not.toContain('"model":"m"');
  }
});
