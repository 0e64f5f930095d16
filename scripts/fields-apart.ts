import { isObject } from "../src/base/json.ts";
import type { DialectName, UpstreamDialectName } from "../src/canon/dialect-name.ts";
import type { Member } from "./schema-paths.ts";

/** Fields that the gateway itself implements; they need not reach a provider. */
const GATEWAY: Readonly<Record<DialectName, readonly string[]>> = {
  chat: [
    "model",
    "stream",
    "stream_options",
    "usage",
    "provider",
    "model_routing_config",
    "trivium",
    "reasoning.exclude",
  ],
  messages: [
    "model",
    "stream",
    "thinking(enabled).display",
    "thinking(adaptive).display",
    "thinking(between_tools).display",
  ],
  genai: ["generationConfig.thinkingConfig.includeThoughts", "generationConfig.routingConfig"],
  responses: [
    "model",
    "stream",
    "stream_options",
    "store",
    "previous_response_id",
    "conversation",
    "conversation.id",
    "background",
    "metadata",
    "client_metadata",
    "provider",
    "model_routing_config",
    "trivium",
  ],
  interactions: [
    "model",
    "stream",
    "store",
    "previous_interaction_id",
    "background",
    "generation_config.thinking_summaries",
    "provider",
    "model_routing_config",
    "trivium",
  ],
};

interface Tag {
  dialect?: DialectName;
  /** The only dialect of a provider for which this is true. Absent: it is true for all of them. */
  target?: UpstreamDialectName;
  fits: (member: Member) => boolean;
  because: string;
}

const isAt = (schemaPath: RegExp) => (member: Member) => schemaPath.test(member.schemaPath);

/** Fields without a meaning of their own, each with the reason why it can be left out. */
const TAGS: readonly Tag[] = [
  {
    fits: ({ schemaPath, nodes }) =>
      /\.(type|role)$/.test(schemaPath) && nodes.length > 0 && nodes.every(({ enum: words }) => words === undefined),
    because: "It names the kind of an object; the object sent to the provider has the corresponding kind.",
  },
  {
    dialect: "chat",
    fits: ({ path }) => /(allowed_tools\.tools\[\d+\]|user_location|cache_control)\.type$/.test(path),
    because: "It also names a kind, inside an object that the schema leaves open.",
  },
  {
    dialect: "chat",
    fits: isAt(/reasoning_details\[\]\.index$/),
    because: "It numbers the entries of a list that is already ordered.",
  },
  {
    dialect: "chat",
    fits: isAt(/^messages\[tool\]\.name$/),
    because: "It repeats the name in the tool call that the message responds to.",
  },
  {
    dialect: "chat",
    fits: isAt(/json_schema\.name$/),
    because: "It labels a schema; the form of the response does not depend on it.",
  },
  {
    dialect: "chat",
    fits: isAt(/json_schema\.strict$/),
    because: "Targets of other dialects that accept a schema enforce it for every response.",
  },
  { dialect: "chat", fits: isAt(/^n$/), because: "Contract 2.12 accepts only 1, which is also the default." },
  {
    dialect: "chat",
    fits: isAt(/^response_format\(text\)$/),
    because: "Text is the default form of a response.",
  },
  {
    dialect: "messages",
    fits: isAt(/^thinking\(disabled\)$/),
    because: "Nothing is sent to a model that thinks only on request.",
  },
  {
    dialect: "messages",
    fits: ({ schemaPath, value }) =>
      schemaPath.endsWith("cache_control") && isObject(value) && value["ttl"] === undefined,
    because: "Targets that cache automatically need no mark, and without a time to live nothing is lost.",
  },
  {
    dialect: "genai",
    fits: ({ schemaPath, value }) => schemaPath === "contents[].role" && value === "function",
    because: "It is another name for user turns that contain function results.",
  },
  {
    dialect: "genai",
    target: "interactions",
    fits: isAt(/^contents\[\]\.role$/),
    because: "Calls and results are steps of their own kind there, whoever's turn holds them.",
  },
  {
    dialect: "genai",
    fits: isAt(/functionResponse\.name$/),
    because: "It repeats the name in the call that it responds to.",
  },
  {
    dialect: "genai",
    fits: ({ path }) => /functionCall\.(partialArgs\[\d+\]\.)?willContinue$/.test(path),
    because: "It describes how a call was streamed; the whole call is sent.",
  },
  {
    dialect: "genai",
    fits: isAt(/(fileData|inlineData)\.mimeType$/),
    because: "It names the type of a file; the file is sent, and its bytes show the exact type.",
  },
  {
    dialect: "genai",
    fits: isAt(/^generationConfig\.logprobs$/),
    because: "It has no effect without responseLogprobs, which is the field that the receipt names.",
  },
  {
    dialect: "responses",
    fits: isAt(/^text\.format(\(text\)|\(json_schema\)\.(name|strict))?$/),
    because:
      "Text is the default form; a name only labels a schema, and targets that accept a schema enforce it for every response.",
  },
  {
    dialect: "responses",
    fits: isAt(/output_text\]\.logprobs$/),
    because: "Alternatives to the generated tokens are not part of the conversation.",
  },
  {
    dialect: "responses",
    fits: isAt(/^input\[[^\]]*\]\.(id|status)$/),
    because: "It labels a stored item; calls and their outputs are connected by call_id.",
  },
  {
    dialect: "responses",
    fits: ({ path }) =>
      /(user_location|^tool_choice\.tools\[\d+\]|annotations\[\d+\]|summary\[\d+\]|content\[\d+\])\.type$/.test(path),
    because: "It names a kind, which is evident from what is sent.",
  },
  {
    dialect: "interactions",
    fits: isAt(/^input.*\.mime_type$/),
    because: "It names the type of a file; the file is sent, and its bytes show the exact type.",
  },
  {
    dialect: "interactions",
    fits: ({ path }) => path === "response_mime_type" || path === "response_format.mime_type",
    because: "A schema is always one of JSON.",
  },
  {
    dialect: "interactions",
    fits: isAt(/function_result\]\.name$/),
    because: "It repeats the name in the call that it responds to.",
  },
];

export function meaningOf(dialect: DialectName, member: Member): "gateway" | "tag" | undefined {
  const { schemaPath } = member;
  if (GATEWAY[dialect].some((field) => schemaPath === field || schemaPath.startsWith(`${field}.`))) return "gateway";
  return isTagAt(dialect, member, undefined) ? "tag" : undefined;
}

/** Whether a field has no meaning of its own: to providers of one dialect, or to all if there is none. */
export const isTagAt = (dialect: DialectName, member: Member, target: UpstreamDialectName | undefined): boolean =>
  TAGS.some((tag) => (tag.dialect ?? dialect) === dialect && tag.target === target && tag.fits(member));
