import { isObject, type JsonObject, parseObject, stringAt } from "../../../base/json.ts";
import { carryNative } from "../../../canon/native-carrier.ts";
import { type Opaque, wrapOpaque } from "../../../canon/opaque.ts";
import type { MediaPart, NativePart, ServerToolCallPart, ServerToolResultPart } from "../../../canon/part.ts";
import { fitToolId, type ToolIdRule } from "../../../canon/tool-id.ts";
import { readQueries } from "../../answer/search-queries.ts";
import { type Carrier, wrapCarrier } from "../../request/carriers.ts";

export type ItemStatus = "in_progress" | "completed" | "incomplete";

/** Clients send ids back, and the vendor's endpoint refuses longer ones from then on (R9). */
const CALL_ID: ToolIdRule = { pattern: /^[^\n]{1,64}$/, make: (seed) => `call_${seed}` };

export const messageItem = (id: string, content: readonly JsonObject[], status: ItemStatus): JsonObject => ({
  id,
  type: "message",
  status,
  role: "assistant",
  content,
});

export const textPart = (text: string, annotations: readonly JsonObject[], logprobs: unknown): JsonObject => ({
  type: "output_text",
  text,
  annotations,
  logprobs,
});

export const refusalPart = (refusal: string): JsonObject => ({ type: "refusal", refusal });

export const summaryPart = (text: string): JsonObject => ({ type: "summary_text", text });

/** Some clients send back only thoughts with a value: thoughts that nobody has signed get this one where their host takes them. */
export const UNSIGNED: Opaque = { origin: "", kind: "text", value: "" };

/**
 * A thought, which has a value if it is signed. Its value is wrapped whoever made it: the item's id is told before the value comes, and one that the maker has bound
 * to another id would be refused (R10).
 */
export const reasoningItem = (id: string, text: string, signature: Opaque | undefined): JsonObject => ({
  id,
  type: "reasoning",
  summary: text === "" ? [] : [summaryPart(text)],
  ...(signature === undefined ? {} : { encrypted_content: wrapThought(text, signature) }),
});

/** A signature of nothing shown says that it is one of a thought: that of the call after it stands in an item of the same form. */
const wrapThought = (text: string, signature: Opaque): string =>
  text === "" && signature.kind === "signature"
    ? wrapCarrier({ position: "thought", signature })
    : wrapOpaque(signature);

/** A reasoning item that shows nothing, and that clients send back: a signature of something next to it (decision 0011). */
export const carrierItem = (id: string, carrier: Carrier): JsonObject => ({
  id,
  type: "reasoning",
  summary: [],
  encrypted_content: wrapCarrier(carrier),
});

/** The same for what another protocol's provider did by itself. */
export const nativeItem = (id: string, part: NativePart): JsonObject =>
  part.dialect === "responses" && typeof part.raw["type"] === "string"
    ? { ...part.raw, id: stringAt(part.raw, "id") || id }
    : { id, type: "reasoning", summary: [], encrypted_content: wrapOpaque(carryNative(part)) };

export interface CalledItem {
  id: string;
  callId: string;
  name: string;
  namespace?: string;
  custom: boolean;
}

export function callItem({ id, callId, name, namespace, custom }: CalledItem, input: string, status: ItemStatus) {
  return {
    id,
    type: custom ? "custom_tool_call" : "function_call",
    status,
    call_id: fitToolId(callId, CALL_ID),
    ...(namespace === undefined ? {} : { namespace }),
    name,
    [custom ? "input" : "arguments"]: input,
  };
}

/** The free text of a custom tool that the model was given as a function with one argument. */
export function freeTextOf(input: string): string {
  const values = Object.values(parseObject(input) ?? {});
  const [only] = values;
  return values.length === 1 && typeof only === "string" ? only : input;
}

/** A search with what it was for, and what it found. */
export function searchItem(id: string, call: ServerToolCallPart, found: ServerToolResultPart | undefined): JsonObject {
  const queries = readQueries(parseObject(call.input));
  const [query = ""] = queries;
  const result = found?.result;
  const failed = isObject(result) && "error" in result;
  const sources = result !== undefined && "pages" in result ? result.pages : [];
  return {
    id,
    type: "web_search_call",
    status: failed ? "failed" : "completed",
    action: {
      type: "search",
      query,
      queries: queries.length === 0 ? [query] : queries,
      sources: sources.map(({ url }) => ({ type: "url", url })),
    },
  };
}

/** An image of the model's; undefined for media that have no place in an answer. */
export function imageItem(id: string, { kind, source }: MediaPart): JsonObject | undefined {
  if (kind !== "image" || source.type !== "data") return undefined;
  const format = source.mimeType.replace(/^image\//, "");
  return { id, type: "image_generation_call", status: "completed", output_format: format, result: source.data };
}
