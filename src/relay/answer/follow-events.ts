import type { ClientConnection } from "../call.ts";
import type { Gateway } from "../gateway.ts";
import type { EventLog } from "./background-events.ts";
import { settlesSoon } from "./stream-texts.ts";

interface Reader {
  /** Only events with higher numbers are sent. */
  after: number;
  connection: Pick<ClientConnection, "hold" | "rest">;
  /** A comment in the protocol, sent when there is nothing else to send. */
  comment: string | undefined;
}

/** The body of a response that is generated elsewhere in this process. If the reader stops, nothing else does. */
export function followEvents(log: EventLog, { after, connection, comment }: Reader, gateway: Gateway): ReadableStream {
  const events = log.follow(after);
  const encoder = new TextEncoder();
  connection.hold();
  let waiting: ReturnType<typeof events.next> | undefined;
  return new ReadableStream<Uint8Array>({
    pull: async (output) => {
      waiting ??= events.next();
      while (!(await settlesSoon(waiting, gateway))) {
        if (comment === undefined) continue;
        output.enqueue(encoder.encode(comment));
        return;
      }
      const next = await waiting;
      waiting = undefined;
      if (!next.done) {
        output.enqueue(encoder.encode(next.value));
        return;
      }
      connection.rest();
      output.close();
    },
    cancel: () => connection.rest(),
  });
}
