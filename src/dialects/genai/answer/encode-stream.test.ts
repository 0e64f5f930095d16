import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { JsonObject } from "../../../base/json.ts";
import { GatewayError } from "../../../canon/error.ts";
import type { CanonEvent } from "../../../canon/event.ts";
import { fold, unfold } from "../../../canon/fold.ts";
import { type Opaque, unwrapOpaqueBase64 } from "../../../canon/opaque.ts";
import type { FieldNote } from "../../../canon/receipt.ts";
import type { CanonReply, ReplyPart } from "../../../canon/reply.ts";
import type { UnifiedStop } from "../../../canon/stop.ts";
import { readFrames } from "../../../wire/sse.ts";
import type { EncodeAnswerContext } from "../../codec.ts";
import type { GenaiOptions } from "../options.ts";
import { DEFAULT_GENAI_QUIRKS } from "../quirks.ts";
import { decodeResponse } from "./decode-response.ts";
import { GenaiStreamDecoder } from "./decode-stream.ts";
import { encodeResponse } from "./encode-response.ts";
import { GenaiStreamEncoder } from "./encode-stream.ts";

const context = (more: Partial<EncodeAnswerContext<GenaiOptions>> = {}): EncodeAnswerContext<GenaiOptions> => ({
  publicModel: "acme/model",
  request: {},
  options: { bareFinishReason: false, arrayFraming: false },
  receivedAtMs: 1_700_000_000_000,
  makeId: () => "made",
  costUsd: () => 0,
  nowSeconds: () => 1_700_000_000,
  estimateInputTokens: () => 0,
  note: () => undefined,
  ...more,
});

function write(events: Iterable<CanonEvent>, more: Partial<EncodeAnswerContext<GenaiOptions>> = {}): string {
  const encoder = new GenaiStreamEncoder(context(more));
  return [...events].map((event) => encoder.push(event)).join("");
}

const chunksOf = (text: string) =>
  readFrames(text).map(({ data }) => JSON.parse(data ?? "") as { candidates: JsonObject[] });
const candidatesOf = (text: string) => chunksOf(text).map(({ candidates }) => candidates[0] ?? {});

function readBack(text: string): CanonReply {
  const decoder = new GenaiStreamDecoder({
    origin: "genai",
    quirks: DEFAULT_GENAI_QUIRKS,
    reading: {},
    makeId: () => "x",
  });
  return fold([...readFrames(text).flatMap((frame) => decoder.push(frame)), ...decoder.end()]);
}

const reply = (...parts: ReplyPart[]): CanonReply => ({ parts, stop: { unified: "stop", raw: "end_turn" } });
const own: Opaque = { origin: "genai", kind: "signature", value: "c2ln" };
const foreign: Opaque = { origin: "messages", kind: "redacted", value: "ünï" };

describe("framing", () => {
  test("sdks 1.5: writes only data lines, with the reason and the usage on the last chunk", () => {
    const text = write(
      unfold({ ...reply({ type: "text", text: "a\nb\u2028c" }), id: "r", usage: { input: 1, output: 2 } }),
    );
    expect(text).toMatch(/^(?:data: \{[^\r\n]*\}\n\n)+$/);
    expect(chunksOf(text)).toEqual([
      {
        candidates: [{ content: { role: "model", parts: [{ text: "a\nb\u2028c" }] }, index: 0 }],
        modelVersion: "acme/model",
        createTime: "2023-11-14T22:13:20.000Z",
        responseId: "r",
      },
      {
        candidates: [
          { content: { role: "model", parts: [{ text: "" }] }, finishReason: "FINISH_REASON_STOP", index: 0 },
        ],
        usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 2, totalTokenCount: 3 },
        modelVersion: "acme/model",
        createTime: "2023-11-14T22:13:20.000Z",
        responseId: "r",
      },
    ] as unknown as { candidates: JsonObject[] }[]);
  });

  test("choices 1: writes a JSON array if no events were requested, also for a single chunk", () => {
    const two = write(unfold(reply({ type: "text", text: "a" })), {
      options: { bareFinishReason: false, arrayFraming: true },
    });
    expect(two.split(",\r\n").length).toBe(2);
    expect((JSON.parse(two) as unknown[]).length).toBe(2);
    expect(
      (JSON.parse(write(unfold(reply()), { options: { bareFinishReason: false, arrayFraming: true } })) as unknown[])
        .length,
    ).toBe(1);
  });

  test("an error is not written as a chunk", () => {
    expect(write([{ type: "error", error: new GatewayError("overloaded", "x") }])).toBe("");
  });
});

