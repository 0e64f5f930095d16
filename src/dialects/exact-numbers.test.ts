import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { checkedRequest, EVERY_TARGET, TARGETS, translate, wireText } from "../../testing/translate-sample.ts";
import type { JsonObject } from "../base/json.ts";
import {
  DIALECT_NAMES,
  type DialectName,
  UPSTREAM_DIALECT_NAMES,
  type UpstreamDialectName,
} from "../canon/dialect-name.ts";
import type { CanonEvent } from "../canon/event.ts";
import { fold, unfold } from "../canon/fold.ts";
import { carryNative, nativeOf } from "../canon/opaque-carriers.ts";
import { parseInOrder } from "../wire/ordered-json.ts";
import { readFrames } from "../wire/sse.ts";
import type { DecodeAnswerContext } from "./codec.ts";
import { toJsonSchema } from "./genai/request/json-schema.ts";
import { lowerSchema } from "./genai/request/lower-schema.ts";
import { DIALECTS, UPSTREAM_CODECS } from "./index.ts";
import { DEFAULT_QUIRKS } from "./quirks.ts";
import { encodeContext } from "./request/encode-context.sample.ts";

/** Decision 0003: JavaScript would round large integers. No dialect may lose their digits. */

const whole = fc
  .tuple(fc.constantFrom("", "-"), fc.integer({ min: 1, max: 30 }), fc.stringMatching(/^[1-9]\d{29}$/, { size: "max" }))
  .map(([sign, length, digits]) => sign + digits.slice(0, length));
const numbers = fc.tuple(whole, whole, whole);
type Numbers = [id: string, listed: string, bound: string];

const argumentsOf = ([id, listed]: Numbers): string => `{"id":${id},"in":{"list":[${listed}]}}`;
const quoted = JSON.stringify;

/** The numbers in a text, also in escaped JSON. */
const numbersIn = (text: string): string[] => text.match(/(?<=[:[,])-?\d+(?=[,}\]])/g) ?? [];

const schemaOf = (bound: string) =>
  `{"type":"object","properties":{"id":{"type":"integer","maximum":${bound},"default":${bound}}}}`;

const REQUESTS: Readonly<Record<string, { dialect: DialectName; text: (numbers: Numbers) => string }>> = {
  chat: {
    dialect: "chat",
    text: (n) => `{"model":"acme/one","messages":[{"role":"user","content":"q"},
      {"role":"assistant","tool_calls":[{"id":"c1","type":"function","function":{"name":"look","arguments":${quoted(argumentsOf(n))}}}]},
      {"role":"tool","tool_call_id":"c1","content":"done"}],
      "tools":[{"type":"function","function":{"name":"look","parameters":${schemaOf(n[2])}}}]}`,
  },
  messages: {
    dialect: "messages",
    text: (n) => `{"model":"acme/one","max_tokens":9,"messages":[{"role":"user","content":"q"},
      {"role":"assistant","content":[{"type":"tool_use","id":"c1","name":"look","input":${argumentsOf(n)}}]},
      {"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","content":"done"}]}],
      "tools":[{"name":"look","input_schema":${schemaOf(n[2])}}]}`,
  },
  genai: {
    dialect: "genai",
    text: (n) => `{"contents":[{"role":"user","parts":[{"text":"q"}]},
      {"role":"model","parts":[{"functionCall":{"name":"look","args":${argumentsOf(n)}}}]},
      {"role":"user","parts":[{"functionResponse":{"name":"look","response":${argumentsOf(n)}}}]}],
      "tools":[{"functionDeclarations":[{"name":"look","parametersJsonSchema":${schemaOf(n[2])}}]}]}`,
  },
  "genai in another spelling": {
    dialect: "genai",
    text: (n) => `{"contents":[{"role":"user","parts":[{"text":"q"}]},
      {"role":"model","parts":[{"function_call":{"name":"look","args":${argumentsOf(n)}}}]},
      {"role":"user","parts":[{"function_response":{"name":"look","response":${argumentsOf(n)}}}]}],
      "tools":[{"function_declarations":[{"name":"look","parameters_json_schema":${schemaOf(n[2])}}]}]}`,
  },
};

const ANSWERS: Readonly<Record<UpstreamDialectName, (numbers: Numbers) => string>> = {
  chat: (n) =>
    `{"id":"a","choices":[{"index":0,"message":{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"look","arguments":${quoted(argumentsOf(n))}}}]},"finish_reason":"tool_calls"}]}`,
  messages: (n) =>
    `{"id":"a","type":"message","role":"assistant","content":[{"type":"tool_use","id":"c1","name":"look","input":${argumentsOf(n)}}],"stop_reason":"tool_use"}`,
  genai: (n) =>
    `{"candidates":[{"content":{"role":"model","parts":[{"functionCall":{"name":"look","args":${argumentsOf(n)}}}]},"finishReason":"STOP"}]}`,
  converse: (n) =>
    `{"output":{"message":{"role":"assistant","content":[{"toolUse":{"toolUseId":"c1","name":"look","input":${argumentsOf(n)}}}]}},"stopReason":"tool_use"}`,
  responses: (n) =>
    `{"id":"a","status":"completed","output":[{"type":"function_call","id":"i1","call_id":"c1","name":"look","arguments":${quoted(argumentsOf(n))}}]}`,
  interactions: (n) =>
    `{"id":"a","status":"requires_action","steps":[{"type":"function_call","id":"c1","name":"look","arguments":${argumentsOf(n)}}]}`,
};

