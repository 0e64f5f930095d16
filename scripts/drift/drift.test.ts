import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { explain, LISTED_EXCEPTIONS } from "./explain.ts";
import { type Facts, type Kind, keyOf, type Vendor } from "./fact.ts";
import { readTypeScriptFacts } from "./read-facts.ts";

const MODULES = join(import.meta.dir, "../../node_modules");
const RESPONSES = "openai/resources/responses/responses.d.ts";
const MESSAGES = "@anthropic-ai/sdk/resources/beta/messages/messages.d.ts";
const GENAI = "@google/genai/dist/genai.d.ts";

const pinned = readTypeScriptFacts(MODULES);

const namesOf = (facts: Facts, vendor: Vendor, protocol: string, kind: Kind): string[] =>
  [...facts]
    .filter((fact) => fact.vendor === vendor && fact.protocol === protocol && fact.kind === kind)
    .map(({ name }) => name);

describe("decision 0098: the pinned SDKs", () => {
  test("H33, H34, decision 0083: declare nothing that is neither known nor explained", async () => {
    const { open } = explain((await pinned).facts, ["TypeScript"]);
    expect(open.map((fact) => `${keyOf(fact)} at ${[...fact.places].join(", ")}`)).toEqual([]);
  });

  test("declare every name that has an exception, and the gateway has not learnt it since", async () => {
    expect(explain((await pinned).facts, ["TypeScript"]).stale).toEqual([]);
  });

  test("have every type that is compared", async () => {
    expect((await pinned).missing).toEqual([]);
  });

  test.each<[Vendor, string, Kind, string[]]>([
    ["OpenAI", "responses", "tool", ["web_search", "image_generation", "mcp", "shell", "function"]],
    ["OpenAI", "responses", "tier", ["service_tier=priority", "service_tier=flex", "ttl=12h"]],
    ["OpenAI", "responses", "counter", ["input_tokens_details.cached_tokens", "tool_usage.web_search.num_requests"]],
    ["OpenAI", "responses", "item", ["web_search_call", "function_call", "reasoning", "mcp_call"]],
    ["OpenAI", "responses", "event", ["response.output_text.delta", "error"]],
    ["OpenAI", "responses", "stop", ["max_output_tokens"]],
    ["OpenAI", "chat", "tier", ["service_tier=flex"]],
    ["OpenAI", "chat", "counter", ["completion_tokens_details.reasoning_tokens"]],
    ["OpenAI", "chat", "content", ["image_url", "input_audio"]],
    ["OpenAI", "HTTP", "endpoint", ["POST /v1/responses", "GET /v1/models", "/v1/vector_stores"]],
    ["Anthropic", "messages", "tool", ["web_search_20250305", "code_execution_20250825", "bash_code_execution"]],
    ["Anthropic", "messages", "tier", ["speed=fast", "service_tier=priority", "service_tier=batch"]],
    ["Anthropic", "messages", "counter", ["server_tool_use.web_search_requests", "iterations.input_tokens"]],
    ["Anthropic", "messages", "content", ["thinking", "tool_result", "citations_delta"]],
    ["Anthropic", "messages", "event", ["message_start", "content_block_delta"]],
    ["Anthropic", "messages", "stop", ["end_turn", "pause_turn"]],
    ["Anthropic", "HTTP", "header", ["anthropic-beta", "anthropic-version", "request-id"]],
    ["Google", "genai", "tool", ["googleSearch", "googleMaps", "functionDeclarations"]],
    ["Google", "genai", "tier", ["serviceTier=flex", "trafficType=ON_DEMAND_OFFPEAK"]],
    ["Google", "genai", "counter", ["promptTokensDetails.AUDIO.tokenCount", "thoughtsTokenCount"]],
    ["Google", "genai", "content", ["inlineData", "functionCall"]],
    ["Google", "genai", "stop", ["MAX_TOKENS", "MALFORMED_FUNCTION_CALL"]],
    ["Google", "HTTP", "endpoint", ["{}:generateContent", "cachedContents"]],
  ])("%s %s: the %ss that everyone knows are found", async (vendor, protocol, kind, names) => {
    expect(namesOf((await pinned).facts, vendor, protocol, kind)).toEqual(expect.arrayContaining(names));
  });
});

