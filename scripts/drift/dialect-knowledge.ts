import type { JsonObject } from "../../src/base/json.ts";
import type { BillingTable } from "../../src/canon/billable.ts";
import { termOf } from "../../src/canon/terms.ts";
import { type KnownCounters, unknownCounters } from "../../src/dialects/answer/unknown-counters.ts";
import { KNOWN_COUNTERS as CHAT_COUNTERS } from "../../src/dialects/chat/answer/known-counters.ts";
import * as chatStops from "../../src/dialects/chat/answer/stop-reason.ts";
import { chat } from "../../src/dialects/chat/index.ts";
import { ChatRequest } from "../../src/dialects/chat/schema/request.ts";
import type { Dialect } from "../../src/dialects/dialect.ts";
import { KNOWN_COUNTERS as GENAI_COUNTERS } from "../../src/dialects/genai/answer/known-counters.ts";
import * as genaiStops from "../../src/dialects/genai/answer/stop-reason.ts";
import { genai } from "../../src/dialects/genai/index.ts";
import { GenerateContentRequest } from "../../src/dialects/genai/schema/request.ts";
import { HostedToolUses as InteractionToolUses } from "../../src/dialects/interactions/answer/hosted-tool-uses.ts";
import { KNOWN_COUNTERS as INTERACTIONS_COUNTERS } from "../../src/dialects/interactions/answer/known-counters.ts";
import * as interactionsStops from "../../src/dialects/interactions/answer/stop-reason.ts";
import { interactions } from "../../src/dialects/interactions/index.ts";
import { InteractionsRequest } from "../../src/dialects/interactions/schema/request.ts";
import { KNOWN_COUNTERS as MESSAGES_COUNTERS } from "../../src/dialects/messages/answer/known-counters.ts";
import { readPasses } from "../../src/dialects/messages/answer/read-passes.ts";
import { REQUESTS } from "../../src/dialects/messages/answer/server-tools.ts";
import * as messagesStops from "../../src/dialects/messages/answer/stop-reason.ts";
import { messages } from "../../src/dialects/messages/index.ts";
import { MessagesRequest } from "../../src/dialects/messages/schema/request.ts";
import { askedTerms } from "../../src/dialects/reading/priced-fields.ts";
import { HostedToolUses } from "../../src/dialects/responses/answer/hosted-tool-uses.ts";
import { KNOWN_COUNTERS as RESPONSES_COUNTERS } from "../../src/dialects/responses/answer/known-counters.ts";
import * as responsesStops from "../../src/dialects/responses/answer/stop-reason.ts";
import { responses } from "../../src/dialects/responses/index.ts";
import { ResponsesRequest } from "../../src/dialects/responses/schema/request.ts";
import { ANTHROPIC_BILLING } from "../../src/providers/billing/anthropic.ts";
import { GOOGLE_BILLING } from "../../src/providers/billing/google.ts";
import { OPENAI_BILLING } from "../../src/providers/billing/openai.ts";
import type { Knowledge } from "./knowledge.ts";
import { vocabularyOf } from "./vocabulary.ts";

/** Code that all dialects use. */
const SHARED = ["dialects/answer", "dialects/request", "dialects/reading/routing-fields.ts", "canon/reasoning.ts"];

const listsTool = (table: BillingTable, name: string): boolean =>
  table.tools.some(({ name: listed, match }) => listed === name || new RegExp(`^(?:${match ?? "$^"})$`).test(name));

/** Tools that the caller runs are no billables. */
const knowsTools = (dialect: Dialect, table: BillingTable, bodyWith: (tool: string) => object) => (name: string) =>
  listsTool(table, name) ||
  dialect.requests
    .billables({ tools: [bodyWith(name)] }, { betas: [] })
    .every((billable) => listsTool(table, billable.name));

/** Where responses report the terms that applied. */
const REPORTED = /^(?:service_?tier|speed|trafficType)$/i;

/** The terms that a field requests, as the dialect reads them, or that a response reports. */
const knowsTiers =
  ({ requests: { pricedFields } }: Dialect, { terms }: BillingTable) =>
  (field: string, word: string): boolean | undefined => {
    const holders = Object.keys(pricedFields).filter((name) => pricedFields[name]?.member === field);
    const isRead = field in pricedFields || holders.length > 0;
    if (!isRead && !REPORTED.test(field)) return undefined;
    const body = Object.fromEntries([[field, word], ...holders.map((holder) => [holder, { [field]: word }])]);
    const found = isRead ? askedTerms(body, pricedFields).map(({ name }) => name) : [termOf(word) ?? []].flat();
    return found.every((term) => terms.some(({ name }) => name === term));
  };

/** Asks the reader that bills a response, with a usage in which only this number is set. */
const knowsCounters =
  (known: KnownCounters) =>
  (path: string): boolean =>
    unknownCounters("usage", numberAt(path), known) === undefined;

