import { describe, expect, test } from "bun:test";
import { GatewayError } from "../../canon/error.ts";
import { AT_CONTRACT_DOOR, refusalOf } from "../reading/refusal-table.ts";
import { normaliseGenaiRequest } from "./normalise.ts";
import { checkGenerateContentRequest } from "./schema/check-request.ts";

const normal = (body: unknown) => normaliseGenaiRequest(body);
const part = (fields: object) => ({ contents: [{ role: "user", parts: [fields] }] });
const config = (generationConfig: object) => ({ generationConfig });

/** A request as the Python client sends it (sdks 1.2), with URL-safe base64. */
const PYTHON_BODY = `{"contents":[{"parts":[{"inlineData":{"data":"-__-_---AQ==","mime_type":"image/png"}},{"fileData":{"file_uri":"https://x/y.mp4","mime_type":"video/mp4"},"videoMetadata":{"end_offset":"2s","fps":1,"start_offset":"1s"}}],"role":"user"},{"parts":[{"functionResponse":{"parts":[{"inline_data":{"mime_type":"image/png","data":"YWJj"}}],"id":"c1","name":"f","response":{"out_put":1}}}],"role":"user"}],"toolConfig":{"functionCallingConfig":{"allowed_function_names":["f"],"mode":"ANY"}},"generationConfig":{"thinkingConfig":{"include_thoughts":true,"thinking_budget":128},"speechConfig":{"voiceConfig":{"prebuiltVoiceConfig":{"voice_name":"Kore"}}},"responseMimeType":"application/json","responseSchema":{"property_ordering":["first_name"],"properties":{"first_name":{"type":"STRING","max_length":9,"any_of":[{"type":"STRING"}]}},"type":"OBJECT"}}}`;

describe("sdks 1.2: the Python client's body", () => {
  test("becomes camelCase with standard base64, and keeps its user data and key order", () => {
    const body = normaliseGenaiRequest(JSON.parse(PYTHON_BODY));
    expect(JSON.stringify(body)).toBe(
      PYTHON_BODY.replaceAll("mime_type", "mimeType")
        .replace("file_uri", "fileUri")
        .replace("end_offset", "endOffset")
        .replace("start_offset", "startOffset")
        .replace("inline_data", "inlineData")
        .replace("allowed_function_names", "allowedFunctionNames")
        .replace("include_thoughts", "includeThoughts")
        .replace("thinking_budget", "thinkingBudget")
        .replace("voice_name", "voiceName")
        .replace("property_ordering", "propertyOrdering")
        .replace("max_length", "maxLength")
        .replace("any_of", "anyOf")
        .replace("-__-_---AQ==", "+//+/+++AQ=="),
    );
  });

  test("passes the check only afterwards", () => {
    const check = (body: unknown) => checkGenerateContentRequest(body, AT_CONTRACT_DOOR);
    expect(refusalOf(check, normal(JSON.parse(PYTHON_BODY)))).toBeUndefined();
    expect(refusalOf(check, JSON.parse(PYTHON_BODY))?.path).toBe("contents[0].parts[0].inlineData.mimeType");
  });
});

test("a request that needs no change is returned as the same object", () => {
  const body = {
    contents: [
      {
        role: "user",
        parts: [{ text: "snake_case in text" }, { inlineData: { mimeType: "image/png", data: "AA==" } }],
      },
    ],
    tools: [{ functionDeclarations: [{ name: "my_tool", parameters: { type: "OBJECT" } }] }],
  };
  expect(normaliseGenaiRequest(body)).toBe(body);
  expect(normal(body)).toBe(body);
});

test("the original request is not modified, and unchanged parts are shared", () => {
  const body = { contents: [{ role: "user", parts: [{ text: "a" }] }], generation_config: { top_k: 3 } };
  const before = JSON.stringify(body);
  const after = normal(body) as Record<string, unknown>;
  expect(JSON.stringify(body)).toBe(before);
  expect(after).toEqual({ contents: body.contents, generationConfig: { topK: 3 } });
  expect(after["contents"]).toBe(body.contents);
});

describe("user data keeps its keys", () => {
  const kept: [string, object][] = [
    ["functionCall.args", part({ functionCall: { name: "f", args: { user_id: { deep_key: 1 } } } })],
    ["functionResponse.response", part({ functionResponse: { name: "f", response: { out_put: 1 } } })],
    ["labels", { labels: { my_team: "a_b" } }],
    ["responseJsonSchema", config({ responseJsonSchema: { properties: { a_b: { any_of: 1 } } } })],
    ["parametersJsonSchema", { tools: [{ functionDeclarations: [{ name: "f", parametersJsonSchema: { a_b: 1 } }] }] }],
    [
      "keys of Schema.properties",
      config({ responseSchema: { type: "OBJECT", properties: { user_id: { type: "STRING" } } } }),
    ],
    ["Schema.enum and default", config({ responseSchema: { type: "STRING", enum: ["a_b"], default: { a_b: 1 } } })],
    [
      "the gateway's own fields",
      { provider: { primary_factor: "cost" }, model_routing_config: { available_models: [] } },
    ],
  ];
  test.each(kept)("%s", (_, body) => {
    expect(normal(body)).toBe(body);
  });
});

