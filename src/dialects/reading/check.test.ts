import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { TSchema } from "typebox";
import { Type } from "../../base/type.ts";
import { checkChatRequest } from "../chat/schema/check-request.ts";
import { ChatRequest } from "../chat/schema/request.ts";
import { checkGenaiCountTokensRequest, checkGenerateContentRequest } from "../genai/schema/check-request.ts";
import { GenaiCountTokensRequest, GenerateContentRequest } from "../genai/schema/request.ts";
import { checkCountTokensRequest, checkMessagesRequest } from "../messages/schema/check-request.ts";
import { CountTokensRequest, MessagesRequest } from "../messages/schema/request.ts";
import { type CheckContext, defineCheck } from "./check.ts";
import { explainMismatch } from "./explain-mismatch.ts";
import { AT_DROPIN_DOOR, refusalOf } from "./refusal-table.ts";
import type { SchemaNode } from "./schema-node.ts";
import { withoutNulls } from "./without-nulls.ts";

interface Subject {
  check: (body: unknown, context: CheckContext) => void;
  schema: TSchema;
  /** A valid request with something in every part. */
  sample: Record<string, unknown>;
}

const text = { type: "text", text: "a", cache_control: { type: "ephemeral", ttl: "1h" } };
const messages: Subject["sample"] = {
  model: "acme/one",
  max_tokens: 4096,
  system: [text],
  thinking: { type: "enabled", budget_tokens: 1024 },
  tool_choice: { type: "tool", name: "f" },
  tools: [
    { name: "f", input_schema: { type: "object", properties: { a: { type: "string" } } } },
    { type: "web_search_20250305", name: "web_search", user_location: { type: "approximate", country: "CH" } },
    { type: "memory_20250818", name: "memory" },
  ],
  messages: [
    {
      role: "user",
      content: [text, { type: "image", source: { type: "base64", media_type: "image/png", data: "AA==" } }],
    },
    { role: "assistant", content: [{ type: "tool_use", id: "t", name: "f", input: { a: 1 } }] },
    { role: "user", content: [{ type: "tool_result", tool_use_id: "t", content: [text], is_error: false }] },
  ],
};
const genai: Subject["sample"] = {
  contents: [
    { role: "user", parts: [{ text: "a" }, { inlineData: { mimeType: "image/png", data: "AA==" } }] },
    { role: "model", parts: [{ functionCall: { name: "f", args: { a: 1 } }, thoughtSignature: "AA==" }] },
  ],
  tools: [
    { functionDeclarations: [{ name: "f", parameters: { type: "OBJECT", properties: { a: { type: "STRING" } } } }] },
  ],
  generationConfig: {
    topP: 0.5,
    responseMimeType: "application/json",
    responseSchema: { type: "ARRAY", items: { anyOf: [{ type: "STRING" }] } },
    thinkingConfig: { thinkingBudget: 128 },
  },
  safetySettings: [{ category: "HARM_CATEGORY_HARASSMENT", threshold: "OFF" }],
};

const subjects: Record<string, Subject> = {
  chat: {
    check: checkChatRequest,
    schema: ChatRequest,
    sample: {
      model: "acme/one",
      messages: [
        { role: "system", content: "a" },
        { role: "user", content: [{ type: "image_url", image_url: { url: "https://a", detail: "low" } }] },
        { role: "assistant", tool_calls: [{ id: "c", type: "function", function: { name: "f", arguments: "{}" } }] },
        { role: "tool", tool_call_id: "c", content: "b" },
      ],
      tools: [{ type: "function", function: { name: "f", parameters: { type: "object" } } }],
      tool_choice: { type: "function", function: { name: "f" } },
      stop: ["a"],
      logit_bias: { 5: 1 },
      response_format: { type: "json_schema", json_schema: { name: "n", schema: {} } },
      provider: { type: "priority" },
    },
  },
  messages: { check: checkMessagesRequest, schema: MessagesRequest, sample: messages },
  "messages count": { check: checkCountTokensRequest, schema: CountTokensRequest, sample: messages },
  genai: { check: checkGenerateContentRequest, schema: GenerateContentRequest, sample: genai },
  "genai count": {
    check: checkGenaiCountTokensRequest,
    schema: GenaiCountTokensRequest,
    sample: { generateContentRequest: genai },
  },
};

type Step = string | number;

/** Every place inside a JSON value, as the steps that lead there. */
function positionsIn(value: unknown, steps: Step[] = []): Step[][] {
  if (typeof value !== "object" || value === null) return [steps];
  return [steps, ...Object.entries(value).flatMap(([key, child]) => positionsIn(child, [...steps, key]))];
}

