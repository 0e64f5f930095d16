import { describe, expect, test } from "bun:test";
import { GatewayError } from "../../../canon/error.ts";
import { fold } from "../../../canon/fold.ts";
import { EventSplitter, readFrames } from "../../../wire/sse.ts";
import { recordedAnswers, recordedStreams, recordingsThere } from "../recordings.sample.ts";
import { assemble, brokenLaw, comparable, decodeAll, decodeContext, frame } from "../stream.sample.ts";
import { decodeResponse } from "./decode-response.ts";

const streams = recordedStreams();
const isWhole = (name: string) => !name.includes("overloaded");

const start = frame({
  type: "message_start",
  message: { id: "msg_1", content: [], usage: { input_tokens: 5, output_tokens: 1 } },
});
const blockStart = (index: number, content_block: object) =>
  frame({ type: "content_block_start", index, content_block });
const delta = (index: number, content: object) => frame({ type: "content_block_delta", index, delta: content });
const blockStop = (index: number) => frame({ type: "content_block_stop", index });
const finish = (reason: string, more: object = {}) => [
  frame({
    type: "message_delta",
    delta: { stop_reason: reason, stop_sequence: null, ...more },
    usage: { output_tokens: 9 },
  }),
  frame({ type: "message_stop" }),
];

describe.skipIf(!recordingsThere)("recorded streams", () => {
  test("the corpus is complete", () => {
    expect(streams).toHaveLength(23);
    expect(recordedAnswers()).toHaveLength(12);
  });

  test.each(streams.filter(([name]) => isWhole(name)))("law 2, law 4: %s", (_name, frames) => {
    const events = decodeAll(frames);
    expect(brokenLaw(events)).toBeUndefined();
    const whole = assemble(frames);
    const reply = fold(events);
    expect(comparable(reply)).toEqual(comparable(decodeResponse(whole, decodeContext())));
    // Compare with the recording itself too, without the decoder of complete responses in between.
    const blocks = whole["content"] as Record<string, unknown>[];
    expect(reply.parts).toHaveLength(blocks.length);
    const said = (type: string, key: string) =>
      blocks.filter((block) => block["type"] === type).map((block) => block[key]);
    const texts = reply.parts.flatMap((part) => (part.type === "text" ? [part.text] : []));
    expect(texts).toEqual(said("text", "text") as string[]);
    const calls = reply.parts.flatMap((part) => (part.type === "tool-call" ? [JSON.parse(part.input) as unknown] : []));
    expect(calls).toEqual(said("tool_use", "input"));
    const signatures = reply.parts.flatMap((part) => (part.type === "reasoning" ? [part.signature?.value] : []));
    expect(signatures.toSorted()).toEqual(
      [...said("thinking", "signature"), ...said("redacted_thinking", "data")].toSorted() as string[],
    );
    const usage = whole["usage"] as Record<string, number>;
    expect((reply.usage?.output ?? 0) + (reply.usage?.reasoning ?? 0)).toBe(usage["output_tokens"] as number);
    expect(reply.usage?.input).toBe(usage["input_tokens"] as number);
    expect(reply.stop.raw).toBe(whole["stop_reason"] as string);
  });

  test.each(streams.filter(([name]) => !isWhole(name)))("H16: an error event ends the stream: %s", (_name, frames) => {
    const events = decodeAll(frames);
    expect(brokenLaw(events)).toBeUndefined();
    expect(events.at(-1)).toMatchObject({ type: "error", error: { kind: "overloaded" } });
  });

  test.each(streams)("law 7: a stream cut after any event ends in an error: %s", (_name, frames) => {
    const step = Math.max(1, Math.floor(frames.length / 40));
    for (let cut = 0; cut < frames.length; cut += step) {
      const events = decodeAll(frames.slice(0, cut));
      expect(brokenLaw(events)).toBeUndefined();
      expect(events.at(-1)?.type).toBe("error");
    }
    expect(decodeAll(frames.slice(0, -1)).at(-1)?.type).toBe("error");
  });

  test("law 6: bytes cut anywhere give the same events", () => {
    const [, frames] = streams.find(([name]) => name.includes("thinking-display-regression")) ?? ["", []];
    const bytes = new TextEncoder().encode(frames.map(({ raw }) => raw).join(""));
    const wanted = decodeAll(frames);
    for (let cut = 1; cut < bytes.length; cut++) {
      const splitter = new EventSplitter();
      const text = splitter.push(bytes.slice(0, cut)) + splitter.push(bytes.slice(cut));
      expect(decodeAll(readFrames(text))).toEqual(wanted);
    }
  });

  test.each(recordedAnswers())("complete responses: %s", (_name, status, body) => {
    if (status !== 200) {
      expect(() => decodeResponse(body, decodeContext())).toThrow(GatewayError);
      return;
    }
    const reply = decodeResponse(body, decodeContext());
    expect(reply.parts).toHaveLength((body["content"] as unknown[]).length);
    expect(reply.id).toBe(body["id"] as string);
    expect(reply.stop).toMatchObject({ raw: body["stop_reason"] as string });
  });
});

