import { describe, expect, test } from "bun:test";
import { ByteBuffer } from "../../../base/byte-buffer.ts";
import type { JsonObject } from "../../../base/json.ts";
import type { NativeAnswerContext } from "../../dialect.ts";
import type { GenaiOptions } from "../options.ts";
import { DEFAULT_GENAI_QUIRKS, type GenaiQuirks } from "../quirks.ts";
import { GenaiTap } from "./tap.ts";

const context: NativeAnswerContext<GenaiQuirks, GenaiOptions> = {
  publicModel: "acme/model",
  request: {},
  options: { bareFinishReason: true, arrayFraming: false },
  receivedAtMs: 1_700_000_000_000,
  nowSeconds: () => 1_700_000_000,
  makeId: () => "made",
  costUsd: () => 0,
  quirks: DEFAULT_GENAI_QUIRKS,
};

type Parts = readonly JsonObject[];

interface Counts {
  prompt?: number;
  said: number;
  thought?: number;
  more?: JsonObject;
}

const usageOf = ({ prompt = 10, said, thought, more }: Counts): JsonObject => ({
  promptTokenCount: prompt,
  candidatesTokenCount: said,
  totalTokenCount: prompt + said + (thought ?? 0),
  ...(thought === undefined ? {} : { thoughtsTokenCount: thought }),
  ...more,
});

/** `counts` undefined: the chunk reports no usage. */
const chunkOf = (parts: Parts, counts: Counts | undefined, candidate: JsonObject = {}, more: JsonObject = {}): string =>
  JSON.stringify({
    candidates: [{ content: { parts, role: "model" }, index: 0, ...candidate }],
    ...(counts && { usageMetadata: usageOf(counts) }),
    modelVersion: "m",
    responseId: "r",
    ...more,
  });

const says = (text: string, said: number): string => chunkOf([{ text }], { said });

interface Framing {
  name: string;
  lines: string;
  /** All events come in one read. */
  together: boolean;
}

const FRAMINGS: readonly Framing[] = [
  { name: "LF, one by one", lines: "\n\n", together: false },
  { name: "CRLF, one by one", lines: "\r\n\r\n", together: false },
  { name: "CRLF, in one read", lines: "\r\n\r\n", together: true },
];

function fed(chunks: readonly string[], { lines, together }: Framing, before = "") {
  const tap = new GenaiTap(context);
  const output = new ByteBuffer();
  const events = chunks.map((data) => `${before}data: ${data}${lines}`);
  const usages: unknown[] = [];
  for (const event of together ? [events.join("")] : events) {
    tap.push(Buffer.from(event), output);
    if (!together && tap.failure === undefined) usages.push(tap.usage);
  }
  tap.end("", output);
  return {
    text: output.view().toString(),
    usages,
    usage: tap.usage,
    characters: tap.generatedCharacters,
    media: tap.generatedMedia,
    contentSeen: tap.contentSeen,
    stop: tap.stop,
    state: tap.state,
    failure: tap.failure?.message,
  };
}

/** An event with a comment is never an ordinary one, and its data are the same. */
const parsed = (chunks: readonly string[], framing: Framing) => fed(chunks, framing, ": parsed\n");

const search = { webSearchQueries: ["one", "two"], groundingChunks: [{ web: { uri: "https://example.com" } }] };