function replaced(value: unknown, [step, ...rest]: Step[], replacement: unknown): unknown {
  if (step === undefined) return replacement;
  const copy = structuredClone(value) as Record<Step, unknown>;
  copy[step] = replaced(copy[step], rest, replacement);
  return copy;
}

describe.each(Object.entries(subjects))("%s", (_, { check, schema, sample }) => {
  const refusal = (body: unknown) => refusalOf(check, body, AT_DROPIN_DOOR);

  test("accepts its sample", () => {
    expect(refusal(sample)?.message).toBeUndefined();
  });

  test("throws only GatewayErrors for arbitrary JSON", () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 6 }), (body) => {
        expect(refusal(body)?.kind ?? "invalid_request").toBe("invalid_request");
      }),
      { numRuns: 300 },
    );
  });

  test("the compiled check and the explanation agree on a sample with one wrong value", () => {
    const position = fc.constantFrom(...positionsIn(sample));
    fc.assert(
      fc.property(position, fc.jsonValue({ maxDepth: 3 }), (steps, replacement) => {
        const body = replaced(sample, steps, replacement);
        const refused = refusal(body);
        const mismatch = explainMismatch(schema as SchemaNode, withoutNulls(schema as SchemaNode, body));
        if (refused === undefined) expect(mismatch).toBeUndefined();
        else expect(refused.message).not.toContain("The request body is not valid");
        // A name in another case is rejected before the schema is checked (S15).
        const folded = refused?.message.endsWith("field names are case-sensitive.") === true;
        if (mismatch !== undefined && !folded) expect(refused?.path ?? "").toBe(mismatch.path);
      }),
      { numRuns: 600 },
    );
  });

  test("rejects nesting deeper than 200 levels, however deep and wherever it is", () => {
    for (const levels of [250, 200_000]) {
      for (const [open, close] of [
        ["[", "]"],
        ['{"items":', "}"],
      ] as const) {
        const deep: unknown = JSON.parse(`${open.repeat(levels)}1${close.repeat(levels)}`);
        expect(refusal({ ...sample, extra: deep })?.message).toContain("nested deeper than 200 levels");
        expect(refusal(deep)?.message).toContain("nested deeper than 200 levels");
      }
    }
    const fine: unknown = JSON.parse(`${"[".repeat(190)}1${"]".repeat(190)}`);
    expect(refusal({ ...sample, extra: fine })).toBeUndefined();
  });
});

describe("error messages", () => {
  const anything = { relations: () => {} };
  const says = (schema: TSchema, body: unknown) => {
    const check = defineCheck(schema, anything);
    return refusalOf((value, context) => check(value, context), body)?.message;
  };

  test("describe the whole body if it is not an object", () => {
    const check = (body: unknown) => refusalOf(checkChatRequest, body, AT_DROPIN_DOOR);
    expect(check([])?.message).toBe("The request body must be an object; it is an array.");
    expect(check(null)?.path).toBeUndefined();
  });

  test("abbreviate a long value", () => {
    const message = says(Type.Object({ a: Type.Enum(["x"]) }), { a: "y".repeat(5000) });
    expect(message).toBe(`a must be "x"; it is "${"y".repeat(48)}…".`);
  });

  test("quote a key that is not a plain name", () => {
    const message = says(Type.Object({ map: Type.Record(Type.String(), Type.Number()) }), { map: { "a b": "c" } });
    expect(message).toBe('map["a b"] must be a number; it is "c".');
  });

  test("explain the alternative that matches deepest if there is no discriminator", () => {
    const choice = Type.Union([
      Type.Object({ a: Type.Object({ b: Type.Number() }) }),
      Type.Object({ c: Type.String() }),
    ]);
    expect(says(Type.Object({ choice }), { choice: { a: { b: "x" } } })).toBe(
      'choice.a.b must be a number; it is "x".',
    );
  });

  test("describe lengths and ranges", () => {
    expect(says(Type.Object({ a: Type.String({ minLength: 1 }) }), { a: "" })).toContain(
      "a non-empty string; it is empty",
    );
    expect(says(Type.Object({ a: Type.Number({ maximum: 3 }) }), { a: 4 })).toContain("a number of at most 3; it is 4");
    expect(says(Type.Object({ a: Type.Array(Type.Null(), { maxItems: 1 }) }), { a: [null, null] })).toContain(
      "an array of at most 1 item; it has 2 items",
    );
  });
});

test("a token count accepts any output limit, since it does not use it", () => {
  const thinking = { type: "enabled", budget_tokens: 2000 };
  const body = { ...messages, thinking, max_tokens: { toString: false } };
  expect(refusalOf(checkCountTokensRequest, body, AT_DROPIN_DOOR)).toBeUndefined();
});