describe("irregular upstreams", () => {
  test("pings, unknown events, unknown deltas and comments are ignored", () => {
    const events = decodeAll([
      frame({ type: "ping" }),
      start,
      blockStart(0, { type: "text", text: "" }),
      frame({ type: "ping" }),
      delta(0, { type: "sparkle_delta", sparkle: "x" }),
      frame({ type: "weather_report", degrees: 21 }),
      ...readFrames(": comment\n\n"),
      delta(0, { type: "text_delta", text: "Hi" }),
      blockStop(0),
      ...finish("end_turn"),
      ...readFrames("data: [DONE]\n\n"),
    ]);
    expect(fold(events)).toEqual({
      id: "msg_1",
      parts: [{ type: "text", text: "Hi" }],
      stop: { unified: "stop", raw: "end_turn" },
      usage: { input: 5, output: 9 },
    });
  });

  test("usage is cumulative: message_delta overwrites, and null is ignored", () => {
    const usage = { input_tokens: 5, output_tokens: 1, cache_read_input_tokens: 4 };
    const events = decodeAll([
      frame({ type: "message_start", message: { id: "msg_1", content: [], usage } }),
      frame({
        type: "message_delta",
        delta: { stop_reason: "end_turn" },
        usage: { input_tokens: 900, output_tokens: 7, cache_read_input_tokens: null },
      }),
      frame({ type: "message_stop" }),
    ]);
    expect(fold(events).usage).toEqual({ input: 900, cacheRead: 4, output: 7 });
  });

  test("usage inside the delta, where the contract puts it, is read too", () => {
    const events = decodeAll([
      start,
      frame({ type: "message_delta", delta: { stop_reason: "end_turn", usage: { output_tokens: 7 } } }),
      frame({ type: "message_stop" }),
    ]);
    expect(fold(events).usage).toEqual({ input: 5, output: 7 });
  });

  test("a host that never reports usage still finishes", () => {
    const events = decodeAll([
      frame({ type: "message_start", message: { id: "msg_1", content: [] } }),
      frame({ type: "message_delta", delta: { stop_reason: "end_turn" } }),
      frame({ type: "message_stop" }),
    ]);
    expect(fold(events)).toEqual({ id: "msg_1", parts: [], stop: { unified: "stop", raw: "end_turn" } });
  });

  test("tool input may start with an empty chunk, be complete at the start in the host's order (H05), or be absent", () => {
    const whole = readFrames(
      'data: {"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"b","name":"f","input":{"z":1,"10":2,"a":3}}}\n\n',
    );
    const events = decodeAll([
      start,
      blockStart(0, { type: "tool_use", id: "a", name: "f", input: {} }),
      delta(0, { type: "input_json_delta", partial_json: "" }),
      delta(0, { type: "input_json_delta", partial_json: '{"x": ' }),
      delta(0, { type: "input_json_delta", partial_json: "1}" }),
      blockStop(0),
      ...whole,
      blockStop(1),
      blockStart(2, { type: "tool_use", id: "c", name: "f", input: {} }),
      delta(2, { type: "input_json_delta", partial_json: "" }),
      blockStop(2),
      ...finish("tool_use"),
    ]);
    const inputs = fold(events).parts.map((part) => part.type === "tool-call" && [part.id, part.input]);
    expect(inputs).toEqual([
      ["a", '{"x": 1}'],
      ["b", '{"z":1,"10":2,"a":3}'],
      ["c", "{}"],
    ]);
  });

  test("a refusal without any block keeps its explanation", () => {
    const details = { stop_details: { type: "refusal", category: "bio", explanation: "It is dangerous." } };
    expect(fold(decodeAll([start, ...finish("refusal", details)]))).toMatchObject({
      parts: [],
      stop: { unified: "filter", raw: "refusal" },
      stopDetail: "It is dangerous.",
      stopCategory: "bio",
    });
  });

  test("unknown blocks are assembled from their deltas", () => {
    const events = decodeAll([
      start,
      blockStart(0, { type: "compaction", content: "" }),
      delta(0, { type: "compaction_delta", content: "Sum" }),
      delta(0, { type: "compaction_delta", content: "mary" }),
      blockStop(0),
      blockStart(1, { type: "mcp_tool_use", id: "m", name: "ask", input: {}, server_name: "s" }),
      delta(1, { type: "input_json_delta", partial_json: '{"q":1}' }),
      blockStop(1),
      ...finish("end_turn"),
    ]);
    expect(fold(events).parts).toEqual([
      { type: "native", dialect: "messages", name: "compaction", raw: { type: "compaction", content: "Summary" } },
      {
        type: "native",
        dialect: "messages",
        name: "mcp_tool_use",
        raw: { type: "mcp_tool_use", id: "m", name: "ask", input: { q: 1 }, server_name: "s" },
      },
    ]);
  });

  test("contract 7: a failed search uses the contract's error codes, and newer codes map to them", () => {
    const codes = [
      ["invalid_tool_input", "invalid_input"],
      ["request_too_large", "query_too_long"],
      ["max_uses_exceeded", "max_uses_exceeded"],
      ["sunspots", "unavailable"],
    ];
    for (const [wire, canon] of codes) {
      const content = { type: "web_search_tool_result_error", error_code: wire };
      const block = { type: "web_search_tool_result", tool_use_id: "srvtoolu_1", content };
      const events = decodeAll([start, blockStart(0, block), blockStop(0), ...finish("end_turn")]);
      expect(fold(events).parts).toMatchObject([{ type: "server-tool-result", result: { error: canon } }]);
    }
  });

  test.each([
    ["half an event", readFrames('data: {"type":"content_bl\n\n')],
    ["a delta for a block that is not open", [start, delta(3, { type: "text_delta", text: "x" })]],
    ["invalid JSON", readFrames("data: <html>\n\n")],
  ])("%s ends in one error, and nothing follows it", (_name, frames) => {
    const events = decodeAll([...frames, ...finish("end_turn")]);
    expect(brokenLaw(events)).toBeUndefined();
    expect(events.at(-1)).toMatchObject({ type: "error", error: { kind: "upstream_failed" } });
  });

  test("blocks without a stop event end before the finish", () => {
    const events = decodeAll([
      start,
      blockStart(0, { type: "thinking", thinking: "hm", signature: "s" }),
      ...finish("end_turn"),
    ]);
    expect(brokenLaw(events)).toBeUndefined();
    const signature = { origin: "messages", kind: "signature", value: "s" };
    expect(fold(events).parts).toEqual([{ type: "reasoning", text: "hm", signature } as never]);
  });
});

