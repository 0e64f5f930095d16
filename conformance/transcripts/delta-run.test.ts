import { describe, expect, test } from "bun:test";
import type { UpstreamDialectName } from "../../src/canon/dialect-name.ts";
import { cutStream, translate } from "../../src/dialects/answer/delta-run.sample.ts";
import { DeltaRunTap } from "../../src/dialects/answer/delta-run-tap.ts";
import { TranslatingTap } from "../../src/dialects/answer/translating-tap.ts";
import { DIALECTS } from "../../src/dialects/index.ts";
import { bytesOf, everyRecording, nameOf, present, type Recording } from "../../testing/recordings.ts";

const UPSTREAM: Readonly<Record<string, UpstreamDialectName>> = {
  "openai-chat": "chat",
  "anthropic-messages": "messages",
  "gemini-generate": "genai",
  "openai-responses": "responses",
};

const upstreamOf = ({ dialect, http }: Recording): UpstreamDialectName | undefined =>
  http.endsWith("/converse-stream") ? "converse" : UPSTREAM[dialect];

const streams = everyRecording.filter(
  (recording) =>
    recording.stream &&
    recording.status === 200 &&
    upstreamOf(recording) !== undefined &&
    /\.(sse|eventstream)$/.test(recording.response_file),
);

describe.skipIf(!present)("decision 0055: recorded streams are translated to the same bytes both ways", () => {
  test.each(streams.map((recording) => [nameOf(recording), recording] as const))("%s", (_, recording) => {
    const from = upstreamOf(recording) ?? "chat";
    const bytes = bytesOf(recording);
    const framing = recording.response_file.endsWith(".sse") ? "sse" : "aws-event-stream";
    for (const sizes of [[bytes.length], [1], [7, 100, 3000], [64]]) {
      const cut = cutStream({ bytes, sizes, framing });
      for (const to of Object.keys(DIALECTS) as (keyof typeof DIALECTS)[]) {
        const stream = { from, to, bytes, sizes, framing } as const;
        expect(translate(stream, DeltaRunTap, cut)).toEqual(translate(stream, TranslatingTap, cut));
      }
    }
  });
});
