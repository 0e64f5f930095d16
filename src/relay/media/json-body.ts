import { jsonChunks } from "../../wire/json-chunks.ts";
import type { ClientPresence } from "../call.ts";
import { chunkedBody } from "../chunked-body.ts";
import type { Gateway } from "../gateway.ts";

/** The body of an answer in JSON, in chunks where it is large. */
export const jsonBody = (value: unknown, client: ClientPresence, gateway: Gateway): string | ReadableStream =>
  chunkedBody(jsonChunks(value), client, gateway);
