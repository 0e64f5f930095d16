import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Billable, BillingTable } from "../../src/canon/billable.ts";
import { termOf } from "../../src/canon/terms.ts";
import type { KnownCounters } from "../../src/dialects/answer/unknown-counters.ts";
import { KNOWN_COUNTERS as CHAT_COUNTERS } from "../../src/dialects/chat/answer/known-counters.ts";
import { chat } from "../../src/dialects/chat/index.ts";
import { KNOWN_COUNTERS as GENAI_COUNTERS } from "../../src/dialects/genai/answer/known-counters.ts";
import { genai } from "../../src/dialects/genai/index.ts";
import { KNOWN_COUNTERS as MESSAGES_COUNTERS } from "../../src/dialects/messages/answer/known-counters.ts";
import { ServerTools } from "../../src/dialects/messages/answer/server-tools.ts";
import { messages } from "../../src/dialects/messages/index.ts";
import { HostedToolUses } from "../../src/dialects/responses/answer/hosted-tool-uses.ts";
import { KNOWN_COUNTERS as RESPONSES_COUNTERS } from "../../src/dialects/responses/answer/known-counters.ts";
import { responses } from "../../src/dialects/responses/index.ts";
import { ANTHROPIC_BILLING } from "../../src/providers/billing/anthropic.ts";
import { GOOGLE_BILLING } from "../../src/providers/billing/google.ts";
import { OPENAI_BILLING } from "../../src/providers/billing/openai.ts";
import { OPENROUTER_BILLING } from "../../src/providers/billing/openrouter.ts";
import { X_AI_BILLING } from "../../src/providers/billing/x-ai.ts";
import { literals, TypeDefinitions } from "./type-definitions.ts";

const RESPONSES = "openai/resources/responses/responses.d.ts";
const COMPLETIONS = "openai/resources/chat/completions/completions.d.ts";
const USAGE = "openai/resources/completions.d.ts";
const MESSAGES = "@anthropic-ai/sdk/resources/messages/messages.d.ts";
const BETA_MESSAGES = "@anthropic-ai/sdk/resources/beta/messages/messages.d.ts";
const GENAI = "@google/genai/dist/genai.d.ts";

const lists = (table: BillingTable, name: string): boolean =>
  table.tools.some(({ name: listed, match }) => listed === name || new RegExp(`^(?:${match ?? "$^"})$`).test(name));
const listsTerm = (table: BillingTable, term: string): boolean => table.terms.some(({ name }) => name === term);

/** Parts of a request that no line of the table covers. */
function unlisted(table: BillingTable, billables: readonly Billable[]): string[] {
  return billables
    .filter(({ kind, name }) => !(kind === "tool" ? lists(table, name) : listsTerm(table, name)))
    .map(({ name }) => name);
}

/** The types of tools in a union of the definitions. */
const toolTypes = (types: TypeDefinitions, union: string): string[] =>
  types.unionOf(union).flatMap((member) => types.member(member, "type").flatMap(literals));

const unknownTools = (table: BillingTable, dialect: typeof responses, found: readonly string[]): string[] =>
  unlisted(table, dialect.requests.billables({ tools: found.map((type) => ({ type })) }, { betas: [] }));

/** Tiers, speeds and the like that are neither ordinary nor in the table. */
const unknownTerms = (table: BillingTable, words: readonly string[]): string[] =>
  words.flatMap((word) => termOf(word) ?? []).filter((term) => !listsTerm(table, term));

/** Counters of a usage that its dialect's reader does not know. `path`: their place below the usage. */
const unknownCounters = (types: TypeDefinitions, name: string, known: KnownCounters, path = ""): string[] => {
  const { counts, others = [] } = known;
  return types
    .membersOf(name, /\bnumber\b/)
    .filter((counter) => !counts.includes(path + counter) && !others.includes(path + counter))
    .filter(() => !others.includes(path.split(".")[0] ?? ""));
};

/** Tools that the usage of messages counts, and that the table does not have. */
const unlistedServerTools = (types: TypeDefinitions): string[] =>
  types
    .membersOf("BetaServerToolUsage")
    .map((counter) => counter.replace(/_requests$/, ""))
    .filter((name) => !lists(ANTHROPIC_BILLING, name));