const ODD: Readonly<Record<string, readonly string[]>> = {
  "an ordinary chunk": [says(" more", 7)],
  "an empty text": [says("", 7)],
  "an empty text before any other": [says("", 1)],
  "escapes of all kinds": [
    says('"\\\n\u0001', 7).replace("\\u0001", '\\u0001\\/\\u00e9\\ud83d\\ude00"é🚀"'.replaceAll('"', "")),
  ],
  "text of several bytes": [says("überall 構成 🚀", 7)],
  "a thought": [chunkOf([{ text: "hm", thought: true }], { said: 6, thought: 3 })],
  "a run of thoughts": [1, 2, 3].map((thought) => chunkOf([{ text: "hm", thought: true }], { said: 6, thought })),
  "a signature": [chunkOf([{ text: "x", thoughtSignature: "c2ln" }], { said: 7 })],
  "a call": [chunkOf([{ functionCall: { name: "look", args: { at: 1 } } }], { said: 7 })],
  "two parts": [chunkOf([{ text: "a" }, { text: "b" }], { said: 7 })],
  "two candidates": [
    says("a", 7).replace('"candidates":[', '"candidates":[{"content":{"parts":[{"text":"b"}]},"index":1},'),
  ],
  "an image": [chunkOf([{ inlineData: { mimeType: "image/png", data: "AAAA" } }], { said: 7 })],
  "images with a text each": [7, 8, 9].map((said) =>
    chunkOf([{ text: "x", inlineData: { mimeType: "image/png", data: "AAAA" } }], { said }),
  ),
  "a search": [chunkOf([{ text: "found" }], { said: 7 }, { groundingMetadata: search })],
  "searches in a row": [7, 8, 9].map((said) => chunkOf([{ text: "found" }], { said }, { groundingMetadata: search })),
  "citations under the older name": [
    chunkOf([{ text: "x" }], { said: 7 }, { citationMetadata: { citationSources: [{ uri: "u" }] } }),
  ],
  "a prompt that grew": [
    chunkOf([{ text: "x" }], { prompt: 30, said: 1 }),
    chunkOf([{ text: "y" }], { prompt: 30, said: 2 }),
  ],
  "a prompt that grew by more than the total": [
    chunkOf([{ text: "x" }], { prompt: 14, said: 3 }),
    chunkOf([{ text: "y" }], { prompt: 14, said: 4 }),
  ],
  "a prompt that grew to the total": [10, 10, 16].map((promptTokenCount) =>
    chunkOf([{ text: "x" }], undefined, {}, { usageMetadata: { promptTokenCount, totalTokenCount: 16 } }),
  ),
  "zeros in a row": [1, 2, 3].map(() => chunkOf([{ text: "x" }], { prompt: 0, said: 0 })),
  "a smaller count, then ordinary ones below what was counted": [says("x", 2), says("y", 3), says("z", 4)],
  "a count of zero": [chunkOf([{ text: "x" }], { prompt: 0, said: 0 }), says("y", 7)],
  "no usage": [chunkOf([{ text: "x" }], undefined), chunkOf([{ text: "y" }], undefined)],
  "usage without counts": [1, 2, 3].map(() =>
    chunkOf([{ text: "x" }], undefined, {}, { usageMetadata: { trafficType: "ON_DEMAND" } }),
  ),
  "a tool's tokens": [7, 8, 9].map((said) =>
    chunkOf([{ text: "x" }], { said, more: { toolUsePromptTokenCount: 40, totalTokenCount: 50 + said } }),
  ),
  "an unknown counter": [7, 8, 9].map((said) => chunkOf([{ text: "x" }], { said, more: { newTokenCount: said } })),
  ratings: [7, 8, 9].map((said) => chunkOf([{ text: "x" }], { said }, { safetyRatings: [{ probability: "LOW" }] })),
  "an unknown member": [7, 8].map((said) => chunkOf([{ text: "x" }], { said }, {}, { news: said })),
  "no id": [7, 8, 9].map((said) => says("x", said).replace(',"responseId":"r"', "")),
  "a time": [7, 8, 9].map((said) => chunkOf([{ text: "x" }], { said }, {}, { createTime: "2026-01-01T00:00:00Z" })),
  spaces: [7, 8, 9].map((said) => JSON.stringify(JSON.parse(says("x", said)), null, 1).replaceAll("\n", "")),
  blocked: [JSON.stringify({ promptFeedback: { blockReason: "SAFETY" }, usageMetadata: usageOf({ said: 0 }) })],
  "an empty finish reason": [chunkOf([{ text: "x" }], { said: 7 }, { finishReason: "" })],
  "an end, then usage": [
    chunkOf([{ text: "x" }], { said: 7 }, { finishReason: "STOP" }),
    chunkOf([{ text: "" }], { said: 7 }),
    chunkOf([{ text: "" }], { said: 7 }),
  ],
  "an error": [JSON.stringify({ error: { code: 503, message: "busy", status: "UNAVAILABLE" } })],
  "broken JSON": [says("x", 7).slice(0, -4)],
  "a number with a leading zero": [says("x", 7).replace('"candidatesTokenCount":7', '"candidatesTokenCount":07')],
  "a text that is not closed": [says("x", 7).replace('"x"', '"x\\"')],
};

describe("a chunk that differs from the one before in its text and its counts is passed on as if it was parsed", () => {
  const last = chunkOf([{ text: "." }], { said: 12 }, { finishReason: "STOP" });
  const uncounted = chunkOf([{ text: "." }], undefined, { finishReason: "STOP" });
  for (const framing of FRAMINGS) {
    test.each(Object.entries(ODD))(`%s; ${framing.name}`, (_, odd) => {
      const begun = ["Once", " upon", " a time"].map((text, at) => says(text, 4 + at));
      for (const chunks of [
        [...begun, ...odd, says(" there", 10), says(" was", 11), last],
        [...begun, ...odd, ...odd, last],
        [...begun, ...odd, uncounted],
        [...begun, ...odd, says(" there", 10), uncounted],
        [...odd, ...begun],
      ]) {
        expect(fed(chunks, framing)).toEqual(parsed(chunks, framing));
      }
    });
  }
});

test("after chunks that differ in more than their text, those that do not are still passed on", () => {
  const differing = Array.from({ length: 20 }, (_, at) => chunkOf([{ text: "x" }], { said: at + 1 }, { index: at }));
  const chunks = [...differing, ...[30, 31, 32].map((said) => says("y", said))];
  for (const framing of FRAMINGS) expect(fed(chunks, framing)).toEqual(parsed(chunks, framing));
});