describe("H47: a delta is read by its own kind", () => {
  const text = (index: number, said: string) => delta(index, { type: "text_delta", text: said });
  const thought = (index: number, thinking: string) => delta(index, { type: "thinking_delta", thinking });
  const input = (index: number, partial_json: string) => delta(index, { type: "input_json_delta", partial_json });
  const call = { type: "tool_use", id: "toolu_1", name: "look", input: {} };
  const partsOf = (...frames: ReturnType<typeof frame>[]) => {
    const events = decodeAll([start, ...frames, ...finish("end_turn")]);
    expect(brokenLaw(events)).toBeUndefined();
    return fold(events).parts;
  };

  test("text in a thinking block is text, and the thinking stays one block with its signature", () => {
    expect(
      partsOf(
        blockStart(0, { type: "thinking", thinking: "" }),
        thought(0, "Hm. "),
        text(0, "Hel"),
        text(0, "lo"),
        thought(0, "Done."),
        delta(0, { type: "signature_delta", signature: "s" }),
        blockStop(0),
      ),
    ).toEqual([
      { type: "reasoning", text: "Hm. Done.", signature: { origin: "messages", kind: "signature", value: "s" } },
      { type: "text", text: "Hello" },
    ]);
  });

  test("thinking in a text block is reasoning, with its signature", () => {
    expect(
      partsOf(
        blockStart(0, { type: "text", text: "" }),
        thought(0, "Hm."),
        delta(0, { type: "signature_delta", signature: "s" }),
        text(0, "Hello"),
        blockStop(0),
      ),
    ).toEqual([
      { type: "text", text: "" },
      { type: "reasoning", text: "Hm.", signature: { origin: "messages", kind: "signature", value: "s" } },
      { type: "text", text: "Hello" },
    ]);
  });

  test("text in a call is text, and the call keeps its arguments", () => {
    expect(
      partsOf(blockStart(0, call), input(0, '{"a"'), text(0, "Looking."), input(0, ":1}"), blockStop(0)),
    ).toMatchObject([
      { type: "tool-call", name: "look", input: '{"a":1}' },
      { type: "text", text: "Looking." },
    ]);
  });

  test("arguments in a text block are an error", () => {
    const events = decodeAll([start, blockStart(0, { type: "text", text: "" }), input(0, "{}"), ...finish("end_turn")]);
    expect(events.at(-1)).toMatchObject({ type: "error", error: { kind: "upstream_failed" } });
  });

  test.each([
    ["message_start", [start]],
    ["a block in its place", [blockStart(0, { type: "text", text: "x" }), blockStop(0)]],
    ["the end of the response", []],
  ])("a partial call followed by %s is an error, never a call", (_name, more) => {
    const events = decodeAll([start, blockStart(0, call), input(0, '{"path":"/'), ...more, ...finish("tool_use")]);
    expect(brokenLaw(events)).toBeUndefined();
    expect(events.map(({ type }) => type)).not.toContain("tool-input-end");
    expect(events.at(-1)).toMatchObject({ type: "error", error: { kind: "upstream_failed" } });
  });

  test("a host that starts again after text continues the response under its first id", () => {
    const again = frame({ type: "message_start", message: { id: "msg_2", content: [], usage: { input_tokens: 5 } } });
    const events = decodeAll([
      start,
      blockStart(0, { type: "text", text: "" }),
      text(0, "One. "),
      again,
      blockStart(0, { type: "text", text: "" }),
      text(0, "Two."),
      blockStop(0),
      ...finish("end_turn"),
    ]);
    expect(brokenLaw(events)).toBeUndefined();
    expect(fold(events)).toMatchObject({
      id: "msg_1",
      parts: [
        { type: "text", text: "One. " },
        { type: "text", text: "Two." },
      ],
    });
  });

  test("a call cut by the output limit stays a partial call", () => {
    const events = decodeAll([start, blockStart(0, call), input(0, '{"path":"/'), ...finish("max_tokens")]);
    expect(fold(events).parts).toMatchObject([{ type: "tool-call", input: '{"path":"/' }]);
  });
});
