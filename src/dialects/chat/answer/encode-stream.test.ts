import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import OpenAI from "openai";
import { arrayAt, type JsonObject, objectAt, parseObject, stringAt } from "../../../base/json.ts";
import type { CanonEvent } from "../../../canon/event.ts";
import { fold, unfold } from "../../../canon/fold.ts";
import type { CanonReply, ReplyPart } from "../../../canon/reply.ts";
import { readFrames } from "../../../wire/sse.ts";
import { chatCodec } from "../codec.ts";
import { decodeContext, decodeText, encodeContext, encodeEvents } from "../contexts.sample.ts";

const signature = { origin: "host", kind: "signature", value: "sig+/=" } as const;
const encrypted = { origin: "host", kind: "encrypted", value: "enc", format: "v1" } as const;

const text = fc.string({ unit: "grapheme", minLength: 1, maxLength: 12 });
const maybeSigned = fc.option(fc.constant({ signature }), { nil: {} });

/** Non-empty parts that a chat stream can express. */
const part: fc.Arbitrary<ReplyPart> = fc.oneof(
  fc.tuple(text, maybeSigned).map(([said, signed]): ReplyPart => ({ type: "text", text: said, ...signed })),
  fc.tuple(text, maybeSigned).map(([said, signed]): ReplyPart => ({ type: "reasoning", text: said, ...signed })),
  fc.constant<ReplyPart>({ type: "reasoning", text: "", signature: encrypted }),
  fc.constant<ReplyPart>({ type: "reasoning", text: "", signature }),
  fc.constant<ReplyPart>({ type: "text", text: "", signature }),
  fc.tuple(fc.jsonValue({ maxDepth: 1 }), maybeSigned).map(
    ([value, signed]): ReplyPart => ({
      type: "tool-call",
      id: "",
      name: "f",
      input: JSON.stringify({ value }),
      ...signed,
    }),
  ),
  fc.constant<ReplyPart>({
    type: "media",
    kind: "image",
    source: { type: "data", mimeType: "image/png", data: "aGk=" },
  }),
);

const replies = fc.array(part, { maxLength: 6 }).map((parts): CanonReply => {
  const numbered = parts.map((one, index) => (one.type === "tool-call" ? { ...one, id: `call_${index}` } : one));
  const calls = numbered.some((one) => one.type === "tool-call");
  return {
    id: "answer-1",
    created: 7,
    parts: joined(numbered),
    stop: calls ? { unified: "tool", raw: "tool_calls" } : { unified: "stop", raw: "stop" },
    usage: { input: 3, cacheRead: 2, cacheWrite5m: 4, output: 5, reasoning: 6 },
  };
});

/** Adjacent texts are one text in this protocol, unless a signature separates them. */
function joined(parts: readonly ReplyPart[]): ReplyPart[] {
  const result: ReplyPart[] = [];
  for (const one of parts) {
    const last = result.at(-1);
    if (one.type === "text" && last?.type === "text" && last.signature === undefined && one.text !== "") {
      result[result.length - 1] = { ...last, ...one, text: last.text + one.text };
    } else result.push(one);
  }
  return result;
}

