import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { partialArguments } from "../../../../simulator/hosts/google/text/partial-arguments.ts";
import type { Json } from "../../../../simulator/json.ts";
import type { JsonObject } from "../../../base/json.ts";
import type { CanonEvent } from "../../../canon/event.ts";
import { fold } from "../../../canon/fold.ts";
import { DEFAULT_GENAI_QUIRKS } from "../quirks.ts";
import { decodeResponse } from "./decode-response.ts";
import { GenaiStreamDecoder } from "./decode-stream.ts";

const context = { origin: "genai", quirks: DEFAULT_GENAI_QUIRKS, reading: {}, makeId: () => "made" };

function eventsOf(...chunks: (JsonObject | string)[]): CanonEvent[] {
  const decoder = new GenaiStreamDecoder(context);
  const data = chunks.map((chunk) => (typeof chunk === "string" ? chunk : JSON.stringify(chunk)));
  return [...data.flatMap((one) => decoder.push({ raw: "", event: undefined, data: one })), ...decoder.end()];
}

const parts = (...list: JsonObject[]): JsonObject => ({ candidates: [{ content: { role: "model", parts: list } }] });
const stop = (more: JsonObject = {}): JsonObject => ({ candidates: [{ finishReason: "STOP", ...more }] });
const signature = (value: string) => ({ origin: "genai", kind: "signature" as const, value });

describe("blocks", () => {
  test("H01: adjacent chunks of one kind form a block; a signature ends it, and a signed empty text is a separate block", () => {
    const reply = fold(
      eventsOf(
        parts({ text: "I ", thought: true }, { text: "think", thought: true }),
        parts({ text: "", thought: true, thoughtSignature: "t" }),
        parts({ text: "Hel" }, { text: "" }),
        parts({ text: "lo" }, { text: "!", thoughtSignature: "a" }),
        parts({ text: "More" }, { text: "", thoughtSignature: "b" }),
        parts({ text: "Last" }),
        stop(),
      ),
    );
    expect(reply.parts).toEqual([
      { type: "reasoning", text: "I think", signature: signature("t") },
      { type: "text", text: "Hello!", signature: signature("a") },
      { type: "text", text: "More" },
      { type: "text", text: "", signature: signature("b") },
      { type: "text", text: "Last" },
    ]);
  });

  test("H03: calls without ids get distinct ids and finish with the tool reason", () => {
    const call = { functionCall: { name: "f", args: {} }, thoughtSignature: "s" };
    const { parts: own, stop: end } = fold(eventsOf({ ...parts(call, call), responseId: "r1" }, stop()));
    expect(own).toEqual([
      { type: "tool-call", id: "call_r1_0", name: "f", input: "{}", signature: signature("s") },
      { type: "tool-call", id: "call_r1_1", name: "f", input: "{}", signature: signature("s") },
    ]);
    expect(end).toEqual({ unified: "tool", raw: "STOP" });
  });

  test("H03, H10: an empty id counts as missing, and an id is not given to two calls", () => {
    const ids = ["", "x", "x", ""];
    const calls = parts(...ids.map((id) => ({ functionCall: { id, name: "f", args: {} } })));
    const answer = {
      candidates: [{ ...(calls["candidates"] as object[])[0], finishReason: "STOP" }],
      responseId: "r1",
    };
    for (const reply of [fold(eventsOf({ ...calls, responseId: "r1" }, stop())), decodeResponse(answer, context)]) {
      expect(reply.parts.map((part) => (part.type === "tool-call" ? part.id : ""))).toEqual([
        "call_r1_0",
        "x",
        "call_r1_2",
        "call_r1_3",
      ]);
    }
  });

  test("H05: arguments keep the order of keys that look like numbers", () => {
    const chunk =
      '{"candidates":[{"content":{"parts":[{"functionCall":{"name":"f","args":{"10":1,"b":2,"9":3}}}]},"finishReason":"STOP"}]}';
    expect(fold(eventsOf(chunk)).parts).toMatchObject([{ input: '{"10":1,"b":2,"9":3}' }]);
  });

  test("an image drawn while thinking is dropped; one in the response is media", () => {
    const inlineData = { mimeType: "image/png", data: "aGk=" };
    const { parts: own } = fold(
      eventsOf(parts({ inlineData, thought: true }, { inlineData, thoughtSignature: "s" }), stop()),
    );
    expect(own).toMatchObject([{ type: "native" }, { type: "media", kind: "image", signature: signature("s") }]);
  });

  test("partial arguments of any shape are assembled correctly", () => {
    const json = fc.jsonValue({ maxDepth: 3 }) as fc.Arbitrary<Json>;
    // Empty arrays and objects have no leaf, so this protocol cannot send them in chunks.
    const leafy = (value: Json): boolean =>
      typeof value !== "object" ||
      value === null ||
      (Object.keys(value).length > 0 && Object.values(value).every(leafy));
    fc.assert(
      fc.property(
        fc.dictionary(fc.string({ minLength: 1 }), json.filter(leafy), { minKeys: 1, maxKeys: 4 }),
        (input) => {
          const fragments = partialArguments(input).map((one) =>
            parts({ functionCall: { partialArgs: [one], willContinue: true } }),
          );
          const begin = parts({ functionCall: { name: "f", willContinue: true } });
          const { parts: own } = fold(eventsOf(begin, ...fragments, parts({ functionCall: {} }), stop()));
          const [call] = own;
          expect(JSON.parse(call?.type === "tool-call" ? call.input : "")).toEqual(JSON.parse(JSON.stringify(input)));
        },
      ),
      { numRuns: 200 },
    );
  });

  test.each(["$", "a.b", "$[0]", "$.a[5]", "$.s.x", `$${".a".repeat(300)}`])(
    "an argument piece at %s that does not fit is an error",
    (jsonPath) => {
      const events = eventsOf(
        parts({ text: "before" }),
        parts({
          functionCall: { name: "f", partialArgs: [{ jsonPath: "$.s", stringValue: "v" }], willContinue: true },
        }),
        parts({ functionCall: { partialArgs: [{ jsonPath, numberValue: 1 }], willContinue: true } }),
        stop(),
      );
      expect(events.at(-1)).toMatchObject({ type: "error", error: { kind: "upstream_failed" } });
      expect(events.filter(({ type }) => type === "error" || type === "finish").length).toBe(1);
    },
  );
});

