import type { StreamedBody } from "../../wire/http/http-exchange.ts";

/** How much is written at once. */
const CHUNK_BYTES = 64 * 1024;

/** Lines in one body, with a text before, between and after them. They are not copied as a whole. */
export function streamedLines(
  lines: readonly Uint8Array[],
  { before, between, after }: { before: string; between: string; after: string },
): StreamedBody {
  const [head, separator, tail] = [Buffer.from(before), Buffer.from(between), Buffer.from(after)];
  let bytes = head.length + tail.length + separator.length * Math.max(0, lines.length - 1);
  for (const line of lines) bytes += line.length;
  return {
    bytes,
    open: async function* () {
      let parts: Uint8Array[] = [head];
      let size = head.length;
      for (const [index, line] of lines.entries()) {
        if (index > 0) parts.push(separator);
        parts.push(line);
        size += separator.length + line.length;
        if (size < CHUNK_BYTES) continue;
        yield Buffer.concat(parts);
        parts = [];
        size = 0;
      }
      yield Buffer.concat([...parts, tail]);
    },
  };
}