describe("decision 0083: every tool of the vendors' SDKs is in the tables", () => {
  test("Responses", () => {
    const found = toolTypes(TypeDefinitions.of(RESPONSES), "Tool");
    expect(found).toEqual(expect.arrayContaining(["web_search", "image_generation", "mcp", "shell", "function"]));
    expect(unknownTools(OPENAI_BILLING, responses, found)).toEqual([]);
  });

  test("items of Responses that show them", () => {
    const types = TypeDefinitions.of(RESPONSES);
    const items = toolTypes(types, "ResponseOutputItem");
    expect(items).toEqual(expect.arrayContaining(["web_search_call", "code_interpreter_call", "function_call"]));
    const used = HostedToolUses.in({ output: items.map((type) => ({ type })) }).addTo({})?.tools ?? {};
    expect(Object.keys(used).filter((name) => !lists(OPENAI_BILLING, name))).toEqual([]);
  });

  test.each([
    [MESSAGES, "ToolUnion", "ServerToolUseBlock"],
    [BETA_MESSAGES, "BetaToolUnion", "BetaServerToolUseBlock"],
  ])("messages: %s", (path, union, block) => {
    const types = TypeDefinitions.of(path);
    const found = toolTypes(types, union);
    expect(found).toEqual(expect.arrayContaining(["web_search_20250305", "code_execution_20250825", "custom"]));
    expect(unknownTools(ANTHROPIC_BILLING, messages, found)).toEqual([]);
    const names = types.member(block, "name").flatMap(literals);
    expect(names).toContain("bash_code_execution");
    const used =
      ServerTools.in(names.map((name) => ({ type: "server_tool_use", name }))).addTo({}, undefined)?.tools ?? {};
    expect(Object.keys(used).filter((name) => !lists(ANTHROPIC_BILLING, name))).toEqual([]);
  });

  test("genai", () => {
    const found = TypeDefinitions.of(GENAI).membersOf("Tool");
    expect(found).toEqual(expect.arrayContaining(["googleSearch", "googleMaps", "functionDeclarations"]));
    const tools = found.map((name) => ({ [name]: {} }));
    expect(unlisted(GOOGLE_BILLING, genai.requests.billables({ tools }, {}))).toEqual([]);
  });

  test("chat: tools of any other kind are found, and none is in the SDK", () => {
    const types = TypeDefinitions.of(COMPLETIONS);
    const found = toolTypes(types, "ChatCompletionTool");
    expect(found.toSorted()).toEqual(["custom", "function"]);
    expect(chat.requests.billables({ tools: [{ type: "hologram" }] }, {})).toHaveLength(1);
  });
});

describe("decision 0083, H34: every term of the vendors' SDKs is in the tables", () => {
  test("service tiers of chat and Responses", () => {
    const tiers = literals(TypeDefinitions.of(RESPONSES).aliased("ServiceTier"));
    expect(tiers).toContain("priority");
    const ofChat = TypeDefinitions.of(COMPLETIONS)
      .member("ChatCompletionCreateParamsBase", "service_tier")
      .flatMap(literals);
    expect(ofChat).toContain("flex");
    expect(unknownTerms(OPENAI_BILLING, [...tiers, ...ofChat])).toEqual([]);
  });

  test("tiers and speeds of messages", () => {
    const types = TypeDefinitions.of(BETA_MESSAGES);
    const words = ["BetaUsage", "MessageCreateParamsBase"].flatMap((name) =>
      ["service_tier", "speed"].flatMap((member) => types.member(name, member).flatMap(literals)),
    );
    expect(words).toEqual(expect.arrayContaining(["priority", "batch", "fast", "standard_only"]));
    expect(unknownTerms(ANTHROPIC_BILLING, words)).toEqual([]);
  });

  test("tiers and kinds of traffic of genai", () => {
    const types = TypeDefinitions.of(GENAI);
    const words = [
      ...types.valuesOf("ServiceTier"),
      ...literals(types.aliased("ServiceTier_2")),
      ...types.valuesOf("TrafficType"),
    ];
    expect(words).toEqual(expect.arrayContaining(["flex", "deferred", "ON_DEMAND_OFFPEAK"]));
    expect(unknownTerms(GOOGLE_BILLING, words)).toEqual([]);
  });
});

