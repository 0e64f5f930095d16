import type { Clock } from "../../base/clock.ts";
import { jsonChunks } from "../../wire/json-chunks.ts";
import type { ClientPresence } from "../call.ts";
import type { DirectController } from "../client-output.ts";
import type { Gateway } from "../gateway.ts";

/**
 * The body of an answer in JSON. A large one is written in chunks as the client reads: for a slow reader the runtime would
 * otherwise hold all of it a second time.
 */
export function jsonBody(
  value: unknown,
  client: ClientPresence,
  { clock, timings: { slowReaderMs } }: Pick<Gateway, "clock" | "timings">,
): string | ReadableStream {
  const chunks = jsonChunks(value);
  const first = chunks.next();
  if (first.done) return "";
  const second = chunks.next();
  if (second.done) return first.value;
  const pull = async (controller: DirectController) => {
    controller.write(first.value);
    controller.write(second.value);
    await taken(controller, client, slowReaderMs, clock);
    for (const chunk of chunks) {
      if (client.gone) break;
      controller.write(chunk);
      await taken(controller, client, slowReaderMs, clock);
    }
    controller.close();
  };
  const source = { type: "direct", pull, cancel: () => client.leave() };
  return new ReadableStream(source as unknown as ConstructorParameters<typeof ReadableStream>[0]);
}

/** Resolves when the client has read what was written. One that reads nothing for too long counts as disconnected. */
async function taken(
  controller: DirectController,
  client: ClientPresence,
  slowReaderMs: number,
  clock: Clock,
): Promise<void> {
  const cancel = clock.after(slowReaderMs, () => client.leave());
  await Promise.race([controller.flush(true), client.left]);
  cancel();
}
