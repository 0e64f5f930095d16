import type { FileContent } from "./file-store.ts";

/** A source of chunks that can be cancelled at any time. */
export interface Chunks {
  next(): Promise<Uint8Array | undefined>;
  cancel(): void;
}

/**
 * The chunks of a content, one at a time. A stream is read by its reader, because that can be cancelled while a read
 * is pending: the stream's iterator would wait for the chunk first.
 */
export function chunksOf(content: FileContent): Chunks {
  if (content instanceof ReadableStream) {
    const reader = content.getReader();
    return {
      next: async () => (await reader.read()).value,
      // An error from cancelling a source changes nothing.
      cancel: () => void reader.cancel().catch(() => undefined),
    };
  }
  const iterator = (content instanceof Uint8Array ? once(content) : content)[Symbol.asyncIterator]();
  return {
    next: async () => {
      const { done, value } = await iterator.next();
      return done ? undefined : value;
    },
    cancel: () => void iterator.return?.().catch(() => undefined),
  };
}

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}

/** The content as a stream, with its chunks passed to `look` as they arrive. An error thrown by `look` ends the content. */
export function streamOf(
  content: FileContent,
  look: (chunk: Uint8Array) => void = () => {},
): ReadableStream<Uint8Array> {
  const chunks = chunksOf(content);
  return new ReadableStream<Uint8Array>(
    {
      pull: async (controller) => {
        const chunk = await chunks.next();
        if (chunk === undefined) return controller.close();
        try {
          look(chunk);
        } catch (thrown) {
          chunks.cancel();
          throw thrown;
        }
        controller.enqueue(chunk);
      },
      cancel: () => chunks.cancel(),
    },
    { highWaterMark: 0 },
  );
}
