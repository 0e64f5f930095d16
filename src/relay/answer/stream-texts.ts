import type { Gateway } from "../gateway.ts";
import type { FollowUps } from "./follow-ups.ts";

/** A streamed response out of several calls. They end when the client stops reading. */
export function streamTexts(
  texts: AsyncGenerator<string, undefined>,
  { controller, release }: Pick<FollowUps, "controller" | "release">,
): ReadableStream {
  const encoder = new TextEncoder();
  return new ReadableStream<Uint8Array>({
    pull: async (output) => {
      const { done, value } = await texts.next();
      if (value) output.enqueue(encoder.encode(value));
      if (!done) return;
      release();
      output.close();
    },
    cancel: async () => {
      controller.abort();
      release();
      await texts.return(undefined);
    },
  });
}

/** Writes keep-alive comments until the work is done. */
export async function* keepAliveDuring(
  work: Promise<unknown>,
  comment: string | undefined,
  gateway: Pick<Gateway, "clock" | "timings">,
): AsyncGenerator<string, void> {
  const settled = work.then(
    () => true,
    () => true,
  );
  while (!(await Promise.race([settled, pause(gateway)]))) if (comment !== undefined) yield comment;
}

function pause({ clock, timings }: Pick<Gateway, "clock" | "timings">): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  clock.after(timings.keepAliveMs, () => resolve(false));
  return promise;
}
