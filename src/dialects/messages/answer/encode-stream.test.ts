import { describe, expect, test } from "bun:test";
import Anthropic from "@anthropic-ai/sdk";
import fc from "fast-check";
import { type JsonObject, numberAt, objectAt } from "../../../base/json.ts";
import { GatewayError } from "../../../canon/error.ts";
import type { CanonEvent } from "../../../canon/event.ts";
import { fold, unfold } from "../../../canon/fold.ts";
import type { Opaque } from "../../../canon/opaque.ts";
import type { FieldNote } from "../../../canon/receipt.ts";
import type { CanonReply, ReplyPart } from "../../../canon/reply.ts";
import { readFrames } from "../../../wire/sse.ts";
import { decodeContent } from "../content.ts";
import { recordedStreams, recordingsThere } from "../recordings.sample.ts";
import { assemble, comparable, decodeAll, encodeAll, encodeContext } from "../stream.sample.ts";
import { encodeResponse } from "./encode-response.ts";
import { MessagesStreamEncoder } from "./encode-stream.ts";

const stop = { unified: "stop", raw: "STOP" } as const;
const foreign = (value: string, more: Partial<Opaque> = {}): Opaque => ({
  origin: "genai",
  kind: "signature",
  value,
  ...more,
});
const NO_CACHE = { cacheRead: 0, cacheWrite5m: 0, cacheWrite1h: 0 };
const replyOf = (parts: readonly ReplyPart[], more: Partial<CanonReply> = {}): CanonReply => ({ parts, stop, ...more });
const contentOf = (text: string) => assemble(readFrames(text))["content"] as JsonObject[];
const eventsOf = (text: string) =>
  readFrames(text).map(({ data }) => JSON.parse(data ?? "") as Record<string, unknown>);
const unary = (reply: CanonReply, request: JsonObject = {}, reported: FieldNote[] = []) =>
  JSON.parse(encodeResponse(reply, encodeContext(request, reported))) as Record<string, unknown>;

describe.skipIf(!recordingsThere)("recorded streams", () => {
  const streams = recordedStreams().filter(([name]) => !name.includes("overloaded"));

  test.each(streams)("law 3, law 8: the decoder reads what the encoder writes: %s", (_name, frames) => {
    const events = decodeAll(frames);
    const before = JSON.stringify(events);
    const text = encodeAll(events);
    expect(encodeAll(events)).toBe(text);
    expect(JSON.stringify(events)).toBe(before);
    expect(comparable(fold(decodeAll(readFrames(text))))).toEqual(comparable(fold(events)));
  });

  test.each(streams)("a stream and a complete response have the same content: %s", (_name, frames) => {
    const reply = fold(decodeAll(frames));
    const streamed = assemble(readFrames(encodeAll(unfold(reply))));
    const { id, content, stop_reason, stop_sequence, usage } = unary(reply);
    expect(streamed).toMatchObject({ id, stop_reason, stop_sequence, usage } as object);
    const kept = (blocks: unknown) => blocks as Record<string, unknown>[];
    expect(kept(streamed["content"])).toEqual(kept(content));
  });
});

