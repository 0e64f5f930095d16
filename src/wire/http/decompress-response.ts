import type { Transform } from "node:stream";
import { malformed } from "./failure.ts";
import { type HttpAnswer, pullWhile } from "./http-exchange.ts";

/** zstd is missing because the runtime's decoder accepts a truncated stream as complete. */
const DECODERS: ReadonlyMap<string, () => Transform> = new Map([
  ["gzip", () => zlib().createGunzip()],
  ["x-gzip", () => zlib().createGunzip()],
  ["deflate", () => zlib().createInflate()],
  ["br", () => zlib().createBrotliDecompress()],
]);

/** Loaded with the first compressed response. Few are compressed, and loading takes a tenth of the start-up time. */
const zlib = () => require("node:zlib") as typeof import("node:zlib");

/** Some hosts send `none` to keep proxies from compressing. */
const PLAIN: ReadonlySet<string> = new Set(["", "identity", "none"]);

/**
 * Returns the response with its content decompressed. Requests do not ask for compression, which would cost both sides CPU and
 * hold back small chunks of a stream, but some hosts compress anyway.
 */
export function decompressResponse(answer: HttpAnswer): HttpAnswer {
  const encoding = answer.headers.get("content-encoding")?.toLowerCase() ?? "identity";
  if (PLAIN.has(encoding)) return answer;
  const create = DECODERS.get(encoding);
  // For an error response, the status is enough.
  if (!create && answer.status >= 400) return answer;
  if (!create) throw malformed(`its content encoding ${JSON.stringify(encoding.slice(0, 40))} is not supported`);
  let chunks: AsyncIterator<Uint8Array> | undefined;
  const read = async () => {
    // Not earlier: an error of a decoder that nobody reads would end the process.
    chunks ??= decoded(answer, create());
    return (await chunks.next()).value as Uint8Array | undefined;
  };
  const { status, headers } = answer;
  return { status, headers, read, readWhile: (taker) => pullWhile(read, taker) };
}

function decoded(answer: HttpAnswer, decoder: Transform): AsyncIterator<Uint8Array> {
  const { pipeline, Readable } = require("node:stream") as typeof import("node:stream");
  // Either stream's end closes the other; the reader learns of errors from the decoder.
  pipeline(Readable.from(rawChunks(answer)), decoder, () => {});
  return decoder[Symbol.asyncIterator]() as AsyncIterator<Uint8Array>;
}

async function* rawChunks(answer: HttpAnswer): AsyncGenerator<Uint8Array> {
  for (let chunk = await answer.read(); chunk; chunk = await answer.read()) yield chunk;
}
