import { describe, expect, test } from "bun:test";
import { bytesOf, everyRecording, nameOf, present, type Recording, textOf } from "../../../testing/recordings.ts";
import type { JsonObject } from "../../base/json.ts";
import { GatewayError } from "../../canon/error.ts";
import type { CanonEvent } from "../../canon/event.ts";
import { fold } from "../../canon/fold.ts";
import type { FieldNote } from "../../canon/receipt.ts";
import { AwsEventSplitter } from "../../wire/aws-event-stream.ts";
import { readFrames } from "../../wire/sse.ts";
import { DEFAULT_MEDIA_QUIRKS } from "../request/media-quirks.ts";
import { converseCodec } from "./codec.ts";

const CONTEXT = { origin: "messages", quirks: DEFAULT_MEDIA_QUIRKS, reading: {}, makeId: () => "made" };

type Frame = readonly [event: string, body: object];

/** The events of these frames, after which the stream ends. */
function decode(...frames: Frame[]): CanonEvent[] {
  const decoder = converseCodec.createStreamDecoder(CONTEXT);
  const text = frames.map(([event, body]) => `event: ${event}\ndata: ${JSON.stringify(body)}\n\n`).join("");
  return [...readFrames(text).flatMap((frame) => decoder.push(frame)), ...decoder.end()];
}

function decodeBytes(bytes: Uint8Array): CanonEvent[] {
  const splitter = new AwsEventSplitter();
  const decoder = converseCodec.createStreamDecoder(CONTEXT);
  const text = splitter.push(bytes) + splitter.end();
  return [...readFrames(text).flatMap((frame) => decoder.push(frame)), ...decoder.end()];
}

const delta = (index: number, body: object): Frame => ["contentBlockDelta", { contentBlockIndex: index, delta: body }];
const stop = (index: number): Frame => ["contentBlockStop", { contentBlockIndex: index }];
const call = (index: number, id: string, name: string): Frame => [
  "contentBlockStart",
  { contentBlockIndex: index, start: { toolUse: { toolUseId: id, name } } },
];
const START: Frame = ["messageStart", { role: "assistant", p: "abcdef" }];
const END: Frame[] = [
  ["messageStop", { stopReason: "tool_use", p: "abc" }],
  ["metadata", { usage: { inputTokens: 5, outputTokens: 7, totalTokens: 12 }, metrics: { latencyMs: 1 } }],
];

