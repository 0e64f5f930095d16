import type { Exchange } from "../exchange.ts";

const encoder = new TextEncoder();

/** An answer that leaves in chunks. Its request ends with the last of them, or when the client leaves. */
export class StreamedAnswer extends Response {
  constructor(exchange: Exchange, contentType: string, chunks: AsyncGenerator<string | Uint8Array>) {
    const body = new ReadableStream<Uint8Array>({
      async pull(controller) {
        const next = await chunks.next();
        if (!next.done) {
          return controller.enqueue(typeof next.value === "string" ? encoder.encode(next.value) : next.value);
        }
        controller.close();
        exchange.ended("finished");
      },
      async cancel() {
        exchange.ended("client gone");
        await chunks.return(undefined);
      },
    });
    super(body, { headers: { "content-type": contentType } });
  }
}
