import type { Clock } from "../../base/clock.ts";
import { ClientGoneError, type ClientPresence } from "../call.ts";

/** Whether the deadline passes first: the headers then go out with a keep-alive, so that no proxy times out. */
export async function isLate(work: Promise<unknown>, deadlineMs: number, clock: Clock): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const cancel = clock.after(deadlineMs, () => resolve(true));
  const settled = () => resolve(false);
  work.then(settled, settled);
  const late = await promise;
  cancel();
  return late;
}

/** Resolves when the client has read the text, or has disconnected. */
export type Write = (text: string) => Promise<void>;

/** Waits for work, and keeps the client's connection alive meanwhile. */
export async function keptAlive<T>(
  work: Promise<T>,
  write: Write,
  keepAlive: string,
  everyMs: number,
  clock: Clock,
): Promise<T> {
  for (;;) {
    const { promise, resolve } = Promise.withResolvers<"silent">();
    const cancel = clock.after(everyMs, () => resolve("silent"));
    const first = await Promise.race([work.then((value) => ({ value })), promise]).finally(cancel);
    if (first !== "silent") return first.value;
    await write(keepAlive);
  }
}

/**
 * The body of an answer, written as fast as its client reads. The producer runs to its end even when the client disconnects,
 * or reads nothing for so long that it counts as disconnected.
 */
export function writtenBody(
  client: ClientPresence,
  slowReaderMs: number,
  clock: Clock,
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
        const cancel = clock.after(slowReaderMs, () => {
          client.leave();
          controller.error(new ClientGoneError());
        });
        await Promise.race([taken.promise, client.left]);
        cancel();
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
