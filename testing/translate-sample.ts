import { isObject, type JsonObject } from "../src/base/json.ts";
import { type DialectName, UPSTREAM_DIALECT_NAMES, type UpstreamDialectName } from "../src/canon/dialect-name.ts";
import type { MediaKind } from "../src/canon/part.ts";
import type { ModelTraits } from "../src/canon/traits.ts";
import type { EncodedRequest, EncodeRequestContext } from "../src/dialects/codec.ts";
import { DIALECTS, UPSTREAM_CODECS } from "../src/dialects/index.ts";
import { DEFAULT_QUIRKS } from "../src/dialects/quirks.ts";
import type { Door } from "../src/dialects/reading/check.ts";
import { resolveMedia } from "../src/relay/request/resolve-media.ts";
import { parseInOrder, stringifyInOrder } from "../src/wire/ordered-json.ts";

/** A model at a host: a dialect, and what a request to it depends on. */
export interface Target {
  name: string;
  dialect: UpstreamDialectName;
  context: EncodeRequestContext;
}

function target(name: string, dialect: UpstreamDialectName, traits: Omit<ModelTraits, "reasoning">): Target {
  const quirks = { ...DEFAULT_QUIRKS[dialect], mediaUrls: MEDIA_URLS[dialect] };
  const origin = dialect === "chat" ? "acme" : dialect === "converse" ? "messages" : dialect;
  const context = { upstreamModel: "model", stream: false, traits: { reasoning: true, ...traits }, quirks, origin };
  return { name, dialect, context };
}

/** Media that a typical host fetches itself; the gateway fetches the rest. */
const MEDIA_URLS: Readonly<Record<UpstreamDialectName, readonly MediaKind[]>> = {
  chat: ["image"],
  messages: ["image", "document"],
  genai: ["image", "document"],
  converse: [],
  responses: ["image", "document"],
  interactions: ["image", "document"],
};

const maxOutputTokens = 64_000;
const budget = { min: 1024, max: 63_999, off: true };

/** A usual model of a usual host of each dialect. */
export const TARGETS: Readonly<Record<UpstreamDialectName, Target>> = {
  chat: target("chat", "chat", {
    maxOutputTokens,
    reasoningForm: "effort",
    efforts: ["off", "minimal", "low", "medium", "high"],
  }),
  messages: target("messages", "messages", {
    maxOutputTokens,
    reasoningForm: "budget",
    budget,
    mediaInToolResults: true,
    structuredOutput: true,
    prefill: true,
  }),
  genai: target("genai", "genai", {
    maxOutputTokens,
    reasoningForm: "budget",
    budget: { min: 128, max: 24_576, off: true },
    structuredOutput: true,
  }),
  converse: target("converse", "converse", {
    maxOutputTokens,
    reasoningForm: "budget",
    budget,
    mediaInToolResults: true,
    prefill: true,
  }),
  responses: target("responses", "responses", {
    maxOutputTokens,
    reasoningForm: "effort",
    efforts: ["off", "minimal", "low", "medium", "high"],
  }),
  interactions: target("interactions", "interactions", {
    maxOutputTokens,
    reasoningForm: "level",
    efforts: ["minimal", "low", "medium", "high"],
    mediaInToolResults: true,
    structuredOutput: true,
  }),
};

/** Models with another form of reasoning request: requests with reasoning are translated for these too. */
export const REASONING_TARGETS: readonly Target[] = [
  target("messages-adaptive", "messages", {
    maxOutputTokens,
    reasoningForm: "adaptive",
    efforts: ["off", "low", "medium", "high", "xhigh", "max"],
    rejectsSampling: true,
    mediaInToolResults: true,
    structuredOutput: true,
    prefill: false,
  }),
  target("genai-levels", "genai", {
    maxOutputTokens,
    reasoningForm: "level",
    efforts: ["minimal", "low", "medium", "high"],
    demandsSignatures: true,
    mediaInToolResults: true,
    structuredOutput: true,
  }),
];

/** Models that search for tools and summarise, at hosts that do so: requests for it are translated for these too. */
export const CAPABLE_TARGETS: readonly Target[] = (["messages", "responses"] as const).map((dialect) => {
  const { context } = TARGETS[dialect];
  const able = { mcpServers: true, compaction: true };
  const traits = { ...context.traits, toolSearch: true, compaction: true };
  return {
    name: `${dialect}-capable`,
    dialect,
    context: { ...context, traits, quirks: { ...context.quirks, ...able } },
  };
});

export const EVERY_TARGET: readonly Target[] = UPSTREAM_DIALECT_NAMES.map((name) => TARGETS[name]);

/** The request in its normal form; throws if it violates the contract. */
export function checkedRequest(dialect: DialectName, text: string, door: Door): JsonObject {
  const parsed = JSON.parse(text) as JsonObject;
  const context = { door, model: { id: "acme/one", reasoning: true }, verb: "generate" } as const;
  const checked = DIALECTS[dialect].requests.check({ text, body: parsed }, context);
  const ordered = parseInOrder(checked.text, checked.body);
  return isObject(ordered) ? ordered : checked.body;
}

/** The request that is sent to the target. */
export async function translate(dialect: DialectName, body: JsonObject, to: Target): Promise<EncodedRequest> {
  const asked = DIALECTS[dialect].codec.decodeRequest(body);
  const call = await resolveMedia(asked, to.context.quirks, fetchNothing);
  return UPSTREAM_CODECS[to.dialect].encodeRequest(call, to.context);
}

/** JSON with the keys in the order in which they go over the wire. */
export const wireText = stringifyInOrder;

/** Stands in for the web: an image, a document or a text, by the suffix of the URL. */
function fetchNothing(url: string): Promise<{ bytes: Uint8Array<ArrayBuffer>; mimeType: string }> {
  const ending = /\.(jpg|mp3|mp4|pdf|txt)/.exec(new URL(url).pathname)?.[1] ?? "";
  const mimeType = MIME_TYPES[ending] ?? "image/png";
  return Promise.resolve({ bytes: new TextEncoder().encode(`what ${url} holds`), mimeType });
}

const MIME_TYPES: Readonly<Record<string, string>> = {
  jpg: "image/jpeg",
  mp3: "audio/mpeg",
  mp4: "video/mp4",
  pdf: "application/pdf",
  txt: "text/plain",
};
