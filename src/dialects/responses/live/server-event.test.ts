import { describe, expect, test } from "bun:test";
import type { JsonObject } from "../../../base/json.ts";
import { encodeCancelled, encodeEvent, encodePrepared, encodeRefusal } from "./server-event.ts";

const NO_MARKS = { streamId: undefined, sessionId: undefined };
const TURN = { id: "resp_own", receipt: "rcp_1", previous: "resp_before" };
const read = (frame: string) => JSON.parse(frame) as JsonObject;

describe("decision 0115: events as frames", () => {
  test("H05: an event without marks keeps its bytes", () => {
    const data = '{ "type":"response.output_text.delta", "delta":"1.0", "n":1.0 }';
    expect(encodeEvent({ event: "response.output_text.delta", data }, NO_MARKS, TURN)).toEqual({
      frame: data,
      response: undefined,
    });
  });

  test.each(['{"a":1}', ' { "a" : 1 }', "{}", " { } "])("marks are inserted into %s", (data) => {
    const marks = { streamId: 'a"b', sessionId: "ses_1" };
    const { frame } = encodeEvent({ event: "response.output_text.delta", data }, marks, TURN);
    expect(read(frame)).toEqual({ session_id: "ses_1", stream_id: 'a"b', ...read(data) });
  });

  test("the response gets the receipt, the response before it, and an own id unless it is stored", () => {
    const shown = (response: object) =>
      encodeEvent(
        { event: "response.completed", data: JSON.stringify({ type: "response.completed", response }) },
        NO_MARKS,
        TURN,
      );
    const response = { id: "resp_host", store: false, metadata: { mine: "1" }, output: [{ type: "message" }] };
    const { frame, response: seen } = shown(response);
    expect(read(frame)["response"]).toEqual({
      ...response,
      id: "resp_own",
      metadata: { mine: "1", trivium_receipt: "rcp_1" },
      previous_response_id: "resp_before",
    });
    expect(seen).toMatchObject({ id: "resp_own", isStored: false, isDone: true, output: '[{"type":"message"}]' });
    expect(shown({ ...response, store: true }).response).toMatchObject({ id: "resp_host", isStored: true });
    expect(read(shown({ metadata: null }).frame)["response"]).toMatchObject({ metadata: { trivium_receipt: "rcp_1" } });
  });

  test("a refusal has the status, the error and the headers of the HTTP response", () => {
    const body = JSON.stringify({ error: { message: "No.", type: "rate_limit_error", param: null, code: null } });
    const refused = { status: 429, body, headers: { "retry-after": "3" } };
    expect(read(encodeRefusal(refused, { ...NO_MARKS, streamId: "a" }))).toEqual({
      type: "error",
      status: 429,
      stream_id: "a",
      error: { message: "No.", type: "rate_limit_error", param: null, code: null, headers: { "retry-after": "3" } },
    });
  });

  test("a cancelled response is incomplete, and has the next number", () => {
    const frame = encodeCancelled('{"id":"resp_1","status":"in_progress","output":[]}', 7, NO_MARKS);
    expect(read(frame)).toMatchObject({
      type: "response.incomplete",
      sequence_number: 7,
      response: { id: "resp_1", status: "incomplete", incomplete_details: { reason: "cancelled" } },
    });
  });

  test("a prepared response begins and ends without output, and the session is named once", () => {
    const frames = encodePrepared({ model: "a/b" }, "resp_1", 5, { streamId: "s", sessionId: "ses_1" }).map(read);
    expect(frames).toMatchObject([
      { type: "response.created", session_id: "ses_1", stream_id: "s", response: { status: "in_progress" } },
      { type: "response.completed", response: { id: "resp_1", status: "completed", output: [], model: "a/b" } },
    ]);
    expect(frames[1]).not.toHaveProperty("session_id");
  });
});