describe("contract 6.1: the form of the stream", () => {
  const reply = replyOf([{ type: "text", text: "Hi" }], { id: "gen-1", usage: { input: 3, output: 7, reasoning: 2 } });

  test("H11: message_start estimates the prompt; message_delta has the usage in both places", () => {
    const text = encodeAll(unfold(reply));
    expect(text.startsWith('event: message_start\ndata: {"type":"message_start"')).toBe(true);
    const events = eventsOf(text);
    expect(events[0]).toEqual({
      type: "message_start",
      message: {
        id: "gen-1",
        type: "message",
        role: "assistant",
        model: "acme/model",
        content: [],
        stop_reason: null,
        stop_sequence: null,
        usage: { input_tokens: 42, output_tokens: 0 },
      },
    });
    const usage = {
      input_tokens: 3,
      cache_creation_input_tokens: 0,
      cache_read_input_tokens: 0,
      cache_creation: { ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: 0 },
      output_tokens: 9,
      output_tokens_details: { thinking_tokens: 2 },
      server_tool_use: { web_search_requests: 0, web_fetch_requests: 0 },
      service_tier: "standard",
    };
    expect(events.slice(-2)).toEqual([
      { type: "message_delta", delta: { stop_reason: "end_turn", stop_sequence: null, usage }, usage },
      { type: "message_stop" },
    ]);
    for (const { event, data } of readFrames(text))
      expect(event).toBe((JSON.parse(data ?? "") as { type: string }).type);
  });

  test("estimates replace the usage that an upstream does not report", () => {
    const events = eventsOf(encodeAll(unfold(replyOf([{ type: "text", text: "x".repeat(400) }]))));
    expect(events.at(-2)).toMatchObject({ usage: { input_tokens: 42, output_tokens: 100 } });
    expect(unary(replyOf([{ type: "text", text: "x".repeat(400) }]))).toMatchObject({
      usage: { input_tokens: 42, output_tokens: 100 },
    });
  });

  /** How coding agents combine the counters: those at the end replace those at the start, unless they are 0. */
  const sumOfPrompt = (events: Record<string, unknown>[]): number => {
    const start = objectAt(objectAt(events[0], "message"), "usage");
    const end = objectAt(events.at(-2), "usage");
    const names = ["input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens"];
    return names.map((name) => numberAt(end, name) || numberAt(start, name) || 0).reduce((sum, count) => sum + count);
  };

  test.each([
    { input: 3, output: 7 },
    { input: 0, cacheRead: 31_844, output: 7 },
    { input: 5, cacheRead: 20, cacheWrite5m: 3, cacheWrite1h: 4, output: 7 },
  ])("H06, H11: an estimate at the start adds nothing to the client's sum: %j", (usage) => {
    const { input, cacheRead = 0, cacheWrite5m = 0, cacheWrite1h = 0 } = { ...NO_CACHE, ...usage };
    const prompt = input + cacheRead + cacheWrite5m + cacheWrite1h;
    expect(sumOfPrompt(eventsOf(encodeAll(unfold({ ...reply, usage }))))).toBe(prompt);
    // If the usage is reported first, nothing is estimated and the counters stay exactly the same.
    const { id: _id, ...nameless } = reply;
    const reported = eventsOf(encodeAll([{ type: "usage", usage }, ...unfold({ ...nameless, usage })]));
    expect(objectAt(objectAt(reported[0], "message"), "usage")).toMatchObject({
      input_tokens: input,
      cache_read_input_tokens: cacheRead,
      cache_creation_input_tokens: cacheWrite5m + cacheWrite1h,
    });
    expect(reported.at(-2)).toMatchObject({ usage: { input_tokens: input, cache_read_input_tokens: cacheRead } });
    expect(sumOfPrompt(reported)).toBe(prompt);
  });

  test("H06: the counters round-trip", () => {
    const usage = { input: 10, cacheRead: 20, cacheWrite5m: 3, cacheWrite1h: 4, output: 50, reasoning: 6, searches: 2 };
    expect(fold(decodeAll(readFrames(encodeAll(unfold({ ...reply, usage }))))).usage).toEqual(usage);
    expect(unary({ ...reply, usage })["usage"]).toMatchObject({ cache_creation_input_tokens: 7, output_tokens: 56 });
  });

  test("law 7: an error is left to the caller, and writes no message_start", () => {
    const [error] = decodeAll([]);
    expect(error?.type).toBe("error");
    expect(encodeAll(error === undefined ? [] : [error])).toBe("");
  });

  test.each([
    [{ unified: "stop", raw: "stop" }, "end_turn"],
    [{ unified: "length", raw: "MAX_TOKENS" }, "max_tokens"],
    [{ unified: "length", raw: "model_context_window_exceeded" }, "model_context_window_exceeded"],
    [{ unified: "tool", raw: "tool_calls" }, "tool_use"],
    [{ unified: "stop", raw: "tool_use" }, "end_turn"],
    [{ unified: "filter", raw: "SAFETY" }, "refusal"],
    [{ unified: "pause", raw: "pause_turn" }, "pause_turn"],
    [{ unified: "other", raw: "constructor" }, "end_turn"],
  ] as const)("contract 2.11: stop %o is %s", (unified, word) => {
    expect(unary(replyOf([], { stop: unified }))["stop_reason"]).toBe(word);
  });

  test("a matched stop sequence is reported; a refusal text ends in a refusal", () => {
    const matched = { stop: { unified: "stop", raw: "stop" }, stopSequence: "END" } as const;
    expect(unary(replyOf([], matched))).toMatchObject({ stop_reason: "stop_sequence", stop_sequence: "END" });
    const refusal = replyOf([{ type: "refusal", text: "No." }], { stopDetail: "policy" });
    for (const answer of [unary(refusal), assemble(readFrames(encodeAll(unfold(refusal))))]) {
      expect(answer).toMatchObject({
        content: [{ type: "text", text: "No." }],
        stop_reason: "refusal",
        stop_details: { explanation: "policy" },
      });
    }
  });
});

