import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { arrayAt, type JsonObject, numberAt, objectAt, stringAt } from "../src/base/json.ts";
import { withoutAbsent } from "../src/base/without-absent.ts";
import type { Citation } from "../src/canon/citation.ts";
import { unfold } from "../src/canon/fold.ts";
import type { Opaque } from "../src/canon/opaque.ts";
import type { CanonReply, ReplyPart } from "../src/canon/reply.ts";
import { DIALECTS } from "../src/dialects/index.ts";
import { encodeContext } from "../src/dialects/request/encode-context.sample.ts";
import { readFrames } from "../src/wire/sse.ts";
import { SCRIPTED_DIALECTS, type ScriptedDialect } from "../testing/sampled-dialects.ts";
import { answerProblem } from "./support/well-formed.ts";

/** Random responses in every dialect: what a client reads is well formed, and the same streamed or not. */

const TEXTS = ["", " ", "hello", "naïve ✓ 日本語", "😀 is here", '{"a":1}'];
const text = fc.constantFrom(...TEXTS);
const signature: fc.Arbitrary<Opaque> = fc.record({
  origin: fc.constantFrom("messages", "genai", "responses", "a-host"),
  kind: fc.constantFrom("signature" as const, "redacted" as const, "encrypted" as const),
  value: fc.constantFrom("c2lnbmF0dXJl", "not base64 ✓"),
});

const citation = (said: string): fc.Arbitrary<Citation> =>
  fc.oneof(
    fc.record(
      {
        type: fc.constant("web" as const),
        url: fc.constant("https://pages.example/a"),
        title: fc.constant("A page"),
        citedText: fc.constant("words"),
        start: fc.constant(0),
        end: fc.nat(said.length),
      },
      { requiredKeys: ["type", "url"] },
    ) as fc.Arbitrary<Citation>,
    fc.record({
      type: fc.constant("document" as const),
      unit: fc.constantFrom("character" as const, "page" as const, "block" as const),
      documentIndex: fc.nat(2),
      from: fc.constant(1),
      to: fc.constant(3),
      citedText: fc.constant("words"),
    }),
  );

const part: fc.Arbitrary<ReplyPart> = fc.oneof(
  text.chain((said) =>
    fc.record(
      {
        type: fc.constant("text" as const),
        text: fc.constant(said),
        citations: fc.array(citation(said), { maxLength: 2 }),
      },
      { requiredKeys: ["type", "text"] },
    ),
  ) as fc.Arbitrary<ReplyPart>,
  fc.record(
    { type: fc.constant("reasoning" as const), text, signature, summary: fc.constant(true) },
    { requiredKeys: ["type", "text"] },
  ) as fc.Arbitrary<ReplyPart>,
  fc.record({ type: fc.constant("refusal" as const), text }),
  fc.record(
    {
      type: fc.constant("tool-call" as const),
      id: fc.constantFrom("call_1", "", "id with spaces", "x".repeat(90)),
      name: fc.constantFrom("get_weather", "files.read"),
      input: fc.constantFrom("", "{}", '{"city":"Oslo","2":1}', "{broken"),
      signature: signature.map((value) => ({ ...value, kind: "signature" as const })),
    },
    { requiredKeys: ["type", "id", "name", "input"] },
  ) as fc.Arbitrary<ReplyPart>,
  fc.record({
    type: fc.constant("server-tool-call" as const),
    id: fc.constant("srvtoolu_1"),
    name: fc.constant("web_search"),
    input: fc.constant('{"query":"x"}'),
  }),
  fc.record({
    type: fc.constant("server-tool-result" as const),
    callId: fc.constant("srvtoolu_1"),
    name: fc.constant("web_search"),
    result: fc.constantFrom(
      { pages: [{ url: "https://pages.example/a", title: "A page" }] },
      { pages: [] },
      { error: "max_uses_exceeded" as const },
    ),
  }),
  fc.constant<ReplyPart>({
    type: "media",
    kind: "image",
    source: { type: "data", mimeType: "image/png", data: "aGk=" },
  }),
  fc.constantFrom<ReplyPart>(
    {
      type: "native",
      dialect: "genai",
      name: "executableCode",
      raw: { executableCode: { language: "PYTHON", code: "1" } },
    },
    { type: "native", dialect: "converse", name: "guardContent", raw: { guardContent: {} } },
  ),
);

const count = fc.option(fc.nat(1000), { nil: undefined });
const reply: fc.Arbitrary<CanonReply> = fc
  .record({
    parts: fc.array(part, { maxLength: 6 }),
    stop: fc.constantFrom<CanonReply["stop"]>(
      { unified: "stop", raw: "end_turn" },
      { unified: "length", raw: "MAX_TOKENS" },
      { unified: "filter", raw: "refusal" },
      { unified: "pause", raw: "pause_turn" },
      { unified: "other", raw: "MALFORMED_FUNCTION_CALL" },
    ),
    usage: fc.record({
      input: count,
      cacheRead: count,
      cacheWrite5m: count,
      cacheWrite1h: count,
      output: count,
      reasoning: count,
      searches: count,
    }),
    logprobs: fc.option(
      fc.constant([{ token: "é", logprob: -0.1, bytes: [195, 169], top: [{ token: "e", logprob: -2 }] }]),
      { nil: undefined },
    ),
    id: fc.constantFrom("made", undefined),
  })
  .map(({ parts, stop, usage, logprobs, id }) => {
    const inputs = parts.flatMap((one) => (one.type === "tool-call" ? [one.input] : []));
    // Only a truncated response may end within a call's arguments; any other is a failure (broken-calls.test.ts).
    const cut = { unified: "length" as const, raw: "MAX_TOKENS" };
    const called = inputs.includes("{broken") ? cut : { unified: "tool" as const, raw: "tool_use" };
    const known = Object.fromEntries(Object.entries(usage).filter(([, value]) => value !== undefined));
    return withoutAbsent({
      // Decoders give every call its own id.
      parts: parts.map((one, at) => (one.type === "tool-call" ? { ...one, id: `${one.id}${at}` } : one)),
      stop: inputs.length > 0 ? called : stop,
      usage: known,
      logprobs,
      id,
    });
  });