describe("law 2: a stream folds to the same answer as a whole response", () => {
  const citation = {
    title: "Facts",
    sourceContent: [{ text: "It is so." }],
    location: { documentChar: { documentIndex: 0, start: 3, end: 12 } },
  };
  const streamed: Frame[] = [
    START,
    delta(0, { reasoningContent: { text: "Let me " } }),
    delta(0, { reasoningContent: { text: "see." } }),
    delta(0, { reasoningContent: { signature: "c2lnbmVk" } }),
    stop(0),
    delta(1, { reasoningContent: { redactedContent: Buffer.from("Eu8E").toString("base64") } }),
    stop(1),
    delta(2, { citation }),
    delta(2, { text: "So " }),
    delta(2, { text: "" }),
    delta(2, { text: "it is: é🚀" }),
    stop(2),
    call(3, "t1", "look"),
    call(4, "t2", "look"),
    delta(4, { toolUse: { input: '{"10":1,' } }),
    delta(3, { toolUse: { input: "" } }),
    delta(4, { toolUse: { input: '"2":2}' } }),
    stop(4),
    stop(3),
    ...END,
  ];
  const whole = {
    output: {
      message: {
        role: "assistant",
        content: [
          { reasoningContent: { reasoningText: { text: "Let me see.", signature: "c2lnbmVk" } } },
          { reasoningContent: { redactedContent: Buffer.from("Eu8E").toString("base64") } },
          { citationsContent: { content: [{ text: "So " }, { text: "it is: é🚀" }], citations: [citation] } },
          { toolUse: { toolUseId: "t1", name: "look", input: {} } },
          { toolUse: { toolUseId: "t2", name: "look", input: { "\uFFFF10": 1, "\uFFFF2": 2 } } },
        ],
      },
    },
    stopReason: "tool_use",
    usage: { inputTokens: 5, outputTokens: 7, totalTokens: 12 },
  };

  test("signed and redacted reasoning, citations, interleaved calls of one function, one without arguments (H02, H03)", () => {
    const reply = fold(decode(...streamed));
    expect(reply).toEqual(converseCodec.decodeResponse(whole, CONTEXT));
    expect(reply).toEqual({
      parts: [
        {
          type: "reasoning",
          text: "Let me see.",
          signature: { origin: "messages", kind: "signature", value: "c2lnbmVk" },
        },
        {
          type: "reasoning",
          text: "",
          signature: { origin: "messages", kind: "redacted", value: btoa("Eu8E"), format: "base64" },
        },
        {
          type: "text",
          text: "So it is: é🚀",
          citations: [
            {
              type: "document",
              unit: "character",
              documentIndex: 0,
              from: 3,
              to: 12,
              citedText: "It is so.",
              title: "Facts",
            },
          ],
        },
        { type: "tool-call", id: "t1", name: "look", input: "{}" },
        { type: "tool-call", id: "t2", name: "look", input: '{"10":1,"2":2}' },
      ],
      stop: { unified: "tool", raw: "tool_use" },
      usage: { input: 5, output: 7 },
    });
  });

  test("law 7: every prefix without its stop ends in an error", () => {
    for (let length = 0; length < streamed.length - 1; length++) {
      const events = decode(...streamed.slice(0, length));
      expect(events.filter(({ type }) => type === "error" || type === "finish").map(({ type }) => type)).toEqual([
        "error",
      ]);
      expect(events.at(-1)?.type).toBe("error");
    }
  });

  test("H14, H16: an answer closed after its stop is complete, except for the missing usage", () => {
    const { usage: _usage, ...reply } = fold(decode(...streamed));
    expect(fold(decode(...streamed.slice(0, -1)))).toEqual(reply);
  });

  test("accepts usage before the stop, and nothing follows the end", () => {
    const [stopped, metadata] = END as [Frame, Frame];
    const events = decode(delta(0, { text: "Hi" }), metadata, stopped, delta(0, { text: "more" }));
    expect(fold(events)).toMatchObject({ parts: [{ type: "text", text: "Hi" }], usage: { input: 5 } });
    expect(events.map(({ type }) => type)).toEqual(["text-start", "text-delta", "usage", "text-end", "finish"]);
  });
});