describe("laws", () => {
  test("law 3: our decoder reads what our encoder writes", () => {
    fc.assert(
      fc.property(replies, (reply) => {
        expect(fold(decodeText(encodeEvents(unfold(reply))))).toEqual(reply);
      }),
      { numRuns: 300 },
    );
  });

  test("law 2: a whole and a streamed answer are the same, except for the order of their fields", () => {
    const sorted = (reply: CanonReply) => ({
      ...reply,
      parts: reply.parts.toSorted((one, other) => rank(one) - rank(other)),
    });
    const rank = ({ type }: ReplyPart) => ["reasoning", "text", "media", "tool-call"].indexOf(type);
    const plain = replies.filter(({ parts }) => parts.filter(({ type }) => type === "text").length < 2);
    fc.assert(
      fc.property(plain, (reply) => {
        const body = JSON.parse(chatCodec.encodeResponse(reply, encodeContext())) as JsonObject;
        expect(sorted(chatCodec.decodeResponse(body, decodeContext()))).toEqual(sorted(reply));
      }),
      { numRuns: 300 },
    );
  });

  test("laws 5 and 8, H03: interleaved calls keep their identity, and encoding twice gives the same bytes", () => {
    const input = fc.jsonValue({ maxDepth: 1 }).map((value) => JSON.stringify({ value }));
    fc.assert(
      fc.property(fc.array(input, { minLength: 2, maxLength: 4 }), fc.infiniteStream(fc.nat(3)), (inputs, picks) => {
        const parts = inputs.map(
          (one, index): ReplyPart => ({ type: "tool-call", id: `id${index}`, name: "f", input: one }),
        );
        const reply: CanonReply = { id: "a", parts, stop: { unified: "tool", raw: "tool_calls" } };
        const [metadata, ...rest] = [...unfold(reply)];
        const queues = inputs.map((_, block) =>
          rest.flatMap((event) => ("block" in event && event.block === block ? slice(event) : [])),
        );
        const events: CanonEvent[] = [metadata as CanonEvent, ...queues.flatMap((queue) => queue.splice(0, 1))];
        while (queues.some((queue) => queue.length > 0)) {
          const queue = queues[picks.next().value % queues.length];
          events.push(...(queue?.splice(0, 1) ?? []));
        }
        events.push(rest.at(-1) as CanonEvent);
        const written = encodeEvents(events);
        expect(encodeEvents(events)).toBe(written);
        expect(fold(decodeText(written))).toMatchObject({ parts });
      }),
      { numRuns: 100 },
    );
  });
});

/** Splits a delta into several. */
function slice(event: CanonEvent): CanonEvent[] {
  if (event.type !== "tool-input-delta") return [event];
  return [...event.text].map((letter) => ({ ...event, text: letter }));
}

const ANSWER: CanonReply = {
  id: "msg_1",
  created: 9,
  parts: [
    { type: "reasoning", text: "Hmm.", signature: { origin: "messages", kind: "signature", value: "s1" } },
    { type: "reasoning", text: "", signature: { origin: "messages", kind: "redacted", value: "r1" } },
    { type: "server-tool-call", id: "srv", name: "web_search", input: "{}" },
    { type: "server-tool-result", callId: "srv", name: "web_search", result: { pages: [] } },
    { type: "text", text: "It is " },
    {
      type: "text",
      text: "sunny.",
      citations: [{ type: "web", url: "https://w.example", title: "W", citedText: "sun" }],
    },
    { type: "tool-call", id: "t1", name: "now", input: "" },
    {
      type: "tool-call",
      id: "t2",
      name: "add",
      input: '{"2":1,"1":2}',
      signature: { origin: "genai", kind: "signature", value: "g1" },
    },
  ],
  stop: { unified: "tool", raw: "tool_use" },
  usage: { input: 10, cacheRead: 5, cacheWrite5m: 1, cacheWrite1h: 2, output: 3, reasoning: 4 },
};

const chunksOf = (written: string): JsonObject[] =>
  readFrames(written).flatMap(({ data }) => {
    const one = parseObject(data ?? "");
    return one === undefined ? [] : [one];
  });
const deltasOf = (written: string) =>
  chunksOf(written).flatMap((one) => (one["choices"] as { delta: JsonObject }[]).map(({ delta }) => delta));