describe("blocks", () => {
  test("H02: unsigned thinking gets an empty signature before its stop", () => {
    const [, , delta, signature, end] = eventsOf(encodeAll(unfold(replyOf([{ type: "reasoning", text: "hm" }]))));
    expect([delta, signature]).toMatchObject([
      { delta: { type: "thinking_delta", thinking: "hm" } },
      { delta: { type: "signature_delta", signature: "" } },
    ]);
    expect(end).toEqual({ type: "content_block_stop", index: 0 });
  });

  test("empty text starts no block; H02: signed empty thinking does, with its signature right before the stop", () => {
    const signature: Opaque = { origin: "messages", kind: "signature", value: "sig" };
    const text = encodeAll(
      unfold(
        replyOf([
          { type: "text", text: "" },
          { type: "reasoning", text: "" },
          { type: "reasoning", text: "", signature },
        ]),
      ),
    );
    const blocks = eventsOf(text).filter(({ type }) => String(type).startsWith("content_block"));
    expect(blocks).toEqual([
      { type: "content_block_start", index: 0, content_block: { type: "thinking", thinking: "", signature: "" } },
      { type: "content_block_delta", index: 0, delta: { type: "signature_delta", signature: "sig" } },
      { type: "content_block_stop", index: 0 },
    ]);
  });

  test("thinking.display omitted: the thinking text is omitted, its signature is not", () => {
    const request = { thinking: { type: "adaptive", display: "omitted" } };
    const signature = foreign("abc");
    const reply = replyOf([
      { type: "reasoning", text: "secret", signature },
      { type: "reasoning", text: "unsigned" },
    ]);
    const content = contentOf(encodeAll(unfold(reply), request));
    expect(content).toEqual(unary(reply, request)["content"] as JsonObject[]);
    expect(content).toMatchObject([
      { type: "thinking", thinking: "" },
      { type: "thinking", thinking: "" },
    ]);
    expect(JSON.stringify(content)).not.toMatch(/secret|unsigned/);
    // Unsigned reasoning travels as itself, and comes back complete.
    expect(decodeContent(content, "c")).toMatchObject([
      { type: "reasoning", text: "", signature },
      { type: "reasoning", text: "unsigned" },
    ]);
  });

  test("media are replaced by text; blocks of other protocols are carried and come back", () => {
    const code = {
      type: "native",
      dialect: "genai",
      name: "executableCode",
      raw: { executableCode: { code: "1" } },
    } as const;
    const reply = replyOf([
      { type: "media", kind: "image", source: { type: "data", mimeType: "image/png", data: "AAAA" } },
      code,
    ]);
    const content = contentOf(encodeAll(unfold(reply)));
    expect(content).toEqual(unary(reply)["content"] as JsonObject[]);
    expect(content).toMatchObject([
      { type: "text", text: "[image omitted: this protocol has no place for it]" },
      { type: "redacted_thinking" },
    ]);
    expect(decodeContent(content, "c")[1]).toMatchObject(code);
  });

  test.each<JsonObject>([
    { thinking: { type: "adaptive", display: "omitted" } },
    { thinking: { type: "adaptive", display: "updates" } },
    { thinking: { type: "enabled", budget_tokens: 1024 }, context_management: { edits: [] } },
  ])("sdks 2.2: for coding agents the last block is never one that only carries a signature: %j", (request) => {
    const [one, two, three] = [foreign("one"), foreign("two"), foreign("three")];
    const reply = replyOf([
      { type: "text", text: "I look.", signature: one },
      { type: "tool-call", id: "a", name: "f", input: "{}" },
      { type: "text", text: "Twelve.", signature: two },
      { type: "text", text: "", signature: three },
    ]);
    const reported: FieldNote[] = [];
    const content = contentOf(encodeAll(unfold(reply), request, reported));
    expect(content.map(({ type }) => type)).toEqual(["text", "redacted_thinking", "tool_use", "text"]);
    expect(decodeContent(content, "c")[0]).toMatchObject({ text: "I look.", signature: one });
    expect(reported.map(({ path, action }) => [path, action])).toEqual([["answer.content", "dropped"]]);
    expect(content).toEqual(unary(reply, request, reported)["content"] as JsonObject[]);
    expect(reported).toHaveLength(2);
  });

  test("H03, law 5: interleaved calls are written one after the other, each with its own arguments", () => {
    const events: CanonEvent[] = [
      { type: "metadata", id: "x" },
      { type: "tool-input-start", block: 0, id: "a", name: "f" },
      { type: "tool-input-start", block: 1, id: "b", name: "f" },
      { type: "tool-input-delta", block: 1, text: '{"n":' },
      { type: "tool-input-delta", block: 0, text: '{"n":1}' },
      { type: "text-start", block: 2 },
      { type: "text-delta", block: 2, text: "later" },
      { type: "tool-input-delta", block: 1, text: "2}" },
      { type: "tool-input-end", block: 1 },
      { type: "tool-input-end", block: 0 },
      { type: "text-end", block: 2 },
      { type: "finish", stop },
    ];
    expect(contentOf(encodeAll(events))).toMatchObject([
      { type: "tool_use", id: "a", input: { n: 1 } },
      { type: "tool_use", id: "b", input: { n: 2 } },
      { type: "text", text: "later" },
    ]);
  });

  test("blocks that were not ended stay separate", () => {
    const text = encodeAll([
      { type: "text-start", block: 0 },
      { type: "text-delta", block: 0, text: "one" },
      { type: "text-start", block: 1 },
      { type: "text-delta", block: 1, text: "two" },
      { type: "finish", stop },
    ]);
    expect(contentOf(text).map((block) => block["text"])).toEqual(["one", "two"]);
    expect(decodeAll(readFrames(text)).at(-1)?.type).toBe("finish");
  });

  test("invalid ids are replaced by derived ones, the same in streams and complete responses", () => {
    const reply = replyOf([{ type: "tool-call", id: "call:1/ü", name: "f", input: "{}" }]);
    const [streamed] = contentOf(encodeAll(unfold(reply)));
    expect(streamed).toEqual((unary(reply)["content"] as JsonObject[])[0]);
    expect(String(streamed?.["id"])).toMatch(/^[a-zA-Z0-9_-]{1,64}$/);
  });

  test("H09: truncated arguments are streamed as they are, become an empty object in a complete response, and are noted", () => {
    const reply: CanonReply = {
      ...replyOf([{ type: "tool-call", id: "a", name: "f", input: '{"x": ' }]),
      stop: { unified: "length", raw: "length" },
    };
    const notes: FieldNote[] = [];
    const context = { ...encodeContext(), note: (note: FieldNote) => notes.push(note) };
    const encoder = new MessagesStreamEncoder(context);
    const streamed = [...unfold(reply)].map((event) => encoder.push(event)).join("");
    expect(streamed).toContain('"partial_json":"{\\"x\\": "');
    expect(streamed).toContain('"stop_reason":"max_tokens"');
    expect(JSON.parse(encodeResponse(reply, context))).toMatchObject({
      content: [{ type: "tool_use", name: "f", input: {} }],
      stop_reason: "max_tokens",
    });
    const note = {
      path: "answer.content",
      action: "approximated",
      reason: "the response was cut off inside the arguments of its call to f",
    } as const;
    expect(notes).toEqual([note, note]);
  });

  test("H09: invalid arguments that were not truncated fail the response", () => {
    const error = new GatewayError("upstream_failed", "The model called f with arguments that are not a JSON object.");
    for (const input of ['{"x": ', "[1]", '{"x":1}{"x":2}']) {
      const reply: CanonReply = {
        ...replyOf([{ type: "tool-call", id: "a", name: "f", input }]),
        stop: { unified: "tool", raw: "tool_calls" },
      };
      expect(() => encodeAll(unfold(reply))).toThrow(error);
      expect(() => encodeResponse(reply, encodeContext())).toThrow(error);
    }
  });

  test.each(["", " ", "null", '""'])("missing arguments written as %j become an empty object", (input) => {
    expect(unary(replyOf([{ type: "tool-call", id: "a", name: "f", input }]))["content"]).toMatchObject([
      { input: {} },
    ]);
  });

  test("H05: integer-like keys keep their position", () => {
    const reply = replyOf([{ type: "tool-call", id: "a", name: "f", input: '{"z":1,"10":2,"a":3}' }]);
    expect(encodeResponse(reply, encodeContext())).toContain('"input":{"z":1,"10":2,"a":3}');
  });
});

