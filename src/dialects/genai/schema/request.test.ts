import { describe, expect, test } from "bun:test";
import { AT_CONTRACT_DOOR, type RefusalCase, refusalOf, testRefusals } from "../../reading/refusal-table.ts";
import { checkGenaiCountTokensRequest, checkGenerateContentRequest } from "./check-request.ts";

const sound = { contents: [{ role: "user", parts: [{ text: "Hello" }] }] };
const safety = (setting: object) => ({
  safetySettings: [{ category: "HARM_CATEGORY_HARASSMENT", threshold: "BLOCK_NONE", ...setting }],
});
const declare = (declaration: object) => ({ tools: [{ functionDeclarations: [declaration] }] });

const rows: RefusalCase[] = [
  {
    rule: "contract 2.6: contents is required",
    good: {},
    bad: { contents: undefined },
    path: "contents",
    says: "an array of at least 1 item; it is missing",
  },
  { rule: "an empty conversation", good: {}, bad: { contents: [] }, path: "contents", says: "it has 0 items" },
  {
    rule: "contract 2.6: role is user or model",
    good: { contents: [{ role: "model", parts: [{ text: "a" }] }] },
    bad: { contents: [{ role: "assistant", parts: [{ text: "a" }] }] },
    path: "contents[0].role",
    says: 'one of "user", "model"',
  },
  {
    rule: "contract 2.6: role may be left out, and function is known",
    good: { contents: [{ parts: [{ text: "a" }] }, { role: "function", parts: [{ text: "a" }] }] },
    bad: { contents: [{ role: 7, parts: [{ text: "a" }] }] },
    path: "contents[0].role",
    says: "it is 7",
  },
  {
    rule: "contract 2.6: parts is required",
    good: {},
    bad: { contents: [...sound.contents, { role: "user" }] },
    path: "contents[1].parts",
    says: "an array of at least 1 item; it is missing",
  },
  {
    rule: "contract 2.6: at least 1 part",
    good: {},
    bad: { contents: [{ role: "user", parts: [] }] },
    path: "contents[0].parts",
    says: "at least 1 item; it has 0 items",
  },
  {
    rule: "contract 2.6: cachedContent is a name",
    good: { cachedContent: "projects/p/locations/l/cachedContents/c" },
    bad: { cachedContent: {} },
    path: "cachedContent",
    says: "a string",
  },
  {
    rule: "contract 2.6: systemInstruction is a Content of any role",
    good: { systemInstruction: { role: "system", parts: [{ text: "Be brief." }] } },
    bad: { systemInstruction: "Be brief." },
    path: "systemInstruction",
    says: "an object",
  },
  {
    rule: "contract 2.6: one data field per part, in systemInstruction too",
    good: { systemInstruction: { parts: [{ text: "a" }] } },
    bad: { systemInstruction: { parts: [{ text: "a" }, { thought: true }] } },
    path: "systemInstruction.parts[1]",
    says: "must have exactly one of",
  },
  {
    rule: "contract 2.6: safety category",
    good: safety({ category: "HARM_CATEGORY_CIVIC_INTEGRITY" }),
    bad: safety({ category: "HARM_CATEGORY_RUDENESS" }),
    path: "safetySettings[0].category",
    says: '"HARM_CATEGORY_UNSPECIFIED", "HARM_CATEGORY_HATE_SPEECH"',
  },
  {
    rule: "contract 2.6: safety threshold",
    good: safety({ threshold: "OFF" }),
    bad: safety({ threshold: "BLOCK_SOME" }),
    path: "safetySettings[0].threshold",
    says: 'one of "OFF", "BLOCK_NONE", "BLOCK_ONLY_HIGH"',
  },
  {
    rule: "contract 2.6: threshold is required",
    good: safety({}),
    bad: safety({ threshold: undefined }),
    path: "safetySettings[0].threshold",
    says: "it is missing",
  },
  {
    rule: "contract 2.6: safety method",
    good: safety({ method: "SEVERITY" }),
    bad: safety({ method: "DICE" }),
    path: "safetySettings[0].method",
    says: 'one of "HARM_BLOCK_METHOD_UNSPECIFIED", "SEVERITY", "PROBABILITY"',
  },
  {
    rule: "choices 5: function declarations have names",
    good: declare({ name: "f", description: null, parametersJsonSchema: { type: "object" } }),
    bad: declare({ description: "d" }),
    path: "tools[0].functionDeclarations[0].name",
    says: "it is missing",
  },
  {
    rule: "contract 2.6: parameters are a Schema, at every level",
    good: declare({ name: "f", parameters: { type: "object", properties: { a: { type: "STRING" }, b: {} } } }),
    bad: declare({ name: "f", parameters: { type: "OBJECT", properties: { a: { items: { type: "tuple" } } } } }),
    path: "tools[0].functionDeclarations[0].parameters.properties.a.items.type",
    says: 'one of "STRING", "INTEGER", "NUMBER", "BOOLEAN", "ARRAY", "OBJECT"; it is "tuple"',
  },
  {
    rule: "choices 5: a kind of tool that is not listed",
    good: { tools: [{ retrieval: {} }] },
    bad: { tools: [{ googleSearch: {} }, { googleMaps: {} }] },
    path: "tools[1].googleMaps",
    says: "is not a supported kind of tool; use one of functionDeclarations, googleSearch",
  },
  {
    rule: "choices 5: built-in tools are objects",
    good: { tools: [{ googleSearch: {} }, { codeExecution: {} }, { urlContext: {} }] },
    bad: { tools: [{ googleSearch: true }] },
    path: "tools[0].googleSearch",
    says: "an object",
  },
  {
    rule: "choices 5: functionCallingConfig.mode",
    good: { toolConfig: { functionCallingConfig: { mode: "VALIDATED", allowedFunctionNames: ["f"] } } },
    bad: { toolConfig: { functionCallingConfig: { mode: "SOME" } } },
    path: "toolConfig.functionCallingConfig.mode",
    says: 'one of "AUTO", "ANY", "NONE", "VALIDATED"',
  },
  {
    rule: "choices 5: allowedFunctionNames is an array of strings",
    good: { toolConfig: { functionCallingConfig: {} } },
    bad: { toolConfig: { functionCallingConfig: { allowedFunctionNames: "f" } } },
    path: "toolConfig.functionCallingConfig.allowedFunctionNames",
    says: "an array of strings",
  },
];

describe("generateContent request", () => testRefusals(checkGenerateContentRequest, sound, rows));

describe("countTokens request", () => {
  const count = (body: unknown) => checkGenaiCountTokensRequest(body, AT_CONTRACT_DOOR);

  test("accepts contents, or the request that they would be sent with", () => {
    expect(refusalOf(count, sound)).toBeUndefined();
    expect(refusalOf(count, { generateContentRequest: { model: "models/one", ...sound } })).toBeUndefined();
    expect(refusalOf(count, { model: "models/one" })?.message).toContain("both are missing");
  });

  test("names the path inside the nested request", () => {
    const wrong = { generateContentRequest: { contents: [{ parts: [{ text: "a", fileData: { fileUri: "b" } }] }] } };
    expect(refusalOf(count, wrong)?.path).toBe("generateContentRequest.contents[0].parts[0]");
    const deeper = { generateContentRequest: { ...sound, generationConfig: { topP: 2 } } };
    expect(refusalOf(count, deeper)?.path).toBe("generateContentRequest.generationConfig.topP");
  });
});