const REQUESTS: Readonly<Record<ScriptedDialect, readonly JsonObject[]>> = {
  chat: [{}, { reasoning: { exclude: true } }],
  messages: [{}, { thinking: { type: "adaptive", display: "omitted" } }],
  genai: [{}, { generationConfig: { thinkingConfig: { includeThoughts: false } } }],
  responses: [{}, { include: ["reasoning.encrypted_content"] }, { reasoning: { summary: "auto" }, store: false }],
};

describe.each([...SCRIPTED_DIALECTS])("a %s client", (dialect) => {
  const { codec } = DIALECTS[dialect];
  test("reads well-formed responses, streamed or not", () => {
    fc.assert(
      fc.property(reply, fc.constantFrom(...REQUESTS[dialect]), (answer, request) => {
        expect(answerProblem(dialect, false, codec.encodeResponse(answer, encodeContext(request)))).toBeUndefined();
        const encoder = codec.createStreamEncoder(encodeContext(request));
        const streamed = [...unfold(answer)].map((event) => encoder.push(event)).join("");
        expect(answerProblem(dialect, true, streamed)).toBeUndefined();
      }),
      { numRuns: Number(process.env["FUZZ_RUNS"] ?? 400) },
    );
  });
});

describe("contract 7: citations of non-ASCII text", () => {
  const said = "Größe ✓ 😀: Oslo ist groß.";
  const start = said.indexOf("Oslo");
  const cited: CanonReply = {
    parts: [
      { type: "text", text: "Zuerst ✓. " },
      {
        type: "text",
        text: said,
        citations: [{ type: "web", url: "https://pages.example/oslo", title: "Oslo", start, end: start + 4 }],
      },
    ],
    stop: { unified: "stop", raw: "stop" },
    usage: { input: 1, output: 1 },
  };
  const whole = `Zuerst ✓. ${said}`;
  const streamed = (dialect: ScriptedDialect) => {
    const encoder = DIALECTS[dialect].codec.createStreamEncoder(encodeContext({}));
    const frames = readFrames([...unfold(cited)].map((event) => encoder.push(event)).join(""));
    return frames.flatMap(({ data }) =>
      data === undefined || data === "[DONE]" ? [] : [JSON.parse(data) as JsonObject],
    );
  };

  test("chat counts characters of the whole content", () => {
    const { choices } = JSON.parse(DIALECTS.chat.codec.encodeResponse(cited, encodeContext({})));
    const [{ url_citation: found }] = choices[0].message.annotations;
    expect(whole.slice(found.start_index, found.end_index)).toBe("Oslo");
    const reported = streamed("chat").flatMap((chunk) =>
      arrayAt(chunk, "choices").flatMap((one) => arrayAt(objectAt(one, "delta"), "annotations")),
    );
    expect(reported).toEqual([{ type: "url_citation", url_citation: found }]);
  });

  test("responses counts characters of the text part", () => {
    const { output } = JSON.parse(DIALECTS.responses.codec.encodeResponse(cited, encodeContext({})));
    const parts = arrayAt({ output }, "output").flatMap((item) => arrayAt(item, "content"));
    const found = parts.flatMap((one) => arrayAt(one, "annotations").map((annotation) => [one, annotation] as const));
    expect(found).toHaveLength(1);
    for (const [one, annotation] of found) {
      const [from, to] = [numberAt(annotation, "start_index"), numberAt(annotation, "end_index")];
      expect(stringAt(one, "text")?.slice(from, to)).toBe("Oslo");
      const told = streamed("responses").flatMap((event) => objectAt(event, "annotation") ?? []);
      expect(told).toEqual([annotation]);
    }
  });

  test("genai counts UTF-8 bytes", () => {
    const bytes = Buffer.from(whole);
    // biome-ignore lint/suspicious/noExplicitAny: the test reads what it has just had written
    const supports = (answer: any) => answer.candidates?.[0].groundingMetadata?.groundingSupports ?? [];
    const unary = supports(JSON.parse(DIALECTS.genai.codec.encodeResponse(cited, encodeContext({}))));
    for (const found of [unary, streamed("genai").flatMap(supports)]) {
      expect(found).toHaveLength(1);
      const { segment, groundingChunkIndices } = found[0];
      const from = segment.startIndex ?? 0;
      const own = segment.partIndex === undefined || segment.partIndex === 0 ? bytes : Buffer.from(said);
      expect(own.subarray(from, segment.endIndex).toString()).toBe("Oslo");
      expect(segment.text).toBe("Oslo");
      expect(groundingChunkIndices).toEqual([0]);
    }
  });
});
