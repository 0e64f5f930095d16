import { ByteBuffer } from "../../base/byte-buffer.ts";
import type { DialectName, UpstreamDialectName } from "../../canon/dialect-name.ts";
import { AwsEventSplitter } from "../../wire/aws-event-stream.ts";
import { EventSplitter } from "../../wire/sse.ts";
import { DIALECTS, UPSTREAM_CODECS } from "../index.ts";
import { quirksOf } from "../quirks.ts";
import { encodeContext } from "../request/encode-context.sample.ts";
import type { DeltaRunTap } from "./delta-run-tap.ts";
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

/** Its whole events, as they are complete with one chunk after the other, and what is left at its end. */
interface CutStream {
  events: readonly Uint8Array[];
  rest: string;
}

/** The same for every reader. */
export function cutStream({ bytes, sizes, framing = "sse" }: Omit<TranslatedStream, "from" | "to">): CutStream {
  const splitter = framing === "sse" ? new EventSplitter() : new AwsEventSplitter();
  const complete: Uint8Array[] = [];
  for (let at = 0, turn = 0; at < bytes.length; turn++) {
    const end = Math.min(bytes.length, at + Math.max(1, sizes[turn % sizes.length] ?? 1));
    // A copy that is overwritten, as the runtime does with what it has read.
    const chunk = new Uint8Array(bytes.subarray(at, end));
    const events = splitter.pushBytes(chunk);
    if (events.length > 0) complete.push(new Uint8Array(events));
    chunk.fill(0);
    at = end;
  }
  return { events: complete, rest: splitter.end() };
}

/** All that is seen of a translation, whichever way it goes. */
export function translate(
  stream: TranslatedStream,
  Way: typeof TranslatingTap | typeof DeltaRunTap,
  cut = cutStream(stream),
) {
  const { from, to, arrayFraming = false, request } = stream;
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
  const output = new ByteBuffer();
  for (const complete of cut.events) {
    if (tap.failure !== undefined || tap.state === "ended") break;
    // This copy too is overwritten once it was read.
    const events = new Uint8Array(complete);
    tap.push(events, output);
    events.fill(0);
  }
  const { position } = tap;
  if (tap.failure === undefined && tap.state !== "ended") tap.end(cut.rest, output);
  const { state, contentSeen, usage, stop, generatedCharacters, reasoningSeen, failure } = tap;
  return {
    text: output.view().toString(),
    seen: { state, contentSeen, usage, stop, generatedCharacters, reasoningSeen, failure: failure?.message },
    position,
    end: tap.position,
  };
}
