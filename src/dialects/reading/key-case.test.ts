import { expect, test } from "bun:test";
import { GatewayError } from "../../canon/error.ts";
import { ChatRequest } from "../chat/schema/request.ts";
import { GenerateContentRequest } from "../genai/schema/request.ts";
import { MessagesRequest } from "../messages/schema/request.ts";
import { readNamesOf, refuseMiscasedKeys } from "./key-case.ts";
import type { SchemaNode } from "./schema-node.ts";

const CHAT = readNamesOf(ChatRequest as unknown as SchemaNode, ["store"]);
const MESSAGES = readNamesOf(MessagesRequest as unknown as SchemaNode);
const GENAI = readNamesOf(GenerateContentRequest as unknown as SchemaNode);

test.each([
  [CHAT, { model: "a/b", Model: "c/d" }, "Model must be written model"],
  [CHAT, { MAX_TOKENS: 9 }, "MAX_TOKENS must be written max_tokens"],
  [CHAT, { N: 50 }, "N must be written n"],
  [CHAT, { "\u017ftream": true }, "must be written stream"],
  [CHAT, { "max_to\u212aens": 1 }, "must be written max_tokens"],
  [CHAT, { Store: true }, "Store must be written store"],
  [CHAT, { stream_options: { Include_Usage: false } }, "stream_options.Include_Usage must be written include_usage"],
  [
    CHAT,
    { response_format: { type: "json_schema", json_schema: { STRICT: true } } },
    "response_format.json_schema.STRICT",
  ],
  [
    MESSAGES,
    { thinking: { type: "enabled", Budget_tokens: 9 } },
    "thinking.Budget_tokens must be written budget_tokens",
  ],
  [
    GENAI,
    { generationConfig: { CandidateCount: 8 } },
    "generationConfig.CandidateCount must be written candidateCount",
  ],
  [GENAI, { generationConfig: { thinkingConfig: { thinkingbudget: 1 } } }, "thinkingConfig.thinkingbudget"],
])("S15: %#: a name that a case-insensitive host would read is rejected", (names, body, message) => {
  expect(() => refuseMiscasedKeys(body, names)).toThrow(message);
  expect(() => refuseMiscasedKeys(body, names)).toThrow(GatewayError);
});

test.each([
  [CHAT, { model: "a/b", messages: [{ role: "user", content: "a", Content: "b" }], x_vendor: 1, Überall: 1 }],
  [CHAT, { metadata: { Model: "mine" }, logit_bias: { N: 1 } }],
  [
    CHAT,
    { tools: [{ type: "function", function: { name: "f", parameters: { properties: { Type: {}, Name: {} } } } }] },
  ],
  [CHAT, { response_format: { type: "json_schema", json_schema: { name: "a", schema: { Type: "object" } } } }],
  [GENAI, { generationConfig: { responseSchema: { properties: { Type: {} } } } }],
  [CHAT, null],
  [CHAT, { stream_options: null, usage: 7, provider: [] }],
])("S15: %#: unknown names and the client's content pass", (names, body) => {
  refuseMiscasedKeys(body, names);
});
