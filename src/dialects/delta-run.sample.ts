import { ByteBuffer } from "../base/byte-buffer.ts";
import type { DialectName, UpstreamDialectName } from "../canon/dialect-name.ts";
import { AwsEventSplitter } from "../wire/aws-event-stream.ts";
import { EventSplitter } from "../wire/sse.ts";
import type { DeltaRunTap } from "./delta-run-tap.ts";
import { encodeContext } from "./encode-context.sample.ts";
import { DIALECTS, UPSTREAM_CODECS } from "./index.ts";
import { quirksOf } from "./quirks.ts";
import type { TranslatingTap } from "./translating-tap.ts";

/** A stream, who speaks it and who reads it. */
export interface TranslatedStream {
  from: UpstreamDialectName;
  to: DialectName;
  bytes: Uint8Array;
  /** The sizes of the chunks in which it comes, over and over. */
  sizes: readonly number[];
  framing?: "sse" | "aws-event-stream";
  arrayFraming?: boolean;
  /** The client's request. */
  request?: Readonly<Record<string, unknown>>;
}

/** All that is seen of a translation, whichever way it goes. */
export function translate(stream: TranslatedStream, Way: typeof TranslatingTap | typeof DeltaRunTap) {
  const { from, to, bytes, sizes, framing = "sse", arrayFraming = false, request } = stream;
  let made = 0;
  const decoder = UPSTREAM_CODECS[from].createStreamDecoder({
    origin: "host",
    quirks: quirksOf(from),
    reading: {},
    makeId: () => `id${++made}`,
  });
  const options = { bareFinishReason: true, arrayFraming };
  const encoder = DIALECTS[to].codec.createStreamEncoder({ ...encodeContext(request), options });
  const tap = new Way(decoder, encoder, {});
  const splitter = framing === "sse" ? new EventSplitter() : new AwsEventSplitter();
  const output = new ByteBuffer();
  for (let at = 0, turn = 0; at < bytes.length; turn++) {
    const end = Math.min(bytes.length, at + Math.max(1, sizes[turn % sizes.length] ?? 1));
    // A copy that is overwritten, as the runtime does with what it has read.
    const chunk = Uint8Array.from(bytes.subarray(at, end));
    const events = splitter.pushBytes(chunk);
    if (events.length > 0 && tap.failure === undefined && tap.state !== "ended") tap.push(events, output);
    chunk.fill(0);
    at = end;
  }
  const { position } = tap;
  if (tap.failure === undefined && tap.state !== "ended") tap.end(splitter.end(), output);
  const { state, contentSeen, usage, stop, generatedCharacters, reasoningSeen, failure } = tap;
  return {
    text: output.view().toString(),
    seen: { state, contentSeen, usage, stop, generatedCharacters, reasoningSeen, failure: failure?.message },
    position,
    end: tap.position,
  };
}
