import { describe, expect, test } from "bun:test";
import type { JsonObject } from "../../../base/json.ts";
import { GatewayError } from "../../../canon/error.ts";
import type { CanonEvent } from "../../../canon/event.ts";
import { fold } from "../../../canon/fold.ts";
import { readFrames } from "../../../wire/sse.ts";
import type { DecodeAnswerContext } from "../../codec.ts";
import { DEFAULT_RESPONSES_QUIRKS } from "../quirks.ts";
import { decodeResponse } from "./decode-response.ts";
import { ResponsesStreamDecoder } from "./decode-stream.ts";

const context: DecodeAnswerContext = {
  origin: "responses",
  quirks: DEFAULT_RESPONSES_QUIRKS,
  reading: {},
  makeId: () => "made",
};

const USAGE = {
  input_tokens: 20,
  input_tokens_details: { cached_tokens: 8 },
  output_tokens: 9,
  output_tokens_details: { reasoning_tokens: 4 },
};

const created = {
  type: "response.created",
  response: { id: "resp_1", created_at: 7, status: "in_progress", output: [] },
};
const completed = (more: JsonObject = {}): JsonObject => ({
  type: "response.completed",
  response: { id: "resp_1", status: "completed", output: [], usage: USAGE, ...more },
});
const added = (output_index: number, item: JsonObject): JsonObject => ({
  type: "response.output_item.added",
  output_index,
  item,
});
const done = (output_index: number, item: JsonObject): JsonObject => ({
  type: "response.output_item.done",
  output_index,
  item,
});
const message = (text: string): JsonObject => ({
  type: "message",
  id: "msg_1",
  role: "assistant",
  content: [{ type: "output_text", text, annotations: [] }],
});
const call = (more: JsonObject): JsonObject => ({
  type: "function_call",
  id: "fc_1",
  call_id: "c1",
  name: "look",
  ...more,
});

function decode(...events: (JsonObject | string)[]): CanonEvent[] {
  const decoder = new ResponsesStreamDecoder(context);
  const text = events
    .map((event) => (typeof event === "string" ? event : `data: ${JSON.stringify(event)}\n\n`))
    .join("");
  const decoded = readFrames(text).flatMap((frame) => decoder.push(frame));
  return [...decoded, ...decoder.end()];
}

const partsOf = (...events: (JsonObject | string)[]) => fold(decode(...events)).parts;