/** Streams whose events hold arguments as objects. In other dialects they are chunks of text. */
const STREAMS: Readonly<Record<string, { dialect: UpstreamDialectName; text: (numbers: Numbers) => string }>> = {
  messages: {
    dialect: "messages",
    text: (n) =>
      [
        '{"type":"message_start","message":{"id":"a"}}',
        `{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"c1","name":"look","input":${argumentsOf(n)}}}`,
        '{"type":"content_block_stop","index":0}',
        '{"type":"message_delta","delta":{"stop_reason":"tool_use"}}',
        '{"type":"message_stop"}',
      ]
        .map((data) => `data: ${data}\n\n`)
        .join(""),
  },
  genai: { dialect: "genai", text: (n) => `data: ${ANSWERS.genai(n)}\n\n` },
  "genai in pieces": {
    dialect: "genai",
    text: ([id, listed]) =>
      `data: {"candidates":[{"content":{"role":"model","parts":[{"functionCall":{"name":"look","willContinue":true}}]}}]}\n\n` +
      `data: {"candidates":[{"content":{"role":"model","parts":[{"functionCall":{"partialArgs":[{"jsonPath":"$.id","numberValue":${id}},{"jsonPath":"$.in.list[0]","numberValue":${listed}}]}}]},"finishReason":"STOP"}]}\n\n`,
  },
};

const decoding = (dialect: UpstreamDialectName): DecodeAnswerContext => {
  let made = 0;
  return { origin: "acme", quirks: DEFAULT_QUIRKS[dialect], reading: {}, makeId: () => `made${++made}` };
};

/** What clients of every dialect receive, complete and streamed. */
function* heardOf(events: readonly CanonEvent[]): Generator<string> {
  for (const dialect of DIALECT_NAMES) {
    const { codec } = DIALECTS[dialect];
    yield codec.encodeResponse(fold(events), encodeContext());
    const encoder = codec.createStreamEncoder(encodeContext());
    yield events.map((event) => encoder.push(event)).join("");
  }
}

describe("decision 0003: integers of up to thirty digits keep them", () => {
  test.each(Object.entries(REQUESTS))("in a request of %s", async (_name, { dialect, text }) => {
    await fc.assert(
      fc.asyncProperty(numbers, async (n) => {
        const request = checkedRequest(dialect, text(n), "contract");
        for (const target of EVERY_TARGET) {
          const { body } = await translate(dialect, request, target);
          expect(numbersIn(wireText(body))).toEqual(expect.arrayContaining([...n]));
        }
      }),
      { numRuns: 30 },
    );
  });

  test.each(UPSTREAM_DIALECT_NAMES.map((name) => [name]))("in a response of %s", (dialect) => {
    fc.assert(
      fc.property(numbers, (n) => {
        const answer = parseInOrder(ANSWERS[dialect](n)) as JsonObject;
        const reply = UPSTREAM_CODECS[dialect].decodeResponse(answer, decoding(dialect));
        for (const heard of heardOf([...unfold(reply)])) {
          expect(numbersIn(heard)).toEqual(expect.arrayContaining([n[0], n[1]]));
        }
      }),
    );
  });

  test.each(Object.entries(STREAMS))("in a stream of %s", (_name, { dialect, text }) => {
    fc.assert(
      fc.property(numbers, (n) => {
        const decoder = UPSTREAM_CODECS[dialect].createStreamDecoder(decoding(dialect));
        const events = readFrames(text(n)).flatMap((frame) => decoder.push(frame));
        if (events.at(-1)?.type !== "finish") events.push(...decoder.end());
        for (const heard of heardOf(events)) expect(numbersIn(heard)).toEqual(expect.arrayContaining([n[0], n[1]]));
      }),
    );
  });

  test("in a block that only its own dialect has, in both directions", () => {
    const raw = parseInOrder('{"type":"mcp_tool_use","input":{"id":9007199254740993}}') as JsonObject;
    const carried = carryNative({ type: "native", dialect: "messages", name: "mcp_tool_use", raw });
    expect(wireText(nativeOf(carried, parseInOrder)?.raw)).toBe(wireText(raw));
  });
});

describe("decision 0003: numbers kept as text are numbers in schemas", () => {
  const lowered = (text: string) => {
    const losses: string[] = [];
    return { schema: wireText(lowerSchema(parseInOrder(text) as JsonObject, (loss) => losses.push(loss))), losses };
  };

  test("H08: as bounds in the dialect's schema language", () => {
    expect(lowered('{"type":"integer","maximum":9223372036854775807}')).toEqual({
      schema: '{"type":"INTEGER","maximum":9223372036854775807}',
      losses: [],
    });
    expect(lowered('{"type":"integer","minimum":1,"exclusiveMaximum":9223372036854775808}')).toEqual({
      schema: '{"type":"INTEGER","minimum":1,"maximum":9223372036854775808}',
      losses: ["the exclusion of the maximum itself"],
    });
    expect(lowered('{"enum":[9007199254740993]}').schema).toBe('{"type":"INTEGER"}');
  });

  test("as enum values that stand for numbers", () => {
    expect(wireText(toJsonSchema({ type: "INTEGER", enum: ["9007199254740993", "7", "007"] }))).toBe(
      '{"type":"integer","enum":[9007199254740993,7,7]}',
    );
  });

  test("as a setting", async () => {
    const text = `{"model":"acme/one","messages":[{"role":"user","content":"q"}],"temperature":0.69999999999999996,"max_completion_tokens":12345678901234567890}`;
    const { body } = await translate("chat", checkedRequest("chat", text, "contract"), TARGETS.messages);
    expect(body).toMatchObject({ temperature: 0.7, max_tokens: 64_000 });
  });
});