const numberAt = (path: string): JsonObject =>
  path.split(".").reduceRight<unknown>((inner, step) => ({ [step]: inner }), 1) as JsonObject;

const vocabulary = (dialect: Dialect) => vocabularyOf([`dialects/${dialect.name}`, ...SHARED]);
const typed = (type: string) => ({ type });

const countsResponses = knowsCounters(RESPONSES_COUNTERS);
/** What the reader of a response makes of it: a number of uses, or an unknown counter. */
const countsToolUsage = (path: string): boolean => {
  const { unknown, ...counted } = HostedToolUses.in(numberAt(path)).addTo({}) ?? {};
  return unknown === undefined && Object.keys(counted).length > 0;
};
const countsMessages = knowsCounters(MESSAGES_COUNTERS);
const countsInteractions = knowsCounters(INTERACTIONS_COUNTERS);
/** The usage of a model that a tool called, which the item shows together with the model's name. */
const countsItemUsage = (path: string): boolean => {
  const [holder = "", counter = ""] = path.split(".");
  const usage = { model: "model", [counter]: 1 };
  return (
    HostedToolUses.in({ output: [{ type: "image_generation_call", [holder]: usage }] }).addTo({})?.unknown === undefined
  );
};

export const DIALECT_KNOWLEDGE: Readonly<
  Record<"chat" | "responses" | "messages" | "genai" | "interactions", Knowledge>
> = {
  chat: {
    schema: ChatRequest,
    vocabulary: vocabulary(chat),
    tool: knowsTools(chat, OPENAI_BILLING, typed),
    tier: knowsTiers(chat, OPENAI_BILLING),
    stop: (word) => chatStops.decodeStop(word).unified !== "other" || chatStops.isFailureWord(word),
    counter: knowsCounters(CHAT_COUNTERS),
  },
  responses: {
    schema: ResponsesRequest,
    vocabulary: vocabulary(responses),
    tool: knowsTools(responses, OPENAI_BILLING, typed),
    toolsOf: (item) => Object.keys(HostedToolUses.in({ output: [{ type: item }] }).addTo({})?.tools ?? {}),
    tier: knowsTiers(responses, OPENAI_BILLING),
    // Progress of a call is not content, but shows that a tool is at work.
    event: (type) => {
      const uses = new HostedToolUses();
      uses.follow(type);
      return Object.keys(uses.addTo({}) ?? {}).length > 0;
    },
    stop: (word) =>
      responsesStops.decodeStop({ status: "incomplete", incomplete_details: { reason: word } }, false).unified !==
      "other",
    counter: (path) => {
      if (path.startsWith("tool_usage.")) return countsToolUsage(path);
      return path.startsWith("svg_usage.") ? countsItemUsage(path) : countsResponses(path);
    },
  },
  messages: {
    schema: MessagesRequest,
    vocabulary: vocabulary(messages),
    tool: knowsTools(messages, ANTHROPIC_BILLING, typed),
    tier: knowsTiers(messages, ANTHROPIC_BILLING),
    stop: (word) => messagesStops.encodeStop(messagesStops.decodeStop(word)) === word,
    // The reader leaves this member to the table of tools.
    counter: (path) => {
      const [holder, name = ""] = path.split(".");
      return holder === "server_tool_use"
        ? name.endsWith(REQUESTS) && listsTool(ANTHROPIC_BILLING, name.slice(0, -REQUESTS.length))
        : countsMessages(path);
    },
    entry: (path, kind) =>
      path === "iterations" && readPasses({ iterations: [{ type: kind }] }, () => ({ input: 1 })).unknown === undefined,
  },
  genai: {
    schema: GenerateContentRequest,
    vocabulary: vocabulary(genai),
    kindsIn: { Part: "content", Tool: "tool" },
    tool: knowsTools(genai, GOOGLE_BILLING, (name) => ({ [name]: {} })),
    tier: knowsTiers(genai, GOOGLE_BILLING),
    stop: (word) => genaiStops.encodeStop(genaiStops.decodeStop(word), true) === word,
    counter: knowsCounters(GENAI_COUNTERS),
  },
  interactions: {
    schema: InteractionsRequest,
    vocabulary: vocabulary(interactions),
    tool: knowsTools(interactions, GOOGLE_BILLING, typed),
    toolsOf: (step) => Object.keys(InteractionToolUses.in({ steps: [{ type: step }] }).addTo({})?.tools ?? {}),
    tier: knowsTiers(interactions, GOOGLE_BILLING),
    stop: (status) =>
      interactionsStops.decodeStop({ status }, false).unified !== "other" ||
      interactionsStops.failureIn({ status }) !== undefined,
    // A step reports its share of the usage, and the usage so far. A counter of either is one of the whole.
    counter: (path) => countsInteractions(path.replace(/^(?:step|total)_usage\./, "")),
  },
};
