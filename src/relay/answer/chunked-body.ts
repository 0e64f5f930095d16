import type { ClientPresence } from "../call.ts";
import type { Gateway } from "../gateway.ts";
import { ClientOutput, directBody } from "./client-output.ts";

/** The minimum that is sent at once, in characters. */
const SENT_LENGTH = 256 * 1024;

/**
 * A response body that is produced in chunks. A large one is written as the client reads, because the runtime would otherwise
 * buffer all of it for a slow reader.
 */
export function chunkedBody(
  chunks: Iterator<string, unknown>,
  client: ClientPresence,
  gateway: Gateway,
): string | ReadableStream {
  const first = gather(chunks);
  if (!first.more) return first.text;
  return directBody(client, async (controller) => {
    const output = new ClientOutput(client, gateway, undefined);
    output.commit(controller, true);
    try {
      for (let next = first; ; next = gather(chunks)) {
        if (next.text !== "") await output.sendText(next.text);
        if (!next.more) break;
      }
    } finally {
      output.close();
    }
  });
}

/** The next chunks, joined; `more` is whether there may be others. */
function gather(chunks: Iterator<string, unknown>): { text: string; more: boolean } {
  let text = "";
  while (text.length < SENT_LENGTH) {
    const next = chunks.next();
    if (next.done) return { text, more: false };
    // A large chunk shares the memory of the text that it was cut from, unless it is added to another.
    text = text === "" ? next.value : text + next.value;
  }
  return { text, more: true };
}