describe("content", () => {
  test("H01: signatures of this dialect are unchanged, others are wrapped in base64, each on its own part", () => {
    const parts: ReplyPart[] = [
      { type: "reasoning", text: "hm", signature: own },
      { type: "reasoning", text: "", signature: foreign },
      { type: "text", text: "a", signature: own },
      { type: "tool-call", id: "1", name: "f", input: "{}", signature: { ...foreign, kind: "signature" } },
    ];
    const signed = candidatesOf(write(unfold(reply(...parts)))).flatMap(
      ({ content }) => (content as { parts: JsonObject[] }).parts,
    );
    expect(
      signed.map(({ text, thought, functionCall, thoughtSignature }) => [
        functionCall === undefined ? (thought ? `thought ${text}` : text) : "call",
        thoughtSignature === undefined || thoughtSignature === "c2ln"
          ? thoughtSignature
          : unwrapOpaqueBase64(String(thoughtSignature)),
      ]),
    ).toEqual([
      ["thought hm", undefined],
      ["thought ", "c2ln"],
      ["thought ", foreign],
      ["a", undefined],
      ["", "c2ln"],
      ["call", { ...foreign, kind: "signature" }],
      ["", undefined],
    ]);
    for (const { thoughtSignature } of signed) {
      if (typeof thoughtSignature === "string") expect(btoa(atob(thoughtSignature))).toBe(thoughtSignature);
    }
  });

  test("thoughts that the client does not want are omitted, their signatures are not", () => {
    const request = { generationConfig: { thinkingConfig: { includeThoughts: false } } };
    const answer = reply(
      { type: "reasoning", text: "secret", signature: own },
      { type: "reasoning", text: "x" },
      { type: "text", text: "a" },
    );
    for (const text of [write(unfold(answer), { request }), encodeResponse(answer, context({ request }))]) {
      expect(text).not.toContain("secret");
      expect(text).toContain('{"text":"","thought":true,"thoughtSignature":"c2ln"}');
    }
  });

  test("calls are written as a whole, with an empty object if they have no arguments", () => {
    const events: CanonEvent[] = [
      { type: "tool-input-start", block: 0, id: "1", name: "f" },
      { type: "tool-input-start", block: 1, id: "2", name: "g" },
      { type: "tool-input-delta", block: 1, text: "null" },
      { type: "tool-input-delta", block: 0, text: '{"10":1,' },
      { type: "tool-input-end", block: 1 },
      { type: "tool-input-delta", block: 0, text: '"9":2}' },
      { type: "tool-input-end", block: 0 },
      { type: "finish", stop: { unified: "tool", raw: "tool_use" } },
    ];
    const text = write(events);
    expect(text).toContain('{"functionCall":{"id":"1","name":"f","args":{"10":1,"9":2}}}');
    expect(text).toContain('{"functionCall":{"id":"2","name":"g","args":{}}}');
    expect(text.indexOf('"id":"1"')).toBeLessThan(text.indexOf('"id":"2"'));
    expect(candidatesOf(text).at(-1)?.["finishReason"]).toBe("FINISH_REASON_STOP");
  });

  test("H09: a call with invalid arguments is not written", () => {
    const broken = (unified: UnifiedStop): CanonReply => ({
      parts: [
        { type: "tool-call", id: "1", name: "list_files", input: "{}" },
        { type: "tool-call", id: "2", name: "delete_files", input: '{"only_older_than": "2020' },
      ],
      stop: { unified, raw: "" },
    });
    for (const encode of [
      (answer: CanonReply, note: EncodeAnswerContext<GenaiOptions>["note"]) => write(unfold(answer), { note }),
      (answer: CanonReply, note: EncodeAnswerContext<GenaiOptions>["note"]) =>
        encodeResponse(answer, context({ note })),
    ]) {
      const notes: FieldNote[] = [];
      const cut = encode(broken("length"), (note) => notes.push(note));
      expect(cut).toContain('{"functionCall":{"id":"1","name":"list_files","args":{}}}');
      expect(cut).not.toContain("delete_files");
      expect(cut).toContain("MAX_TOKENS");
      expect(notes).toEqual([
        {
          path: "answer.content",
          action: "dropped",
          reason: "the response was cut off inside the arguments of its call to delete_files",
        },
      ]);
      for (const stop of ["tool", "stop", "other"] as const) {
        expect(() => encode(broken(stop), () => undefined)).toThrow(
          new GatewayError(
            "upstream_failed",
            "The model called delete_files with arguments that are not a JSON object.",
          ),
        );
      }
    }
  });

  test.each([
    [{ unified: "length", raw: "max_tokens" }, "MAX_TOKENS", "why"],
    [{ unified: "filter", raw: "content_filter" }, "SAFETY", "why"],
    [{ unified: "filter", raw: "FINISH_REASON_SPII" }, "SPII", "why"],
    [{ unified: "filter", raw: "OTHER" }, "SAFETY", "why"],
    [{ unified: "abnormal", raw: "MALFORMED_FUNCTION_CALL" }, "MALFORMED_FUNCTION_CALL", "why"],
    [{ unified: "abnormal", raw: "malformed_tool_use" }, "OTHER", "The provider stopped with malformed_tool_use: why"],
    [{ unified: "other", raw: "eos" }, "OTHER", "why"],
    [{ unified: "pause", raw: "pause_turn" }, "MAX_TOKENS", "The provider stopped with pause_turn: why"],
  ] as const)("contract 2.7: stop %j", (stop, word, said) => {
    const answer = { ...reply({ type: "text", text: "a" }), stop, stopDetail: "why" };
    for (const bare of [true, false]) {
      const [candidate] = (
        JSON.parse(encodeResponse(answer, context({ options: { bareFinishReason: bare, arrayFraming: false } }))) as {
          candidates: JsonObject[];
        }
      ).candidates;
      expect(candidate).toMatchObject({ finishReason: bare ? word : `FINISH_REASON_${word}`, finishMessage: said });
    }
  });

  test("refusals are text that ends in SAFETY; a filtered response has no content", () => {
    const refused = reply({ type: "refusal", text: "No." });
    const filtered: CanonReply = { parts: [], stop: { unified: "filter", raw: "refusal" } };
    const last = (answer: CanonReply) => candidatesOf(write(unfold(answer))).at(-1);
    const whole = (answer: CanonReply) =>
      (JSON.parse(encodeResponse(answer, context())) as { candidates: JsonObject[] }).candidates[0];
    expect(last(refused)?.["finishReason"]).toBe("FINISH_REASON_SAFETY");
    expect(whole(refused)).toMatchObject({
      content: { parts: [{ text: "No." }] },
      finishReason: "FINISH_REASON_SAFETY",
    });
    expect(last(filtered)).toEqual({ finishReason: "FINISH_REASON_SAFETY", index: 0 });
    expect(whole(filtered)).toEqual({ finishReason: "FINISH_REASON_SAFETY", index: 0 });
  });

  test("searches and citations of another protocol become grounding, with offsets in bytes", () => {
    const answer = reply(
      { type: "server-tool-call", id: "s", name: "web_search", input: '{"query":"q"}' },
      {
        type: "server-tool-result",
        callId: "s",
        name: "web_search",
        result: { pages: [{ url: "https://a", title: "A" }, { url: "https://c" }] },
      },
      { type: "text", text: "Größe. " },
      {
        type: "text",
        text: "Ja 😀!",
        citations: [
          { type: "web", url: "https://b", citedText: "x" },
          { type: "web", url: "https://a" },
        ],
      },
    );
    const groundingMetadata = {
      webSearchQueries: ["q"],
      groundingChunks: [
        { web: { uri: "https://a", title: "A" } },
        { web: { uri: "https://c" } },
        { web: { uri: "https://b" } },
      ],
      groundingSupports: [{ segment: { startIndex: 9, endIndex: 17, text: "Ja 😀!" }, groundingChunkIndices: [2, 0] }],
    };
    expect(candidatesOf(write(unfold(answer))).at(-1)).toMatchObject({ groundingMetadata });
    expect(JSON.parse(encodeResponse(answer, context()))).toMatchObject({ candidates: [{ groundingMetadata }] });
  });

  test("log probabilities are written once, as a whole", () => {
    const logprobs = [{ token: "a", logprob: -1, top: [{ token: "a", logprob: -1 }] }];
    const answer = { ...reply({ type: "text", text: "a" }), logprobs };
    expect(readBack(write(unfold(answer))).logprobs).toEqual(logprobs);
    const whole = JSON.parse(encodeResponse(answer, context())) as JsonObject;
    const reading = { origin: "genai", quirks: DEFAULT_GENAI_QUIRKS, reading: {}, makeId: () => "x" };
    expect(decodeResponse(whole, reading).logprobs).toEqual(logprobs);
  });
});

