import { ClientGoneError, type ClientPresence } from "../call.ts";

/** Whether the deadline comes first: then the headers leave with a keep-alive, so that no proxy on the way gives up. */
export async function isLate(work: Promise<unknown>, deadlineMs: number): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const timer = setTimeout(() => resolve(true), deadlineMs);
  const settled = () => resolve(false);
  work.then(settled, settled);
  const late = await promise;
  clearTimeout(timer);
  return late;
}

/** Resolves when the client has taken the text, or has left. */
export type Write = (text: string) => Promise<void>;

/** Waits for something, and keeps the client's connection alive meanwhile. */
export async function keptAlive<T>(work: Promise<T>, write: Write, keepAlive: string, everyMs: number): Promise<T> {
  for (;;) {
    const { promise, resolve } = Promise.withResolvers<"silent">();
    const timer = setTimeout(() => resolve("silent"), everyMs);
    const first = await Promise.race([work.then((value) => ({ value })), promise]).finally(() => clearTimeout(timer));
    if (first !== "silent") return first.value;
    await write(keepAlive);
  }
}

/**
 * The body of an answer, written at the pace at which its client reads. Whoever writes goes on to its end when the client has
 * left, or reads nothing for so long that it is taken for gone.
 */
export function writtenBody(
  client: ClientPresence,
  slowReaderMs: number,
  produce: (write: Write) => Promise<void>,
): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  let taken = Promise.withResolvers<void>();
  return new ReadableStream<Uint8Array>({
    start(controller) {
      const write: Write = async (text) => {
        if (client.gone) return;
        taken = Promise.withResolvers();
        controller.enqueue(encoder.encode(text));
        const timer = setTimeout(() => {
          client.leave();
          controller.error(new ClientGoneError());
        }, slowReaderMs);
        await Promise.race([taken.promise, client.left]);
        clearTimeout(timer);
      };
      const close = () => {
        if (!client.gone) controller.close();
      };
      produce(write).then(close, (error: unknown) => {
        if (!client.gone) controller.error(error);
      });
    },
    pull: () => taken.resolve(),
    cancel: () => client.leave(),
  });
}
