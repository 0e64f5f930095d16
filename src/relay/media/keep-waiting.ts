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

/** Waits for something, and keeps the client's connection alive meanwhile. */
export async function* awaited<T>(work: Promise<T>, keepAlive: string, everyMs: number): AsyncGenerator<string, T> {
  for (;;) {
    const { promise, resolve } = Promise.withResolvers<"silent">();
    const timer = setTimeout(() => resolve("silent"), everyMs);
    const first = await Promise.race([work.then((value) => ({ value })), promise]);
    clearTimeout(timer);
    if (first !== "silent") return first.value;
    yield keepAlive;
  }
}

/** Texts as the body of an answer, asked for one by one as the client reads. */
export function bodyOf(texts: AsyncGenerator<string, void>, onLeave: () => void): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { done, value } = await texts.next();
      if (done) controller.close();
      else controller.enqueue(encoder.encode(value));
    },
    async cancel() {
      onLeave();
      await texts.return();
    },
  });
}