/** Texts of an SDK's declarations, and what a later version might have instead. */
const ADDITIONS: Readonly<Record<string, readonly [from: string, to: string][]>> = {
  [RESPONSES]: [
    ["export type Tool = FunctionTool |", "export type Tool = { type: 'hologram_2027_01_01' } | FunctionTool |"],
    ["export type ServiceTier = 'auto' |", "export type ServiceTier = 'warp' | 'auto' |"],
    ["export interface ResponseUsage {", "export interface ResponseUsage {\n    dream_tokens: number;"],
    ["export type ResponseOutputItem =", "export type ResponseOutputItem = { type: 'dream' } |"],
    ["export type ResponseStreamEvent =", "export type ResponseStreamEvent = { type: 'response.dream.delta' } |"],
    ["reason?: 'max_output_tokens' |", "reason?: 'asleep' | 'max_output_tokens' |"],
  ],
  [MESSAGES]: [
    ["export type BetaToolUnion = BetaTool |", "export type BetaToolUnion = { type: 'dream_20270101' } | BetaTool |"],
    ["export interface BetaServerToolUsage {", "export interface BetaServerToolUsage {\n    dream_requests: number;"],
    [
      "export interface BetaCacheCreation {",
      "export interface BetaCacheCreation {\n    ephemeral_24h_input_tokens: number;",
    ],
    ["export type BetaContentBlock =", "export type BetaContentBlock = { type: 'dream' } |"],
    ["export interface BetaToolUseBlock {", "export interface BetaToolUseBlock {\n    dreamt: boolean;"],
    [
      "export interface MessageCreateParamsBase {",
      "export interface MessageCreateParamsBase {\n    dream?: { depth: number };",
    ],
  ],
  [GENAI]: [
    ["export declare interface Tool {", "export declare interface Tool {\n    oracle?: Oracle;"],
    ["export declare enum FinishReason {", 'export declare enum FinishReason {\n    ASLEEP = "ASLEEP",'],
    ["export declare enum MediaModality {", 'export declare enum MediaModality {\n    SMELL = "SMELL",'],
    ["export declare interface SafetySetting {", 'export declare interface SafetySetting {\n    dreams?: "NEVER";'],
  ],
};

test("decision 0098: additions to a copy of the SDKs are found, each as what it is", async () => {
  const edit = (file: string): string | undefined => {
    const changes = ADDITIONS[file.slice(MODULES.length + 1)];
    return changes?.reduce(
      (text, [from, to]) => {
        expect(text).toContain(from);
        return text.replace(from, to);
      },
      readFileSync(file, "utf8"),
    );
  };
  const { facts } = await readTypeScriptFacts(MODULES, edit);
  const { open } = explain(facts, ["TypeScript"]);
  expect(open.map(keyOf).sort()).toEqual([
    "Anthropic messages answer dreamt",
    "Anthropic messages content dream",
    "Anthropic messages counter cache_creation.ephemeral_24h_input_tokens",
    "Anthropic messages counter iterations.cache_creation.ephemeral_24h_input_tokens",
    "Anthropic messages counter server_tool_use.dream_requests",
    "Anthropic messages parameter dream",
    "Anthropic messages tool dream_20270101",
    "Google genai counter cacheTokensDetails.SMELL.tokenCount",
    "Google genai counter candidatesTokensDetails.SMELL.tokenCount",
    "Google genai counter promptTokensDetails.SMELL.tokenCount",
    "Google genai counter toolUsePromptTokensDetails.SMELL.tokenCount",
    "Google genai parameter dreams",
    "Google genai stop ASLEEP",
    "Google genai tool oracle",
    "OpenAI responses counter dream_tokens",
    "OpenAI responses event response.dream.delta",
    "OpenAI responses item dream",
    "OpenAI responses stop asleep",
    "OpenAI responses tier service_tier=warp",
    "OpenAI responses tool hologram_2027_01_01",
  ]);
});

describe("decision 0098: exceptions", () => {
  test("name each thing once", () => {
    const keys = LISTED_EXCEPTIONS.map(({ key }) => key);
    expect(keys.filter((key, index) => keys.indexOf(key) !== index)).toEqual([]);
  });

  test("have reasons that are sentences", () => {
    for (const { reason } of LISTED_EXCEPTIONS) expect(reason).toMatch(/^[A-Z].{15,}\.$/);
  });
});
