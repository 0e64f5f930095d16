import { isObject, type JsonObject, parseObject } from "../../../base/json.ts";
import { ObjectEdit } from "../../../wire/json-text.ts";
import type { SseFrame } from "../../../wire/sse.ts";
import { encodeShell } from "../answer/response-shell.ts";
import { encodeUsage } from "../answer/usage.ts";
import type { SteerEvent } from "./client-event.ts";

/** What the events of a connection have that those of a stream over HTTP do not. */
export interface EventMarks {
  /** The client's name for the stream. */
  readonly streamId: string | undefined;
  /** On the first event of a connection. */
  readonly sessionId: string | undefined;
}

/** What the response in an event has that it does not have over HTTP. */
interface TurnMarks {
  /** The response's id, if the gateway does not store it: hosts may use one id twice. */
  readonly id: string;
  /** The id of the turn's receipt. */
  readonly receipt: string | undefined;
  /** The response that the client continues. */
  readonly previous: string | undefined;
}

/** The events that contain the response. */
const WITH_RESPONSE: ReadonlySet<string | undefined> = new Set(
  ["created", "in_progress", "queued", "completed", "incomplete", "failed", "cancelled"].map(
    (name) => `response.${name}`,
  ),
);

const PROPER_ENDS: ReadonlySet<string | undefined> = new Set(["response.completed", "response.incomplete"]);

/** A response as an event has it. */
export interface ShownResponse {
  readonly id: string;
  /** Whether the gateway stores it. */
  readonly isStored: boolean;
  /** It came to a proper end. */
  readonly isDone: boolean;
  /** Its items, as JSON. */
  readonly output: string;
  /** The whole response, as JSON. */
  readonly text: string;
}

/** One event of a stream as a frame. `response` is what it contains, if it contains the response. */
export function encodeEvent(
  { event, data = "{}" }: Pick<SseFrame, "event" | "data">,
  marks: EventMarks,
  turn: TurnMarks,
): { frame: string; response: ShownResponse | undefined } {
  if (!WITH_RESPONSE.has(event)) return { frame: withMarks(data, marks), response: undefined };
  const edit = new ObjectEdit(data);
  const text = markResponse(edit.get("response") ?? "{}", turn);
  const frame = withMarks(edit.set("response", text).toString(), marks);
  return { frame, response: readResponse(text, PROPER_ENDS.has(event)) };
}

function markResponse(response: string, { id, receipt, previous }: TurnMarks): string {
  const edit = new ObjectEdit(response);
  if (edit.get("store") !== "true") edit.set("id", JSON.stringify(id));
  if (receipt !== undefined) {
    const metadata = edit.get("metadata");
    const pairs = new ObjectEdit(metadata?.startsWith("{") ? metadata : "{}");
    edit.set("metadata", pairs.set("trivium_receipt", JSON.stringify(receipt)).toString());
  }
  if (previous !== undefined) edit.set("previous_response_id", JSON.stringify(previous));
  return edit.toString();
}

function readResponse(text: string, isDone: boolean): ShownResponse {
  const edit = new ObjectEdit(text);
  const id = JSON.parse(edit.get("id") ?? '""') as unknown;
  return {
    id: typeof id === "string" ? id : "",
    isStored: edit.get("store") === "true",
    isDone,
    output: edit.get("output") ?? "[]",
    text,
  };
}

/** They come first, so that nothing after them is read to insert them. */
function withMarks(data: string, { streamId, sessionId }: EventMarks): string {
  if (streamId === undefined && sessionId === undefined) return data;
  const marks = JSON.stringify({ session_id: sessionId, stream_id: streamId });
  const rest = data.trimStart().slice(1);
  return `${marks.slice(0, -1)}${rest.trimStart().startsWith("}") ? "" : ","}${rest}`;
}

/** A refusal as it would be over HTTP. */
export interface RefusedTurn {
  readonly status: number;
  /** The body of the response. */
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** A refusal as an event. The connection stays open. */
export function encodeRefusal({ status, body, headers }: RefusedTurn, marks: EventMarks): string {
  const error = parseObject(body)?.["error"];
  const shown = { ...(isObject(error) ? error : { message: body }), headers };
  return withMarks(JSON.stringify({ type: "error", status, error: shown }), marks);
}

/** The protocol's own answer to input for a response in progress. Only the vendor can add it: the response goes on without it. */
export function encodeSteerFailed({ responseId, input }: SteerEvent, marks: EventMarks): string {
  const message = "The gateway cannot add input to a response in progress. Send it with the next response.create.";
  const error = { type: "invalid_request_error", code: "steering_not_supported", message };
  const steer = { input, previous_response_id: responseId };
  return withMarks(JSON.stringify({ type: "response.steer.failed", sequence_number: 0, error, steer }), marks);
}

/** The last event of a response that its client has cancelled. `sequence` is the number of the event. */
export function encodeCancelled(response: string, sequence: number, marks: EventMarks): string {
  const ended = new ObjectEdit(response)
    .set("status", '"incomplete"')
    .set("incomplete_details", '{"reason":"cancelled"}')
    .toString();
  const head = `{"type":"response.incomplete","sequence_number":${sequence},"response":`;
  return withMarks(`${head}${ended}}`, marks);
}

/** The events for a request that only prepares later ones: a response without output, which used nothing. */
export function encodePrepared(request: JsonObject, id: string, createdAtSeconds: number, marks: EventMarks): string[] {
  const model = typeof request["model"] === "string" ? request["model"] : "";
  const shell = encodeShell(request, { id, model, createdAtSeconds, status: "in_progress", store: false });
  const done = { ...shell, status: "completed", completed_at: createdAtSeconds, usage: encodeUsage({}) };
  const write = (type: string, sequence: number, response: JsonObject): string =>
    JSON.stringify({ type, sequence_number: sequence, response });
  return [
    withMarks(write("response.created", 0, shell), marks),
    withMarks(write("response.completed", 1, done), { ...marks, sessionId: undefined }),
  ];
}
