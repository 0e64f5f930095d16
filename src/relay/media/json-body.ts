import { jsonChunks } from "../../wire/json-chunks.ts";
import { chunkedBody } from "../answer/chunked-body.ts";
import type { Call, ClientPresence } from "../call.ts";
import type { Gateway } from "../gateway.ts";
import { capturedChunks } from "../settle/capture-call.ts";

/** The JSON body of a response, in chunks if it is large. */
export function jsonBody(
  value: unknown,
  { client, capture }: { client: ClientPresence; capture?: Call["capture"] },
  gateway: Gateway,
): string | ReadableStream {
  const chunks = jsonChunks(value);
  return chunkedBody(capture === undefined ? chunks : capturedChunks(chunks, capture), client, gateway);
}
