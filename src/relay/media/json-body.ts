import { jsonChunks } from "../../wire/json-chunks.ts";
import type { ClientPresence } from "../call.ts";
import { ClientOutput, directBody } from "../client-output.ts";
import type { Gateway } from "../gateway.ts";

/**
 * The body of an answer in JSON. A large one is written in chunks as the client reads: for a slow reader the runtime would
 * otherwise hold all of it a second time.
 */
export function jsonBody(value: unknown, client: ClientPresence, gateway: Gateway): string | ReadableStream {
  const chunks = jsonChunks(value);
  const first = chunks.next();
  if (first.done) return "";
  const second = chunks.next();
  if (second.done) return first.value;
  return directBody(client, async (controller) => {
    const output = new ClientOutput(client, gateway, undefined);
    output.commit(controller, true);
    try {
      await output.sendText(first.value + second.value);
      for (const chunk of chunks) await output.sendText(chunk);
    } finally {
      output.close();
    }
  });
}
