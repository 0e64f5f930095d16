import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { ByteBuffer } from "../../base/byte-buffer.ts";
import type { DialectName } from "../../canon/dialect-name.ts";
import type { CanonEvent } from "../../canon/event.ts";
import { DIALECTS } from "../index.ts";
import { quirksOf } from "../quirks.ts";
import { encodeContext } from "../request/encode-context.sample.ts";
import { translate } from "./delta-run.sample.ts";
import { DeltaRunTap } from "./delta-run-tap.ts";
import { TranslatingTap } from "./translating-tap.ts";

const NAMES = Object.keys(DIALECTS) as DialectName[];
/** How many streams are drawn for each pair. */
const RUNS = Number(process.env["TRIVIUM_DRAWN_STREAMS"] ?? 100);

const word = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.constantFrom("Hello", " wor", "ld", "!", " ", "0", "model", "text", "\n", "\t\r", '"', "\\", "/"),
  },
  {
    weight: 2,
    arbitrary: fc.constantFrom("é", "中文", "👋🏽", "\u2028", "\u007f", "\u0000\u001b", "</think>", "data: ", "\b\f"),
  },
  { weight: 1, arbitrary: fc.string({ unit: "grapheme", maxLength: 12 }) },
);
const pieces = fc.array(word, { minLength: 1, maxLength: 14 });

const part = fc.oneof(
  { weight: 4, arbitrary: pieces.map((texts) => ({ kind: "text" as const, texts })) },
  { weight: 2, arbitrary: pieces.map((texts) => ({ kind: "reasoning" as const, texts })) },
  {
    weight: 2,
    arbitrary: fc.dictionary(fc.constantFrom("a", "b"), word).chain((input) => {
      const json = JSON.stringify(input);
      return fc
        .array(fc.nat(json.length), { maxLength: 6 })
        .map((cuts) => ({ kind: "tool-input" as const, texts: cut(json, cuts) }));
    }),
  },
);

function cut(text: string, at: readonly number[]): string[] {
  const places = [0, ...[...at].sort((one, other) => one - other), text.length];
  return places.slice(1).flatMap((end, index) => text.slice(places[index], end) || []);
}

function eventsOf(
  parts: readonly { kind: "text" | "reasoning" | "tool-input"; texts: readonly string[] }[],
): CanonEvent[] {
  const events: CanonEvent[] = [{ type: "metadata", id: "answer-1", created: 1_700_000_000 }];
  for (const [block, { kind, texts }] of parts.entries()) {
    if (kind === "tool-input") events.push({ type: "tool-input-start", block, id: `call_${block}`, name: "look" });
    else events.push({ type: `${kind}-start`, block });
    for (const text of texts) events.push({ type: `${kind}-delta`, block, text });
    events.push({ type: `${kind}-end`, block });
  }
  events.push({ type: "usage", usage: { input: 12, output: 34 } });
  const calls = parts.some(({ kind }) => kind === "tool-input");
  events.push({
    type: "finish",
    stop: calls ? { unified: "tool", raw: "tool_calls" } : { unified: "stop", raw: "stop" },
  });
  return events;
}

/** What hosts do to their streams that does not change what these say. */
const HABITS: Readonly<Record<string, (stream: string) => string>> = {
  none: (stream) => stream,
  "line ends of two characters": (stream) => stream.replaceAll("\n", "\r\n"),
  "spaces before the last brace": (stream) =>
    stream.replaceAll(/\}\n\n/g, (_, at: number) => `${" ".repeat(at % 7)}}\n\n`),
  "random padding": (stream) =>
    stream.replaceAll(/\}\n\n/g, (_, at: number) => `,"obfuscation":"${"x".repeat(at % 9)}"}\n\n`),
  "comments between events": (stream) =>
    stream.replaceAll("\n\n", (_, at: number) => (at % 3 === 0 ? "\n\n: ping\n\n" : "\n\n")),
  "escapes of all that is not ASCII": (stream) =>
    stream.replaceAll(/[\u0080-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`),
  "escaped slashes": (stream) => stream.replaceAll("/", "\\/"),
  "spaces after colons": (stream) => stream.replaceAll('":', '": '),
};

const drawn = fc.record({
  parts: fc.array(part, { minLength: 1, maxLength: 4 }),
  sizes: fc.array(fc.oneof(fc.nat(40), fc.nat(4000)), { minLength: 1, maxLength: 6 }),
  habit: fc.constantFrom(...Object.keys(HABITS)),
  /** Where the stream breaks off, and where a byte is not UTF-8, as parts of its length; mostly nowhere. */
  breaksAt: fc.option(fc.double({ min: 0, max: 1, noNaN: true }), { freq: 3 }),
  wrongAt: fc.option(fc.double({ min: 0, max: 1, noNaN: true }), { freq: 5 }),
  arrayFraming: fc.boolean(),
  hidden: fc.boolean(),
});

const HIDING = {
  include_reasoning: false,
  reasoning: { exclude: true },
  thinking: { type: "enabled", budget_tokens: 1024, display: "omitted" },
  generationConfig: { thinkingConfig: { includeThoughts: false } },
};

describe("decision 0055: drawn streams are translated to the same bytes on both ways", () => {
  test.each(NAMES.flatMap((from) => NAMES.map((to) => [from, to] as const)))("%s to %s", (from, to) => {
    fc.assert(
      fc.property(drawn, ({ parts, sizes, habit, breaksAt, wrongAt, arrayFraming, hidden }) => {
        const encoder = DIALECTS[from].codec.createStreamEncoder(encodeContext());
        const written = eventsOf(parts).map((event) => encoder.push(event));
        const whole = Buffer.from(HABITS[habit]?.(written.join("")) ?? "");
        const bytes = whole.subarray(0, Math.round(whole.length * (breaksAt ?? 1)));
        if (wrongAt !== null && bytes.length > 0) bytes[Math.floor((bytes.length - 1) * wrongAt)] = 0xff;
        const request = hidden ? HIDING : {};
        const stream = { from, to, bytes, sizes: sizes.map((size) => size + 1), arrayFraming, request };
        expect(translate(stream, DeltaRunTap)).toEqual(translate(stream, TranslatingTap));
      }),
      { numRuns: RUNS },
    );
  });
});

describe("decision 0055: the deltas of an ordinary stream are not parsed", () => {
  test.each(NAMES.flatMap((from) => NAMES.map((to) => [from, to] as const)))("%s to %s", (from, to) => {
    const texts = Array.from({ length: 200 }, (_, index) => ` word${index}`);
    const upstream = DIALECTS[from].codec.createStreamEncoder(encodeContext());
    const bytes = Buffer.from(
      eventsOf([{ kind: "text", texts }])
        .map((event) => upstream.push(event))
        .join(""),
    );
    const decoder = DIALECTS[from].codec.createStreamDecoder({
      origin: "host",
      quirks: quirksOf(from),
      reading: {},
      makeId: () => "id",
    });
    let read = 0;
    const counting = {
      push: (frame: Parameters<typeof decoder.push>[0]) => {
        read++;
        return decoder.push(frame);
      },
      end: () => decoder.end(),
      get complete() {
        return decoder.complete;
      },
      deltaPlaces: decoder.deltaPlaces,
    };
    const tap = new DeltaRunTap(counting, DIALECTS[to].codec.createStreamEncoder(encodeContext()), {});
    const output = new ByteBuffer();
    tap.push(bytes, output);
    tap.end("", output);
    expect(read).toBeLessThan(20);
    expect(output.view().toString()).toContain("word199");
  });
});