const anyOpaque = fc.record(
  {
    origin: fc.constantFrom("messages", "genai", "host-x"),
    kind: fc.constantFrom("signature", "redacted", "encrypted"),
    value: fc.string({ minLength: 1, maxLength: 12 }),
    format: fc.constantFrom("v1", "openai-responses-v1"),
  },
  { requiredKeys: ["origin", "kind", "value"] },
) as fc.Arbitrary<Opaque>;
const maybeSigned = fc.option(anyOpaque, { nil: undefined }).map((signature) => (signature ? { signature } : {}));
const anyText = fc
  .tuple(fc.string({ maxLength: 8 }), maybeSigned)
  .map(([text, signed]) => ({ type: "text", text, ...signed }));
const anyReasoning = fc
  .tuple(fc.string({ maxLength: 8 }), maybeSigned)
  .map(([text, signed]) => ({ type: "reasoning", text, ...signed }));
const anyCall = fc
  .tuple(fc.stringMatching(/^[a-z]{1,6}$/), fc.jsonValue({ maxDepth: 1 }), maybeSigned)
  .map(([name, value, signed]) => ({
    type: "tool-call",
    id: `toolu_${name}`,
    name,
    input: JSON.stringify({ value }),
    ...signed,
  }));
const anyParts = fc.array(fc.oneof(anyText, anyReasoning, anyCall), { maxLength: 6 }) as fc.Arbitrary<ReplyPart[]>;

