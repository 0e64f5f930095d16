import { isObject } from "../src/base/json.ts";
import type { DialectName } from "../src/canon/dialect-name.ts";
import type { Member } from "./schema-paths.ts";

/** Fields that the gateway itself honours: none of them has to reach a provider. */
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
    "background",
    "metadata",
    "client_metadata",
    "provider",
    "model_routing_config",
    "trivium",
  ],
};

interface Tag {
  dialect?: DialectName;
  fits: (member: Member) => boolean;
  because: string;
}

const isAt = (schemaPath: RegExp) => (member: Member) => schemaPath.test(member.schemaPath);

/** Fields that say nothing by themselves, each with the reason why it is none to be missed. */
const TAGS: readonly Tag[] = [
  {
    fits: ({ schemaPath, nodes }) =>
      /\.(type|role)$/.test(schemaPath) && nodes.length > 0 && nodes.every(({ enum: words }) => words === undefined),
    because: "It tells the kind of an object, and the object that goes up is of a kind that tells the same.",
  },
  {
    dialect: "chat",
    fits: ({ path }) => /(allowed_tools\.tools\[\d+\]|user_location|cache_control)\.type$/.test(path),
    because: "Inside objects that the schema leaves open, it is such a word for a kind too.",
  },
  {
    dialect: "chat",
    fits: isAt(/reasoning_details\[\]\.index$/),
    because: "It counts the entries of a list that has an order of its own.",
  },
  {
    dialect: "chat",
    fits: isAt(/^messages\[tool\]\.name$/),
    because: "It repeats the name that stands in the call which the message answers.",
  },
  {
    dialect: "chat",
    fits: isAt(/json_schema\.name$/),
    because: "It labels a schema; the form of the answer does not depend on it.",
  },
  {
    dialect: "chat",
    fits: isAt(/json_schema\.strict$/),
    because: "Targets of the other dialects that take a schema hold every answer to it.",
  },
  { dialect: "chat", fits: isAt(/^n$/), because: "Contract 2.12 takes 1 only, and 1 is what there is without it." },
  {
    dialect: "chat",
    fits: isAt(/^response_format\(text\)$/),
    because: "Text is the form that an answer has without it.",
  },
  {
    dialect: "messages",
    fits: isAt(/^thinking\(disabled\)$/),
    because: "A model that thinks only on request is sent nothing.",
  },
  {
    dialect: "messages",
    fits: ({ schemaPath, value }) =>
      schemaPath.endsWith("cache_control") && isObject(value) && value["ttl"] === undefined,
    because: "Targets that cache by themselves need no mark, and nothing is lost where it asked for no time to live.",
  },
  {
    dialect: "genai",
    fits: ({ schemaPath, value }) => schemaPath === "contents[].role" && value === "function",
    because: "It is another word for the user's turns that hold results of functions.",
  },
  {
    dialect: "genai",
    fits: isAt(/functionResponse\.name$/),
    because: "It repeats the name that stands in the call which it answers.",
  },
  {
    dialect: "genai",
    fits: ({ path }) => /functionCall\.(partialArgs\[\d+\]\.)?willContinue$/.test(path),
    because: "It tells how a call was streamed, and the whole call goes up.",
  },
  {
    dialect: "genai",
    fits: isAt(/(fileData|inlineData)\.mimeType$/),
    because: "It tells the kind of a file, which goes up; what exactly it is, the file says itself.",
  },
  {
    dialect: "genai",
    fits: isAt(/^generationConfig\.logprobs$/),
    because: "It means nothing without responseLogprobs, which is the field that a receipt names.",
  },
  {
    dialect: "responses",
    fits: isAt(/^text\.format(\(text\)|\(json_schema\)\.(name|strict))?$/),
    because:
      "Text is the form that an answer has without it; a name labels a schema, and targets that take one hold every answer to it.",
  },
  {
    dialect: "responses",
    fits: isAt(/output_text\]\.logprobs$/),
    because: "What the model might have said instead is no part of what it said.",
  },
  {
    dialect: "responses",
    fits: isAt(/^input\[[^\]]*\]\.(id|status)$/),
    because: "It labels an item for whoever keeps it; calls and their outputs are connected by call_id.",
  },
  {
    dialect: "responses",
    fits: ({ path }) =>
      /(user_location|^tool_choice\.tools\[\d+\]|annotations\[\d+\]|summary\[\d+\]|content\[\d+\])\.type$/.test(path),
    because: "It is a word for a kind, which what goes up tells by itself.",
  },
];

export function meaningOf(dialect: DialectName, member: Member): "gateway" | "tag" | undefined {
  const { schemaPath } = member;
  if (GATEWAY[dialect].some((field) => schemaPath === field || schemaPath.startsWith(`${field}.`))) return "gateway";
  return TAGS.some((tag) => (tag.dialect ?? dialect) === dialect && tag.fits(member)) ? "tag" : undefined;
}