describe("stops, usage and images", () => {
  const answer = (fields: object) =>
    converseCodec.decodeResponse({ output: { message: { content: [] } }, stopReason: "end_turn", ...fields }, CONTEXT);

  test.each([
    ["end_turn", "stop"],
    ["stop_sequence", "stop"],
    ["max_tokens", "length"],
    ["model_context_window_exceeded", "length"],
    ["tool_use", "tool"],
    ["content_filtered", "filter"],
    ["guardrail_intervened", "filter"],
    ["malformed_tool_use", "abnormal"],
    ["something_new", "other"],
  ] as const)("providers 1.8: %s is %s", (raw, unified) => {
    const output = { message: { content: [{ text: "Hi" }] } };
    expect(answer({ output, stopReason: raw }).stop).toEqual({ unified, raw });
    expect(fold(decode(delta(0, { text: "Hi" }), ["messageStop", { stopReason: raw }])).stop).toEqual({ unified, raw });
  });

  test.each(["malformed_model_output", "malformed_tool_use"])(
    "H16, providers 1.8: %s without an answer is a failure, with or without thoughts, unless the host has counted it",
    (stopReason) => {
      const failure = { kind: "upstream_failed", message: expect.stringContaining(stopReason) };
      const thought: Frame = delta(0, { reasoningContent: { text: "hm" } });
      for (const before of [[], [thought, stop(0)]]) {
        const events = decode(START, ...before, ["messageStop", { stopReason }]);
        expect(events.at(-1)).toMatchObject({ type: "error", error: failure });
        const counted = decode(START, ...before, ["messageStop", { stopReason }], ...END.slice(1));
        expect(counted.at(-1)).toEqual({ type: "finish", stop: { unified: "abnormal", raw: stopReason } });
        const content =
          before.length === 0 ? [{ text: "" }] : [{ reasoningContent: { reasoningText: { text: "hm" } } }];
        const whole = { output: { message: { content } }, stopReason };
        expect(() => converseCodec.decodeResponse(whole, CONTEXT)).toThrow(expect.objectContaining(failure));
        const usage = { inputTokens: 5, outputTokens: 7 };
        expect(converseCodec.decodeResponse({ ...whole, usage }, CONTEXT)).toMatchObject({ usage: { output: 7 } });
      }
    },
  );

  test("reads the matching stop sequence from either place", () => {
    const fields = { additionalModelResponseFields: { stop_sequence: "END" } };
    expect(answer(fields).stopSequence).toBe("END");
    const nested = { stopReason: "stop_sequence", additionalModelResponseFields: { delta: { stop_sequence: "END" } } };
    const [, metadata] = END as [Frame, Frame];
    expect(fold(decode(["messageStop", nested], metadata)).stopSequence).toBe("END");
  });

  test("H06: cache counters are disjoint, by age if reported", () => {
    const usage = {
      inputTokens: 1,
      outputTokens: 2,
      cacheReadInputTokens: 3,
      cacheWriteInputTokens: 10,
      cacheDetails: [
        { ttl: "1h", inputTokens: 4 },
        { ttl: "5m", inputTokens: 6 },
      ],
    };
    expect(answer({ usage }).usage).toEqual({ input: 1, cacheRead: 3, cacheWrite5m: 6, cacheWrite1h: 4, output: 2 });
    expect(answer({ usage: { inputTokens: 1, outputTokens: 2, cacheWriteInputTokens: 5 } }).usage).toEqual({
      input: 1,
      cacheWrite5m: 5,
      output: 2,
    });
    expect(answer({}).usage).toBeUndefined();
  });

  test("decision 0091: an object's text is the object, null is noted, and other values stay unchanged", () => {
    const notes: FieldNote[] = [];
    const given = ['{"a":1}', null, [1], undefined];
    const content = given.map((input) => ({ toolUse: { toolUseId: "t", name: "look", input } }));
    const body = { output: { message: { content } }, stopReason: "tool_use" };
    const { parts } = converseCodec.decodeResponse(body, { ...CONTEXT, note: (note) => notes.push(note) });
    expect(parts.map((part) => part.type === "tool-call" && part.input)).toEqual(['{"a":1}', "{}", "[1]", "{}"]);
    expect(notes.map(({ path, action }) => `${path} ${action}`)).toEqual(["answer.content approximated"]);
  });

  test("an image is media, an unknown block stays unchanged, and bytes that are not text stay bytes", () => {
    const odd = Buffer.from([0xff, 0xfe, 0x00]).toString("base64");
    const content = [
      { image: { format: "webp", source: { bytes: "AAAA" } } },
      { audio: { format: "wav" } },
      { reasoningContent: { redactedContent: odd } },
    ];
    expect(answer({ output: { message: { content } } }).parts).toEqual([
      { type: "media", kind: "image", source: { type: "data", mimeType: "image/webp", data: "AAAA" } },
      { type: "native", dialect: "converse", name: "audio", raw: { audio: { format: "wav" } } },
      {
        type: "reasoning",
        text: "",
        signature: { origin: "messages", kind: "redacted", value: odd, format: "base64" },
      },
    ]);
  });
});