describe("decision 0083, H33: every counter of the vendors' SDKs is read, or known not to be billed", () => {
  test("Responses and chat", () => {
    const types = TypeDefinitions.of(RESPONSES);
    expect(unknownCounters(types, "ResponseUsage", RESPONSES_COUNTERS)).toEqual([]);
    expect(types.membersOf("ToolUsage")).toEqual(expect.arrayContaining(["image_gen", "web_search"]));
    expect(types.membersOf("ToolUsage").filter((name) => !["image_gen", "web_search"].includes(name))).toEqual([]);
    const usage = TypeDefinitions.of(USAGE);
    expect(unknownCounters(usage, "CompletionUsage", CHAT_COUNTERS)).toEqual([]);
    expect(unknownCounters(usage, "PromptTokensDetails", CHAT_COUNTERS, "prompt_tokens_details.")).toEqual([]);
    expect(unknownCounters(usage, "CompletionTokensDetails", CHAT_COUNTERS, "completion_tokens_details.")).toEqual([]);
  });

  test("messages", () => {
    const types = TypeDefinitions.of(BETA_MESSAGES);
    expect(unknownCounters(types, "BetaUsage", MESSAGES_COUNTERS)).toEqual([]);
    expect(types.membersOf("BetaServerToolUsage")).toContain("web_search_requests");
    expect(unlistedServerTools(types)).toEqual([]);
    expect(unknownCounters(types, "BetaCacheCreation", MESSAGES_COUNTERS, "cache_creation.")).toEqual([]);
    expect(unknownCounters(types, "BetaOutputTokensDetails", MESSAGES_COUNTERS, "output_tokens_details.")).toEqual([]);
    const passes = types.unionOf("BetaIterationsUsage");
    expect(passes.length).toBeGreaterThan(2);
    for (const pass of passes) expect(unknownCounters(types, pass, MESSAGES_COUNTERS, "iterations.")).toEqual([]);
  });

  test("genai", () => {
    const types = TypeDefinitions.of(GENAI);
    expect(unknownCounters(types, "GenerateContentResponseUsageMetadata", GENAI_COUNTERS)).toEqual([]);
  });
});

describe("additions to a copy of an SDK's types are found", () => {
  const copyOf = (path: string, from: string, to: string) => {
    const text = readFileSync(join(import.meta.dir, "../../node_modules", path), "utf8");
    expect(text).toContain(from);
    return new TypeDefinitions(text.replace(from, to));
  };

  test("a tool", () => {
    const union = "export type Tool = FunctionTool |";
    const types = copyOf(
      RESPONSES,
      union,
      `export interface HologramTool { type: 'hologram_2027_01_01'; }\n${union} HologramTool |`,
    );
    expect(unknownTools(OPENAI_BILLING, responses, toolTypes(types, "Tool"))).toEqual(["hologram_2027_01_01"]);
    const beta = "export type BetaToolUnion = BetaTool |";
    const newer = copyOf(BETA_MESSAGES, beta, `export interface Dream { type: 'dream_20270101'; }\n${beta} Dream |`);
    expect(unknownTools(ANTHROPIC_BILLING, messages, toolTypes(newer, "BetaToolUnion"))).toEqual(["dream_20270101"]);
    const google = copyOf(
      GENAI,
      "export declare interface Tool {",
      "export declare interface Tool {\n    oracle?: Oracle;",
    );
    const tools = google.membersOf("Tool").map((name) => ({ [name]: {} }));
    expect(unlisted(GOOGLE_BILLING, genai.requests.billables({ tools }, {}))).toEqual(["oracle"]);
  });

  test("a tier, and a counter", () => {
    const tier = "export type ServiceTier = 'auto' |";
    const types = copyOf(RESPONSES, tier, `${tier} 'warp' |`);
    expect(unknownTerms(OPENAI_BILLING, literals(types.aliased("ServiceTier")))).toEqual(["warp"]);
    const usage = copyOf(
      BETA_MESSAGES,
      "export interface BetaServerToolUsage {",
      "export interface BetaServerToolUsage {\n    dream_requests: number;\n",
    );
    expect(unlistedServerTools(usage)).toEqual(["dream"]);
    const cache = copyOf(
      BETA_MESSAGES,
      "export interface BetaCacheCreation {",
      "export interface BetaCacheCreation {\n    ephemeral_24h_input_tokens: number;\n",
    );
    const found = unknownCounters(cache, "BetaCacheCreation", MESSAGES_COUNTERS, "cache_creation.");
    expect(found).toEqual(["ephemeral_24h_input_tokens"]);
  });
});

test("every line of the tables has its source and date", () => {
  const tables = [OPENAI_BILLING, ANTHROPIC_BILLING, GOOGLE_BILLING, X_AI_BILLING, OPENROUTER_BILLING];
  for (const { tools, terms } of tables) {
    for (const { source, date } of [...tools, ...terms]) {
      expect(source).not.toBe("");
      expect(date).toMatch(/^20\d\d-\d\d-\d\d$/);
    }
  }
});