describe("a stream of a Responses host", () => {
  test("R3: is built from the done items if the last event has none", () => {
    const reply = fold(
      decode(created, added(0, { type: "message", id: "m", content: [] }), done(0, message("hi")), completed()),
    );
    expect(reply.parts).toEqual([{ type: "text", text: "hi" }]);
    expect(reply.id).toBe("resp_1");
  });

  test("R3: includes what only the last event contains", () => {
    expect(partsOf(created, completed({ output: [message("late")] }))).toEqual([{ type: "text", text: "late" }]);
  });

  test("R7: arguments of interleaved parallel calls are not mixed up", () => {
    const argument = (output_index: number, delta: string) => ({
      type: "response.function_call_arguments.delta",
      output_index,
      delta,
    });
    const parts = partsOf(
      created,
      added(0, call({ arguments: "" })),
      added(1, call({ id: "fc_2", call_id: "c2", arguments: "" })),
      argument(0, '{"a"'),
      argument(1, '{"b"'),
      argument(0, ":1}"),
      argument(1, ":2}"),
      done(1, call({ id: "fc_2", call_id: "c2", arguments: '{"b":2}' })),
      done(0, call({ arguments: '{"a":1}' })),
      completed(),
    );
    expect(parts).toEqual([
      { type: "tool-call", id: "c1", name: "look", input: '{"a":1}' },
      { type: "tool-call", id: "c2", name: "look", input: '{"b":2}' },
    ]);
  });

  test("R19: ends in a call if its items do", () => {
    const finish = decode(created, done(0, call({ arguments: "{}" })), completed()).at(-1);
    expect(finish).toEqual({ type: "finish", stop: { unified: "tool", raw: "completed" } });
    const cut = { status: "incomplete", incomplete_details: { reason: "max_output_tokens" } };
    expect(decode(created, completed(cut)).at(-1)).toEqual({
      type: "finish",
      stop: { unified: "length", raw: "max_output_tokens" },
    });
  });

  test("R20: ignores pings, comments, unknown events and [DONE], even after the end", () => {
    const noise = [": PROCESSING\n\n", { type: "keepalive", sequence_number: 3 }, { type: "response.new.thing" }];
    expect(
      partsOf(created, ...noise, done(0, message("hi")), ...noise, completed(), { type: "ping" }, "data: [DONE]\n\n"),
    ).toEqual([{ type: "text", text: "hi" }]);
  });

  test("R21: an item is identified by its index, even if its id changes", () => {
    const delta = {
      type: "response.output_text.delta",
      item_id: "other",
      output_index: 0,
      content_index: 0,
      delta: "hi",
    };
    expect(
      partsOf(
        created,
        added(0, { type: "message", id: "first", content: [] }),
        delta,
        done(0, message("hi")),
        completed(),
      ),
    ).toEqual([{ type: "text", text: "hi" }]);
  });

  test("R21: an item is identified by its id without an index, and by its order without either", () => {
    const item = (id?: string) => ({ type: "response.output_item.added", item: { ...call({ arguments: "" }), id } });
    const argument = (delta: string, item_id?: string) => ({
      type: "response.function_call_arguments.delta",
      delta,
      item_id,
    });
    const finished = (id: string | undefined, call_id: string, written: string) => ({
      type: "response.output_item.done",
      item: { ...call({ arguments: written, call_id }), id },
    });
    expect(
      partsOf(
        created,
        item("a"),
        item("b"),
        argument("{}", "a"),
        finished("a", "c1", "{}"),
        finished("b", "c1", "{ }"),
        completed(),
      ),
    ).toMatchObject([{ input: "{}" }, { input: "{ }" }]);
    expect(
      partsOf(created, item(), argument('{"x":1}'), finished(undefined, "c1", '{"x":1}'), completed()),
    ).toMatchObject([{ id: "c1", input: '{"x":1}' }]);
  });

  test("R22: accepts arguments and texts only at the end, a call without a name, and two thoughts with one id", () => {
    const thought = (value: string) => ({ type: "reasoning", id: "rs_1", summary: [], encrypted_content: value });
    const parts = partsOf(
      created,
      done(0, thought("one")),
      added(1, { type: "function_call", id: "fc_1", arguments: "" }),
      { type: "response.function_call_arguments.done", output_index: 1, arguments: '{"a":1}' },
      done(1, call({ arguments: '{"a":1}' })),
      done(2, thought("two")),
      done(3, message("hi")),
      completed(),
    );
    expect(parts.map((part) => [part.type, part.signature?.value])).toEqual([
      ["reasoning", "one"],
      ["tool-call", undefined],
      ["reasoning", "two"],
      ["text", undefined],
    ]);
  });

  test("R10: the encrypted value is the one of the done item, with its id", () => {
    const sealed = (value: string) => ({ type: "reasoning", id: "rs_1", summary: [], encrypted_content: value });
    const [thought] = partsOf(
      created,
      added(0, sealed("early")),
      done(0, sealed("right")),
      completed({ output: [sealed("sealed anew")] }),
    );
    expect(thought?.signature).toEqual({ origin: "responses", kind: "encrypted", value: "right", format: "#rs_1" });
  });

  test("R23: a refusal is not text", () => {
    const refused = { ...message(""), content: [{ type: "refusal", refusal: "No." }] };
    const delta = { type: "response.refusal.delta", output_index: 0, content_index: 0, delta: "No." };
    expect(partsOf(created, delta, done(0, refused), completed())).toEqual([{ type: "refusal", text: "No." }]);
  });

  test("decision 0091: the text of a second message is separate from the first, streamed, only at the end, or whole", () => {
    const expected = [
      { type: "text", text: "One." },
      { type: "text", text: "Two.", apart: true },
    ];
    const [first, second] = [message("One."), { ...message("Two."), id: "msg_2" }];
    const delta = (output_index: number, text: string) => ({
      type: "response.output_text.delta",
      output_index,
      content_index: 0,
      delta: text,
    });
    const streamed = [delta(0, "One."), done(0, first), delta(1, "Tw"), delta(1, "o."), done(1, second)];
    expect(partsOf(created, ...streamed, completed())).toEqual(expected as never);
    expect(partsOf(created, completed({ output: [first, second] }))).toEqual(expected as never);
    const whole = decodeResponse({ status: "completed", output: [first, second] }, context);
    expect(whole.parts).toEqual(expected as never);
  });

  test("R31: cached tokens are part of the input, and thoughts part of the output", () => {
    const { usage } = fold(decode(created, completed()));
    expect(usage).toEqual({ input: 12, cacheRead: 8, output: 5, reasoning: 4 });
  });

  test("searches are counted, because they cost money", () => {
    const search = { type: "web_search_call", id: "ws_1", status: "completed", action: { type: "search", query: "q" } };
    const reply = fold(decode(created, done(0, search), done(1, message("hi")), completed()));
    expect(reply.usage?.searches).toBe(1);
    expect(reply.parts.map(({ type }) => type)).toEqual(["server-tool-call", "server-tool-result", "text"]);
  });

  test("R1: an end without a last event is an error, as are the host's error events", () => {
    const failed = (...events: (JsonObject | string)[]) => {
      const last = decode(...events).at(-1);
      if (last?.type !== "error") throw new Error("no error");
      return last.error;
    };
    expect(failed(created, done(0, message("hi"))).kind).toBe("upstream_failed");
    expect(failed().kind).toBe("upstream_failed");
    const error = { type: "server_error", code: "server_error", message: "no", param: null };
    expect(failed(created, { type: "error", error }).kind).toBe("upstream_failed");
    const response = { status: "failed", error: { code: "rate_limit_exceeded", message: "slow down" } };
    expect(failed(created, { type: "response.failed", response }).kind).toBe("rate_limited");
  });

  test("R28: a prompt that is too long is a client error, by its code", () => {
    const response = { status: "failed", error: { code: "context_length_exceeded", message: "too long" } };
    const last = decode(created, { type: "response.failed", response }).at(-1);
    if (last?.type !== "error") throw new Error("no error");
    expect([last.error.kind, last.error.code]).toEqual(["invalid_request", "context_length_exceeded"]);
    expect(() => decodeResponse(response, context)).toThrow(GatewayError);
  });
});
