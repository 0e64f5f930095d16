import { type JsonObject, stringAt } from "../../../base/json.ts";
import { GatewayError } from "../../../canon/error.ts";
import { ObjectEdit } from "../../../wire/json-text.ts";
import { inputItems, joinItems } from "../request/expand-items.ts";

/** A response to be made. */
export interface CreateEvent {
  readonly type: "create";
  /** The response that it continues. */
  readonly previous: string | undefined;
  /** False for a request that only prepares later ones. */
  readonly generates: boolean;
  /** The items of its own input, as JSON. */
  readonly own: string;
  readonly body: JsonObject;
  /** The body of the same request over HTTP, with earlier turns before its own input. */
  request(earlier: EarlierTurns): string;
}

/** A response to be ended. */
interface CancelEvent {
  readonly type: "cancel";
  readonly responseId: string;
}

/** Input for a response that is in progress. */
export interface SteerEvent {
  readonly type: "steer";
  readonly responseId: string | undefined;
  readonly input: unknown;
}

/** Turns of the same connection. Texts are lists of items in JSON. */
export interface EarlierTurns {
  /** Oldest first. */
  readonly turns: readonly { readonly input: string; readonly output: string }[];
  /** The response before them, which is stored; undefined if they are the beginning. */
  readonly before: string | undefined;
}

/** The longest name of a stream within a connection. */
const MAX_STREAM_ID = 256;

/** Which of the parallel streams of a connection an event belongs to. */
export function readStreamId(event: JsonObject): string | undefined {
  const id = event["stream_id"] ?? undefined;
  if (id === undefined || (typeof id === "string" && id.length > 0 && id.length <= MAX_STREAM_ID)) return id;
  const message = `stream_id must be a string of 1 to ${MAX_STREAM_ID} characters.`;
  throw new GatewayError("invalid_request", message, { path: "stream_id" });
}

/** Reads an event of a client. `text` is its JSON. */
export function readClientEvent(event: JsonObject, text: string): CreateEvent | CancelEvent | SteerEvent {
  const type = stringAt(event, "type");
  if (type === "response.create") return readCreate(event, text);
  if (type === "response.cancel") return { type: "cancel", responseId: readResponseId(event) };
  if (type === "response.steer")
    return { type: "steer", responseId: stringAt(event, "previous_response_id"), input: event["input"] };
  const found = type === undefined ? "is missing" : `is ${JSON.stringify(type.slice(0, 80))}`;
  const message = `type ${found}; it must be response.create or response.cancel.`;
  throw new GatewayError("invalid_request", message, { path: "type" });
}

function readResponseId(event: JsonObject): string {
  const id = stringAt(event, "response_id");
  if (id) return id;
  const message = "response_id must be the id of the response to cancel, from response.created.";
  throw new GatewayError("invalid_request", message, { path: "response_id" });
}

/** Fields of the event that a request over HTTP does not have. */
const OF_THE_EVENT = ["type", "stream_id", "generate", "background"] as const;

function readCreate(body: JsonObject, text: string): CreateEvent {
  if (body["background"] === true) {
    const message = "background is not supported over a WebSocket. Send POST /v1/responses for a background response.";
    throw new GatewayError("unsupported_parameter", message, { path: "background" });
  }
  const generate = body["generate"] ?? true;
  if (typeof generate !== "boolean")
    throw new GatewayError("invalid_request", "generate must be true or false.", { path: "generate" });
  const edit = new ObjectEdit(text);
  const own = inputItems(body["input"], edit.get("input") ?? "");
  return {
    type: "create",
    previous: stringAt(body, "previous_response_id"),
    generates: generate,
    own,
    body,
    request: ({ turns, before }) => {
      for (const field of OF_THE_EVENT) edit.remove(field);
      edit.set("stream", "true");
      if (turns.length === 0) return edit.toString();
      edit.set("input", joinItems([...turns.flatMap(({ input, output }) => [input, output]), own]));
      if (before === undefined) edit.remove("previous_response_id");
      else edit.set("previous_response_id", JSON.stringify(before));
      return edit.toString();
    },
  };
}