describe("one spelling for each value", () => {
  const schema = (value: object) => config({ responseSchema: value });
  const cases: [string, object, object][] = [
    [
      "enum case of thinkingLevel",
      config({ thinkingConfig: { thinkingLevel: "low" } }),
      config({ thinkingConfig: { thinkingLevel: "LOW" } }),
    ],
    [
      "enum case in arrays",
      config({ responseModalities: ["Text", "image"] }),
      config({ responseModalities: ["TEXT", "IMAGE"] }),
    ],
    [
      "Schema.type",
      schema({ type: "array", items: { type: "string" } }),
      schema({ type: "ARRAY", items: { type: "STRING" } }),
    ],
    ["oneOf is read as anyOf", schema({ oneOf: [{ type: "STRING" }] }), schema({ anyOf: [{ type: "STRING" }] })],
    [
      "tool mode",
      { tool_config: { function_calling_config: { mode: "auto" } } },
      { toolConfig: { functionCallingConfig: { mode: "AUTO" } } },
    ],
    [
      "safety settings",
      { safetySettings: [{ category: "harm_category_harassment", threshold: "off" }] },
      { safetySettings: [{ category: "HARM_CATEGORY_HARASSMENT", threshold: "OFF" }] },
    ],
    ["role", { contents: [{ role: "USER", parts: [] }] }, { contents: [{ role: "user", parts: [] }] }],
    [
      "mediaResolution of a part, as a word",
      part({ text: "a", media_resolution: "high" }),
      part({ text: "a", mediaResolution: { level: "MEDIA_RESOLUTION_HIGH" } }),
    ],
    [
      "mediaResolution of a part, as an object",
      part({ text: "a", mediaResolution: { level: "LOW" } }),
      part({ text: "a", mediaResolution: { level: "MEDIA_RESOLUTION_LOW" } }),
    ],
    [
      "mediaResolution of the request",
      config({ mediaResolution: "medium" }),
      config({ mediaResolution: "MEDIA_RESOLUTION_MEDIUM" }),
    ],
    [
      "options of the image file",
      config({ imageConfig: { outputMimeType: "image/jpeg", imageSize: "2K", outputCompressionQuality: 80 } }),
      config({
        imageConfig: { imageSize: "2K", imageOutputOptions: { mimeType: "image/jpeg", compressionQuality: 80 } },
      }),
    ],
    [
      "a signature in URL-safe base64",
      part({ text: "", thoughtSignature: "-_-_" }),
      part({ text: "", thoughtSignature: "+/+/" }),
    ],
    ["bytes without padding", part({ inlineData: { data: "_w" } }), part({ inlineData: { data: "/w==" } })],
    [
      "a nested request",
      { generate_content_request: { generation_config: { top_k: 1 } } },
      { generateContentRequest: { generationConfig: { topK: 1 } } },
    ],
  ];
  test.each(cases)("%s", (_, before, after) => {
    expect(normal(before)).toEqual(after);
    expect(normal(normal(before))).toEqual(after);
  });
});

test("H01: the documented placeholder for a signature is not treated as base64", () => {
  const body = part({ functionCall: { name: "f" }, thoughtSignature: "skip_thought_signature_validator" });
  expect(normal(body)).toBe(body);
});

describe("S15: a field in both spellings is rejected, wherever it is", () => {
  test.each([
    [{ generationConfig: {}, generation_config: {} }, "generation_config and generationConfig"],
    [config({ max_output_tokens: 9, maxOutputTokens: 9 }), "generationConfig.max_output_tokens and maxOutputTokens"],
    [
      part({ inlineData: { mimeType: "image/png", mime_type: "image/gif", data: "AA==" } }),
      "contents[0].parts[0].inlineData.mime_type and mimeType",
    ],
  ])("%j", (body, named) => {
    expect(() => normal(body)).toThrow(`${named} are two spellings of the same field; send only one.`);
    expect(() => normal(body)).toThrow(GatewayError);
  });

  test("but not a field together with its synonym", () => {
    const schema = config({ responseSchema: { oneOf: [{ type: "STRING" }], anyOf: [{ type: "STRING" }] } });
    expect(normal(schema)).toBe(schema);
  });
});

test("a field called __proto__ stays a field", () => {
  const body = JSON.parse('{"__proto__":{"polluted":true},"cached_content":"c"}');
  const after = normal(body) as Record<string, unknown>;
  expect(JSON.stringify(after)).toBe('{"__proto__":{"polluted":true},"cachedContent":"c"}');
  expect(after["polluted"]).toBeUndefined();
});

test("extreme nesting is rejected before the stack overflows", () => {
  const deep = JSON.parse(`${'{"items":'.repeat(100_000)}1${"}".repeat(100_000)}`);
  const run = () => normaliseGenaiRequest(config({ responseSchema: deep }));
  expect(run).toThrow(GatewayError);
  expect(run).toThrow("deeper than 200 levels");
});

test("values that are not objects are left to the check", () => {
  for (const body of [null, 7, "a", []]) expect(normaliseGenaiRequest(body)).toBe(body);
});