describe("errors", () => {
  const failure = (status: number, body: string) => converseCodec.decodeError({ status, body }).kind;

  test("are recognised by status, and by the exception's name if the body has it", () => {
    expect(failure(400, '{"message":"bad"}')).toBe("invalid_request");
    expect(failure(403, '{"Message":"no"}')).toBe("upstream_credentials");
    expect(failure(404, "{}")).toBe("not_found");
    expect(failure(408, "{}")).toBe("upstream_timeout");
    expect(failure(424, "{}")).toBe("upstream_failed");
    expect(failure(429, "{}")).toBe("rate_limited");
    expect(failure(503, "<html>")).toBe("overloaded");
    expect(failure(400, '{"__type":"com.amazon.coral.service#ThrottlingException"}')).toBe("rate_limited");
    expect(converseCodec.decodeError({ status: 400, body: '{"Message":"Bad name"}' }).message).toBe("Bad name");
  });

  test.each([
    ["throttlingException", "rate_limited"],
    ["validationException", "invalid_request"],
    ["internalServerException", "upstream_failed"],
    ["modelStreamErrorException", "upstream_failed"],
    ["serviceUnavailableException", "overloaded"],
    ["modelTimeoutException", "upstream_timeout"],
    ["unexpectedEnd", "upstream_failed"],
  ] as const)("H16: %s inside a stream", (type, kind) => {
    const events = decode(delta(0, { text: "Hi" }), ["exception", { type, message: "why" }], ...END);
    expect(events.at(-1)).toMatchObject({ type: "error", error: { kind } });
    expect(events.filter((event) => event.type === "error" || event.type === "finish")).toHaveLength(1);
  });

  test("a frame that is not JSON, or arguments without a call, end the stream, and unknown frames are ignored", () => {
    const decoder = converseCodec.createStreamDecoder(CONTEXT);
    expect(decoder.push({ raw: "", event: "somethingNew", data: "{}" })).toEqual([]);
    const [event] = decoder.push({ raw: "", event: "contentBlockDelta", data: '{"contentBl' });
    expect(event).toMatchObject({ type: "error", error: { kind: "upstream_failed" } });
    expect(decode(delta(0, { toolUse: { input: "{}" } })).map(({ type }) => type)).toEqual(["error"]);
  });

  test("includes a response with HTTP 200 but no answer", () => {
    expect(() => converseCodec.decodeResponse({ message: "Unknown operation" }, CONTEXT)).toThrow(GatewayError);
  });
});

/** Reads a stream without the code under test: lengths only, no checksums, and the raw text. */
function readByHand(bytes: Uint8Array) {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const seen = { text: "", citations: 0, stop: "", usage: {} as Record<string, number> };
  for (let at = 0; at < bytes.length; at += view.getUint32(at)) {
    const from = at + 12 + view.getUint32(at + 4);
    const text = new TextDecoder().decode(bytes.subarray(from, at + view.getUint32(at) - 4));
    let payload = JSON.parse(text) as Record<string, never>;
    if ("bytes" in payload) payload = JSON.parse(atob(payload["bytes"] as string)) as Record<string, never>;
    const event: Record<string, never> = Object.assign(
      {},
      payload,
      ...Object.values(payload).filter((one) => typeof one === "object" && "contentBlockIndex" in one),
    );
    const chunk = (event["delta"] ?? {}) as { text?: string; citation?: object };
    seen.text += chunk.text ?? "";
    seen.citations += chunk.citation ? 1 : 0;
    const ending = (payload["messageStop"] ?? payload) as { stopReason?: string };
    const reported = (payload["metadata"] ?? payload) as { usage?: Record<string, number> };
    if (ending.stopReason) seen.stop = ending.stopReason;
    if (reported.usage) seen.usage = reported.usage;
  }
  return seen;
}