describe("endings", () => {
  describe.each(["MALFORMED_FUNCTION_CALL", "FINISH_REASON_UNEXPECTED_TOOL_CALL", "OTHER"])(
    "H16, providers 1.8: %s",
    (finishReason) => {
      const end = { finishReason, finishMessage: "Malformed: print(f(" };
      const failure = {
        kind: "upstream_failed",
        message: expect.stringContaining(`(${finishReason}): Malformed: print(`),
      };

      test("without content is a failure with the host's message, with or without thoughts", () => {
        for (const before of [[], [{ text: "hm", thought: true }], [{ text: "" }]]) {
          expect(eventsOf(parts(...before), stop(end)).at(-1)).toMatchObject({ type: "error", error: failure });
          const whole = { candidates: [{ content: { parts: before }, ...end }] };
          expect(() => decodeResponse(whole, context)).toThrow(expect.objectContaining(failure));
        }
      });

      test("with content is an end that clients notice", () => {
        for (const said of [{ text: "Let me see." }, { functionCall: { name: "f", args: {} } }]) {
          const reply = { stop: { unified: "abnormal", raw: finishReason }, stopDetail: end.finishMessage };
          expect(fold(eventsOf(parts(said), stop(end)))).toMatchObject(reply);
          expect(decodeResponse({ candidates: [{ content: { parts: [said] }, ...end }] }, context)).toMatchObject(
            reply,
          );
        }
      });
    },
  );

  test("contract 2.7: reads both spellings; an empty reason means not yet, the last one counts, and usage may follow", () => {
    const usageMetadata = {
      promptTokenCount: 5,
      cachedContentTokenCount: 2,
      candidatesTokenCount: 3,
      thoughtsTokenCount: 4,
    };
    const events = eventsOf(
      { candidates: [{ content: { parts: [{ text: "a" }] }, finishReason: "" }] },
      { candidates: [{ finishReason: "FINISH_REASON_MAX_TOKENS", finishMessage: "why" }] },
      { usageMetadata },
      { usageMetadata: { trafficType: "ON_DEMAND" } },
    );
    expect(events.at(-1)).toEqual({
      type: "finish",
      stop: { unified: "length", raw: "FINISH_REASON_MAX_TOKENS" },
      stopDetail: "why",
    });
    expect(events.filter(({ type }) => type === "usage")).toEqual([
      { type: "usage", usage: { input: 3, cacheRead: 2, output: 3, reasoning: 4 } },
    ]);
  });

  test("contract 7: reports a blocked prompt", () => {
    const promptFeedback = { blockReason: "OTHER", blockReasonMessage: "words" };
    expect(fold(eventsOf({ promptFeedback }))).toEqual({
      parts: [],
      stop: { unified: "filter", raw: "OTHER" },
      stopDetail: "words",
    });
  });

  test("H16: an error chunk, a truncated chunk and an end without a reason are errors and the last event", () => {
    const error = { error: { code: 503, message: "m", status: "UNAVAILABLE" } };
    for (const bad of [error, '{"candidates":[', "null"]) {
      const events = eventsOf(parts({ text: "a" }), bad, stop());
      expect(events.at(-1)?.type).toBe("error");
      expect(events.filter(({ type }) => type === "error" || type === "finish").length).toBe(1);
    }
    expect(eventsOf(parts({ text: "a" })).at(-1)).toMatchObject({ type: "error", error: { kind: "upstream_failed" } });
    expect(() => decodeResponse(error, context)).toThrow("overloaded");
    expect(() => decodeResponse({}, context)).toThrow();
    expect(decodeResponse(parts({ text: "a" }), context).stop.unified).toBe("other");
  });

  test("only the first candidate counts", () => {
    const other = { index: 1, content: { parts: [{ text: "no" }] }, finishReason: "SAFETY" };
    const { parts: own, stop: end } = fold(eventsOf({ candidates: [other] }, parts({ text: "yes" }), stop()));
    expect(own).toEqual([{ type: "text", text: "yes" }]);
    expect(end.unified).toBe("stop");
  });

  test("a missing log probability means certainty", () => {
    const logprobsResult = {
      topCandidates: [{ candidates: [{ token: "a" }, { token: "b", logProbability: -2 }] }],
      chosenCandidates: [{ token: "a" }],
    };
    expect(fold(eventsOf(stop({ logprobsResult }))).logprobs).toEqual([
      {
        token: "a",
        logprob: 0,
        top: [
          { token: "a", logprob: 0 },
          { token: "b", logprob: -2 },
        ],
      },
    ]);
  });
});