describe("law 5: blocks in any order and interleaving", () => {
  const signatures = fc.option(fc.constantFrom(own), { nil: undefined });
  const part: fc.Arbitrary<ReplyPart> = fc.oneof(
    fc.record({ type: fc.constant("text" as const), text: fc.string({ unit: "grapheme", minLength: 1 }) }),
    fc
      .record({ text: fc.string({ minLength: 1 }), signature: signatures })
      .map(({ text, signature }) => ({ type: "reasoning" as const, text, ...(signature ? { signature } : {}) })),
    fc.record({ input: fc.json({ maxDepth: 1 }), signature: signatures }).map(({ input, signature }) => ({
      type: "tool-call" as const,
      id: "",
      name: "f",
      input: `{"v":${input}}`,
      ...(signature ? { signature } : {}),
    })),
    fc.constant({
      type: "media" as const,
      kind: "image" as const,
      source: { type: "data" as const, mimeType: "image/png", data: "aGk=" },
    }),
  );

  /** Adjacent texts, and adjacent thoughts of which the first is unsigned, are read as one. */
  function merged(parts: readonly ReplyPart[]): unknown[] {
    const list: ReplyPart[] = [];
    for (const one of parts) {
      const last = list.at(-1);
      if (last?.type === "text" && one.type === "text") list[list.length - 1] = { ...one, text: last.text + one.text };
      else if (last?.type === "reasoning" && one.type === "reasoning" && last.signature === undefined) {
        list[list.length - 1] = { ...one, text: last.text + one.text };
      } else list.push(one);
    }
    return list.map((one) => (one.type === "tool-call" ? { ...one, input: JSON.parse(one.input) as unknown } : one));
  }

  /** The calls without the thoughts that unsigned ones carry for the client. */
  const withoutThoughts = (parts: readonly ReplyPart[]): ReplyPart[] =>
    parts.map((one) => {
      const { signature, ...call } = one;
      return one.type === "tool-call" && signature && unwrapOpaqueBase64(signature.value) ? (call as ReplyPart) : one;
    });

  test("are read back as the same parts, in the order in which they start", () => {
    fc.assert(
      fc.property(fc.array(part, { maxLength: 6 }), fc.array(fc.nat(5)), (drawn, choices) => {
        const parts = drawn.map((one, at) => (one.type === "tool-call" ? { ...one, id: `id${at}` } : one));
        const whole = [...unfold(reply(...parts))];
        const queues = parts.map((_, block) => whole.filter((event) => "block" in event && event.block === block));
        // Blocks start in order, and then continue in any order.
        const events: CanonEvent[] = queues.flatMap((queue) => queue.splice(0, 1));
        for (const choice of choices) events.push(...(queues[choice]?.splice(0, 1) ?? []));
        events.push(...queues.flat(), ...whole.slice(-1));
        const text = write(events);
        const expected = merged(parts);
        expect(merged(withoutThoughts(readBack(text).parts))).toEqual(expected);
        expect(write(events)).toBe(text);
      }),
      { numRuns: 300 },
    );
  });
});
