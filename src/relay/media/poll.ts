import type { Principal } from "../../access/principal.ts";
import type { JsonObject } from "../../base/json.ts";
import { GatewayError } from "../../canon/error.ts";
import type { Operation } from "../../canon/operation.ts";
import type { Dialect } from "../../dialects/dialect.ts";
import { decodePoll } from "../../media/predict-long-running/decode-poll.ts";
import {
  type DeliveredVideo,
  encodeOperation,
  type OperationForm,
} from "../../media/predict-long-running/encode-operation.ts";
import type { Operations } from "../../operations/operations.ts";
import type { ClientConnection } from "../call.ts";
import { countRequest } from "../count-request.ts";
import type { Gateway } from "../gateway.ts";
import { readSmallBody } from "../request/read-body.ts";

/** The body contains only the name of an operation. */
const MAX_POLL_BYTES = 64 * 1024;

interface IncomingPoll {
  request: Request;
  connection: ClientConnection;
  credential: string | undefined;
  dialect: Dialect;
  /** Answers with the videos themselves instead of their URLs. */
  inline: boolean;
}

/** Contract 2.3: the state of an operation, read from its row. The poller polls the provider at its own interval. */
export async function pollVideo(incoming: IncomingPoll, gateway: Gateway, operations: Operations): Promise<JsonObject> {
  const principal = await callerOf(incoming, gateway);
  const { operationId } = decodePoll(await readSmallBody(incoming.request, MAX_POLL_BYTES, principal, gateway));
  return stateOf({ id: operationId, path: "operationName", form: "videos" }, incoming, principal, gateway, operations);
}

/** `GET` of an operation's name: the same state, as the vendor's public API encodes it. */
export async function showVideo(
  incoming: IncomingPoll,
  operationId: string,
  gateway: Gateway,
  operations: Operations,
): Promise<JsonObject> {
  const principal = await callerOf(incoming, gateway);
  return stateOf({ id: operationId, path: "name", form: "samples" }, incoming, principal, gateway, operations);
}

async function callerOf(incoming: IncomingPoll, gateway: Gateway): Promise<Principal> {
  const principal = await gateway.keys.identify(incoming.credential ?? "", incoming.connection);
  await countRequest(principal, gateway);
  return principal;
}

async function stateOf(
  { id, path, form }: { id: string; path: string; form: OperationForm },
  incoming: IncomingPoll,
  principal: Principal,
  gateway: Gateway,
  operations: Operations,
): Promise<JsonObject> {
  // Another project's operation looks like one that does not exist (S09).
  const operation = await operations.find(principal, id);
  if (operation === undefined) {
    const message = `No operation "${id.slice(0, 80)}" was found. Operations are kept for ${operations.keptHours} hours after they end, and only the project that created one can see it.`;
    throw new GatewayError("not_found", message, { path, code: "operation_not_found" });
  }
  if (!operation.claimed) await operations.claim(operation.id);
  // Inline videos are read completely first, from a store that may be slow.
  incoming.connection.hold();
  try {
    return encodeOperation(operation, await videosOf(operation, principal.keyId, gateway, incoming.inline), form);
  } finally {
    incoming.connection.rest();
  }
}

async function videosOf(
  operation: Operation,
  keyId: string,
  { files, clock }: Gateway,
  inline: boolean,
): Promise<DeliveredVideo[]> {
  if (operation.state !== "done") return [];
  const kept = operation.parts.flatMap((part) => part.videos);
  return Promise.all(
    kept.map(async ({ file, mimeType }): Promise<DeliveredVideo> => {
      const record = await files.read(file, [operation.project], clock.nowMs());
      if (record === undefined) return { mimeType };
      if (!inline) return { url: files.urlOf(record, keyId), mimeType };
      const opened = await files.open(record);
      if (opened === undefined) return { mimeType };
      return { base64: Buffer.from(await new Response(opened.stream).bytes()).toString("base64"), mimeType };
    }),
  );
}
