import type { DirectController } from "./client-output.ts";

/** The runtime sends the headers and the content of a shorter body in one write. */
const MIN_BYTES = 15 * 1024;
/** The runtime copies what the client does not take at once of a stream, but not of a text. */
const MAX_LENGTH = 256 * 1024;

/**
 * The body of a response that is sent whole. The runtime sends every part of every header before a longer text in a write of its
 * own, 27 in all for a call, but no more than two before a stream. A server that does nothing else takes 32 µs instead of 137 for a
 * response of 21 KB.
 */
export function wholeBody(text: string): string | ReadableStream {
  if (text.length * 3 < MIN_BYTES || text.length > MAX_LENGTH || Buffer.byteLength(text) < MIN_BYTES) return text;
  const pull = (controller: DirectController): void => {
    controller.write(text);
    controller.close();
  };
  return new ReadableStream({ type: "direct", pull } as unknown as ConstructorParameters<typeof ReadableStream>[0]);
}
