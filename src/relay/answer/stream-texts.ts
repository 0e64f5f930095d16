import { asGatewayError } from "../../canon/error.ts";
import type { IncomingCall } from "../call.ts";
import type { Work } from "../derived/work.ts";
import type { Gateway } from "../gateway.ts";
import { RelayError } from "./relay-error.ts";

/** A streamed response out of several calls. They end when the client stops reading. */
export function streamTexts(texts: AsyncGenerator<string, undefined>, work: Work): ReadableStream {
  const encoder = new TextEncoder();
  return new ReadableStream<Uint8Array>({
    pull: async (output) => {
      // A pull that adds nothing is not repeated.
      let next = await texts.next();
      while (!next.done && next.value === "") next = await texts.next();
      if (!next.done) output.enqueue(encoder.encode(next.value));
      else {
        work.release();
        output.close();
      }
    },
    cancel: async () => {
      work.end();
      work.release();
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
  while (!(await settlesSoon(work, gateway))) if (comment !== undefined) yield comment;
}

/** Whether the work settles before a keep-alive is due. */
export async function settlesSoon(
  work: Promise<unknown>,
  { clock, timings }: Pick<Gateway, "clock" | "timings">,
): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const cancel = clock.after(timings.keepAliveMs, () => resolve(false));
  const settled = () => true;
  try {
    return await Promise.race([work.then(settled, settled), promise]);
  } finally {
    cancel();
  }
}

export const errorOf = (thrown: unknown) => asGatewayError(thrown instanceof RelayError ? thrown.error : thrown);

/** The end of a stream that fails after it has begun. */
export function failureText(
  thrown: unknown,
  { dialect, options, requestId }: Pick<IncomingCall, "dialect" | "options" | "requestId">,
  position?: unknown,
): string {
  const writes = dialect.errors.encodeInStream(errorOf(thrown), requestId, { options, begun: true, position });
  return [...writes].map(({ text }) => text).join("");
}