/** Parts without content are not sent. The origin of an unsigned value of this dialect cannot be seen from it. */
const isThere = (part: ReplyPart) => !("text" in part) || part.text !== "" || part.signature !== undefined;

describe("H01, law 9: signatures of every origin come back on the part that they were sent with", () => {
  test("through complete responses and streams", () => {
    fc.assert(
      fc.property(anyParts, (parts) => {
        const reply = replyOf(parts);
        const whole = unary(reply)["content"] as JsonObject[];
        expect(contentOf(encodeAll(unfold(reply)))).toEqual(whole);
        const back = decodeContent(whole, "c").map(({ path: _path, ...part }) => part);
        expect(back as unknown[]).toEqual(parts.filter(isThere));
      }),
      { numRuns: 400 },
    );
  });

  test("a signature that arrives after its call was sent is attached to the call too", () => {
    const signature = foreign("late");
    const text = encodeAll([
      { type: "tool-input-start", block: 0, id: "a", name: "f" },
      { type: "tool-input-delta", block: 0, text: '{"x":1}' },
      { type: "tool-input-end", block: 0, signature },
      { type: "finish", stop },
    ]);
    expect(decodeContent(contentOf(text), "c")).toMatchObject([{ type: "tool-call", id: "a", signature }]);
  });
});

describe("the vendor's SDK reads the stream", () => {
  test("sdks 2.3: every kind of block, usage and stop", async () => {
    const reply = replyOf(
      [
        { type: "reasoning", text: "Let me see.", signature: foreign("s1") },
        { type: "server-tool-call", id: "srvtoolu_1", name: "web_search", input: '{"query":"Tokyo"}' },
        {
          type: "server-tool-result",
          callId: "srvtoolu_1",
          name: "web_search",
          result: {
            pages: [{ url: "https://a.example", title: "A", content: foreign("page", { kind: "encrypted" }) }],
          },
        },
        { type: "text", text: "Many.", citations: [{ type: "web", url: "https://a.example", citedText: "many" }] },
        { type: "tool-call", id: "toolu_1", name: "weather", input: '{"city":"Paris"}', signature: foreign("s2") },
      ],
      {
        id: "msg_9",
        stop: { unified: "tool", raw: "STOP" },
        usage: { input: 11, cacheRead: 4, output: 22, searches: 1 },
      },
    );
    const client = new Anthropic({
      apiKey: "test",
      baseURL: "http://127.0.0.1:9",
      fetch: () =>
        Promise.resolve(new Response(encodeAll(unfold(reply)), { headers: { "content-type": "text/event-stream" } })),
    });
    const message = await client.messages
      .stream({ model: "acme/model", max_tokens: 10, messages: [{ role: "user", content: "hi" }] })
      .finalMessage();
    expect(message.content.map(({ type }) => type)).toEqual([
      "thinking",
      "server_tool_use",
      "web_search_tool_result",
      "text",
      "redacted_thinking",
      "tool_use",
    ]);
    expect(message).toMatchObject({
      id: "msg_9",
      model: "acme/model",
      stop_reason: "tool_use",
      usage: { input_tokens: 11, output_tokens: 22, cache_read_input_tokens: 4 },
    });
    // Sent back as the SDK holds it, all of it is unchanged.
    const back = decodeContent(JSON.parse(JSON.stringify(message.content)), "c").map(
      ({ path: _path, ...part }) => part,
    );
    expect(back as unknown[]).toEqual(reply.parts as unknown[]);
  });
});