describe.skipIf(!present)("every recording of the host", () => {
  const recordings = everyRecording.filter(({ dialect }) => dialect === "bedrock");
  const isClaudeInvoke = ({ features, model }: Recording) =>
    features.some((feature) => feature.startsWith("invoke")) && model.startsWith("claude");
  const cases = (list: readonly Recording[]) => list.map((recording) => [nameOf(recording), recording] as const);

  test("there are ten", () => expect(recordings).toHaveLength(10));

  const streams = recordings.filter((recording) => recording.stream && !isClaudeInvoke(recording));
  test.each(cases(streams))("%s: the fold matches a reading by hand, and a cut is an error", (_name, recording) => {
    const bytes = bytesOf(recording);
    const byHand = readByHand(bytes);
    const reply = fold(decodeBytes(bytes));
    expect(byHand.text).not.toBe("");
    expect(reply.parts.map((part) => (part.type === "text" ? part.text : `a ${part.type}`)).join("")).toBe(byHand.text);
    expect(reply.parts.flatMap((part) => (part.type === "text" ? (part.citations ?? []) : []))).toHaveLength(
      byHand.citations,
    );
    expect(reply.stop.raw).toBe(byHand.stop);
    expect(reply.usage?.input).toBe(byHand.usage["inputTokens"] ?? -1);
    expect(reply.usage?.output).toBe(byHand.usage["outputTokens"] ?? -1);
    expect(reply.usage?.cacheRead).toBe(byHand.usage["cacheReadInputTokens"] as number);
    for (let cut = 0; cut < bytes.length; cut += 17) {
      const events = decodeBytes(bytes.subarray(0, cut));
      expect(events.at(-1)?.type).toBe("error");
      expect(events.some(({ type }) => type === "finish")).toBe(false);
    }
  });

  const claude = recordings.filter((recording) => recording.stream && isClaudeInvoke(recording));
  test.each(cases(claude))("%s: the frames contain the messages dialect's own events", (_name, recording) => {
    const frames = readFrames(new AwsEventSplitter().push(bytesOf(recording)));
    expect(frames.map(({ event }) => event)).toEqual(
      frames.map(({ data }) => (JSON.parse(data ?? "{}") as { type?: string }).type),
    );
    expect(frames[0]?.event).toBe("message_start");
    expect(frames.at(-1)?.event).toBe("message_stop");
  });

  const whole = recordings.filter(({ stream, status }) => !stream && status === 200);
  test.each(cases(whole.filter((recording) => !isClaudeInvoke(recording))))("%s: as a whole", (_name, recording) => {
    const body = JSON.parse(textOf(recording)) as JsonObject & {
      output: { message: { content: Record<string, Record<string, string>>[] } };
      usage: Record<string, number>;
      stopReason: string;
    };
    const reply = converseCodec.decodeResponse(body, CONTEXT);
    expect(reply.stop.raw).toBe(body.stopReason);
    expect(reply.usage).toMatchObject({
      input: body.usage["inputTokens"] ?? -1,
      cacheRead: body.usage["cacheReadInputTokens"] ?? -1,
      output: body.usage["outputTokens"] ?? -1,
    });
    const reported = body.output.message.content.map((block) => {
      if ("text" in block) return { text: block["text"] };
      if ("toolUse" in block) return { name: block["toolUse"]?.["name"] };
      return { signature: { value: block["reasoningContent"]?.["redactedContent"] ?? "" } };
    });
    expect(reply.parts as unknown[]).toMatchObject(reported);
  });

  test.each(cases(recordings.filter(({ status }) => status !== 200)))("%s: its error", (_name, recording) => {
    const { status } = recording;
    const error = converseCodec.decodeError({ status, body: textOf(recording) });
    expect(error.kind).toBe(status === 403 ? "upstream_credentials" : "invalid_request");
    if (status === 400) expect(error.message).toContain("Input Tokens Exceeded");
  });
});