describe("sources", () => {
  const groundingChunks = [
    { web: { uri: "https://a", title: "A" } },
    { retrievedContext: { uri: "https://b" } },
    { web: {} },
  ];
  const support = (segment: JsonObject, ...groundingChunkIndices: number[]) => ({ segment, groundingChunkIndices });
  const citationsOf = (text: string, ...groundingSupports: JsonObject[]) => {
    const [part] = fold(
      eventsOf(parts({ text }), stop({ groundingMetadata: { groundingChunks, groundingSupports } })),
    ).parts;
    return part?.type === "text" ? part.citations : undefined;
  };

  test("offsets are UTF-8 bytes on the wire and characters in the canon; a missing start is 0", () => {
    expect(
      citationsOf(
        "Größe 😀 ok",
        support({ endIndex: 7, text: "Größe" }, 0),
        support({ startIndex: 8, endIndex: 12 }, 1, 2, 9),
      ),
    ).toEqual([
      { type: "web", url: "https://a", title: "A", start: 0, end: 5 },
      { type: "web", url: "https://b", start: 6, end: 8 },
    ]);
  });

  test("wrong offsets are replaced by a search for the text, or dropped if that is not unique", () => {
    const found = citationsOf(
      "one two two",
      support({ startIndex: 40, endIndex: 43, text: "one" }, 0),
      support({ startIndex: 40, endIndex: 43, text: "two" }, 0),
      support({ startIndex: 1, endIndex: 2, text: "one" }, 0),
    );
    expect(found?.map(({ start, end }) => [start, end])).toEqual([
      [0, 3],
      [undefined, undefined],
      [0, 3],
    ]);
  });

  test("a search becomes a call and a result before the finish, counted once, while the text stays open for citations", () => {
    const groundingMetadata = {
      webSearchQueries: ["q"],
      groundingChunks,
      groundingSupports: [support({ endIndex: 2 }, 0)],
    };
    const usageMetadata = { promptTokenCount: 1, candidatesTokenCount: 1 };
    const events = eventsOf(
      { ...parts({ text: "Hi" }), responseId: "r" },
      { candidates: [{ content: { parts: [{ text: "", thoughtSignature: "s" }] }, groundingMetadata }] },
      { ...stop({ groundingMetadata }), usageMetadata },
    );
    expect(events.map(({ type }) => type)).toEqual([
      "metadata",
      "text-start",
      "text-delta",
      "text-start",
      "text-end",
      "citation",
      "text-end",
      "whole",
      "whole",
      "usage",
      "finish",
    ]);
    expect(fold(events)).toMatchObject({
      parts: [
        { text: "Hi", citations: [{ url: "https://a" }] },
        { text: "" },
        { type: "server-tool-call", id: "search_r", name: "web_search", input: '{"query":"q"}' },
        { type: "server-tool-result", result: { pages: [{ url: "https://a", title: "A" }, { url: "https://b" }] } },
      ],
      usage: { searches: 1 },
    });
  });

  test("citations of an earlier text are attached to the last one, without a position", () => {
    const { parts: own } = fold(
      eventsOf(
        parts({ text: "first", thoughtSignature: "s" }, { text: "second" }),
        stop({
          groundingMetadata: {
            groundingChunks,
            groundingSupports: [support({ endIndex: 5 }, 0), support({ startIndex: 5, endIndex: 11 }, 0)],
          },
        }),
      ),
    );
    expect(own).toMatchObject([{ text: "first" }, { text: "second" }]);
    expect(own[1]).toHaveProperty("citations", [
      { type: "web", url: "https://a", title: "A" },
      { type: "web", url: "https://a", title: "A", start: 0, end: 6 },
    ]);
  });
});
