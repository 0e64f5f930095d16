import type { Transform } from "node:stream";
import { type HttpAnswer, pullWhile } from "./exchange.ts";
import { malformed } from "./failure.ts";

/** Without zstd: the runtime's decoder takes a stream that was cut for a whole one. */
const DECODERS: ReadonlyMap<string, () => Transform> = new Map([
  ["gzip", () => zlib().createGunzip()],
  ["x-gzip", () => zlib().createGunzip()],
  ["deflate", () => zlib().createInflate()],
  ["br", () => zlib().createBrotliDecompress()],
]);

/** Loaded for the first answer that is compressed: few are, and it takes a tenth of a start. */
const zlib = () => require("node:zlib") as typeof import("node:zlib");

/** With `none`, hosts ask proxies not to compress. */
const PLAIN: ReadonlySet<string> = new Set(["", "identity", "none"]);

/**
 * The answer with its content as it was before a compression. Requests ask for none: it would cost both sides work, and
 * compressors hold back the small chunks of a stream. Some hosts compress anyway.
 */
export function decodeContent(answer: HttpAnswer): HttpAnswer {
  const encoding = answer.headers.get("content-encoding")?.toLowerCase() ?? "identity";
  if (PLAIN.has(encoding)) return answer;
  const create = DECODERS.get(encoding);
  // For a refusal, the status is enough.
  if (!create && answer.status >= 400) return answer;
  if (!create) throw malformed(`its content encoding ${JSON.stringify(encoding.slice(0, 40))} is not known`);
  const decoder = create();
  const { pipeline, Readable } = require("node:stream") as typeof import("node:stream");
  // An end of either stream ends the other; the reader below learns of it from the decoder itself.
  pipeline(Readable.from(rawChunks(answer)), decoder, () => {});
  const chunks = decoder[Symbol.asyncIterator]() as AsyncIterator<Uint8Array>;
  const { status, headers } = answer;
  const read = async () => (await chunks.next()).value as Uint8Array | undefined;
  return { status, headers, read, readWhile: (taker) => pullWhile(read, taker) };
}

async function* rawChunks(answer: HttpAnswer): AsyncGenerator<Uint8Array> {
  for (let chunk = await answer.read(); chunk; chunk = await answer.read()) yield chunk;
}