describe("what a client gets", () => {
  const written = encodeEvents(unfold(ANSWER));

  test("sdks 3.1: sends role, reasoning, text, calls, finish, usage and sentinel in this order", () => {
    expect(deltasOf(written)[0]).toEqual({ role: "assistant", content: "" });
    const chunks = chunksOf(written);
    expect(chunks.at(-2)).toMatchObject({ choices: [{ delta: {}, finish_reason: "tool_calls" }] });
    expect(chunks.at(-1)).toMatchObject({
      choices: [],
      usage: { prompt_tokens: 18, completion_tokens: 7, total_tokens: 25 },
    });
    expect(written.endsWith("data: [DONE]\n\n")).toBe(true);
    expect(written).not.toContain("event:");
    for (const one of chunks)
      expect(one).toMatchObject({ id: "msg_1", object: "chat.completion.chunk", created: 9, model: "acme/model" });
  });

  test("sdks 3.1: reasoning_details of a block come once and complete, with the origin and a running index", () => {
    expect(deltasOf(written).flatMap((delta) => delta["reasoning_details"] ?? [])).toEqual([
      { type: "reasoning.text", text: "Hmm.", signature: "s1", format: "messages", index: 0 },
      { type: "reasoning.encrypted", data: "r1", format: "messages", index: 1 },
      { type: "reasoning.encrypted", data: "g1", format: "genai", id: "t2", index: 2 },
    ]);
  });

  test("providers 1.7: a reader that falls back to the details sees no thought twice", () => {
    type Delta = { reasoning_content?: string; reasoning?: string; reasoning_details?: { text?: string }[] };
    const read = (delta: Delta) =>
      delta.reasoning_content ??
      delta.reasoning ??
      delta.reasoning_details?.map(({ text = "" }) => text).join("") ??
      "";
    expect(deltasOf(written).map(read).join("")).toBe("Hmm.");
  });

  test("sdks 3.1: id, type and name are only in a call's first delta, and missing arguments become an object", () => {
    expect(deltasOf(written).flatMap((delta) => delta["tool_calls"] ?? [])).toEqual([
      { index: 0, id: "t1", type: "function", function: { name: "now", arguments: "" } },
      { index: 0, function: { arguments: "{}" } },
      { index: 1, id: "t2", type: "function", function: { name: "add", arguments: "" } },
      { index: 1, function: { arguments: '{"2":1,"1":2}' } },
    ]);
  });

  test("mapping 8: citations are annotations with their position in the whole text", () => {
    const url_citation = { url: "https://w.example", title: "W", start_index: 6, end_index: 12, content: "sun" };
    const annotations = [{ type: "url_citation", url_citation }];
    expect(deltasOf(written)).toContainEqual({ annotations });
    expect(JSON.parse(chatCodec.encodeResponse(ANSWER, encodeContext())).choices[0].message).toEqual({
      role: "assistant",
      content: "It is sunny.",
      refusal: null,
      reasoning: "Hmm.",
      reasoning_content: "Hmm.",
      reasoning_details: expect.any(Array),
      annotations,
      tool_calls: [
        { id: "t1", type: "function", function: { name: "now", arguments: "{}" } },
        { id: "t2", type: "function", function: { name: "add", arguments: '{"2":1,"1":2}' } },
      ],
    });
  });

  test("contract 2.12: reasoning.exclude hides visible reasoning and keeps values that must be returned", () => {
    const request = { reasoning: { exclude: true } };
    const whole = chatCodec.encodeResponse(ANSWER, encodeContext(request));
    const streamed = encodeEvents(unfold(ANSWER), request);
    for (const text of [whole, streamed]) {
      expect(text).toContain("sunny");
      expect(text).not.toMatch(/"reasoning(_content)?"|Hmm/);
    }
    const deltas = chunksOf(streamed).map((chunk) => objectAt(arrayAt(chunk, "choices")[0], "delta"));
    const details = deltas.flatMap((delta) => arrayAt(delta, "reasoning_details"));
    expect(details).toMatchObject([
      { type: "reasoning.encrypted", data: "r1", format: "messages" },
      { type: "reasoning.encrypted", data: "g1", format: "genai", id: "t2" },
    ]);
    const message = objectAt(arrayAt(JSON.parse(whole), "choices")[0], "message");
    expect(arrayAt(message, "reasoning_details")).toEqual(details);
  });

  test("contract 2.13: texts around the provider's own actions are separate, and citations keep their position", () => {
    const search: ReplyPart[] = [
      { type: "server-tool-call", id: "srv", name: "web_search", input: "{}" },
      { type: "server-tool-result", callId: "srv", name: "web_search", result: { pages: [] } },
    ];
    const cited = { type: "web", url: "https://w.example", citedText: "x" } as const;
    const answer: CanonReply = {
      parts: [
        { type: "text", text: "I look it up for you." },
        ...search,
        { type: "text", text: "## Analysis", citations: [cited] },
        { type: "text", text: " and more\n" },
        ...search,
        { type: "text", text: "End." },
      ],
      stop: { unified: "stop", raw: "end_turn" },
    };
    const said = "I look it up for you.\n\n## Analysis and more\nEnd.";
    const message = objectAt(
      arrayAt(JSON.parse(chatCodec.encodeResponse(answer, encodeContext())), "choices")[0],
      "message",
    );
    expect(message?.["content"]).toBe(said);
    const deltas = chunksOf(encodeEvents(unfold(answer))).map((chunk) =>
      objectAt(arrayAt(chunk, "choices")[0], "delta"),
    );
    expect(deltas.map((delta) => stringAt(delta, "content") ?? "").join("")).toBe(said);
    const start = said.indexOf("##");
    for (const annotations of [
      arrayAt(message, "annotations"),
      deltas.flatMap((delta) => arrayAt(delta, "annotations")),
    ]) {
      expect(annotations).toMatchObject([{ url_citation: { start_index: start, end_index: start + 11 } }]);
    }
  });

  test("choices 3: usage is sent only on request, with its cost if requested", () => {
    expect(encodeEvents(unfold(ANSWER), { stream_options: null })).not.toContain('"usage"');
    const [usage] = chunksOf(encodeEvents(unfold(ANSWER), { stream_options: null, usage: { include: true } })).slice(
      -1,
    );
    expect(usage).toMatchObject({
      usage: { cost: 0.5, prompt_tokens_details: { cached_tokens: 5, cache_write_tokens: 3 } },
    });
  });

  test.each([
    ["stop", "end_turn", "stop"],
    ["length", "MAX_TOKENS", "length"],
    ["filter", "SAFETY", "content_filter"],
    ["pause", "pause_turn", "length"],
    ["abnormal", "OTHER", "content_filter"],
    ["other", "eos_2", "stop"],
  ] as const)("contract 2.13: %s is reported in the contract's words", (unified, raw, word) => {
    const reply = { parts: [], stop: { unified, raw } };
    expect(JSON.parse(chatCodec.encodeResponse(reply, encodeContext())).choices[0].finish_reason).toBe(word);
  });

  test("the protocol's own SDK reads the stream and assembles the same message", async () => {
    const client = new OpenAI({
      apiKey: "k",
      baseURL: "http://gateway.invalid/v1",
      fetch: async () => new Response(written, { headers: { "content-type": "text/event-stream" } }),
    });
    const stream = client.chat.completions.stream({
      model: "acme/model",
      messages: [{ role: "user", content: "weather?" }],
      stream_options: { include_usage: true },
    });
    const completion = await stream.finalChatCompletion();
    const [choice] = completion.choices;
    expect(choice?.finish_reason).toBe("tool_calls");
    expect(choice?.message).toMatchObject({
      content: "It is sunny.",
      tool_calls: [
        { id: "t1", type: "function", function: { name: "now", arguments: "{}" } },
        { id: "t2", type: "function", function: { name: "add", arguments: '{"2":1,"1":2}' } },
      ],
    });
    expect(completion.usage).toMatchObject({ prompt_tokens: 18, completion_tokens: 7, total_tokens: 25 });
    expect(await stream.totalUsage()).toMatchObject({ prompt_tokens: 18 });
  });
});
