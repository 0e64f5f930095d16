import { isObject, type JsonObject, parseObject, stringAt } from "../../../base/json.ts";
import { withoutAbsent } from "../../../base/without-absent.ts";
import { type Opaque, wrapOpaque } from "../../../canon/opaque.ts";
import { carryNative } from "../../../canon/opaque-carriers.ts";
import type { MediaPart, NativePart, ServerToolCallPart, ServerToolResultPart } from "../../../canon/part.ts";
import { fitToolId, type ToolIdRule } from "../../../canon/tool-id.ts";
import { readQueries } from "../../answer/search-queries.ts";
import { type Carrier, wrapCarrier } from "../../request/carriers.ts";

export type ItemStatus = "in_progress" | "completed" | "incomplete";

/** Clients return ids, and the vendor's endpoint then rejects longer ones (R9). */
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

/** Some clients return only thoughts with a value. Unsigned thoughts get this one if their provider accepts them back. */
export const UNSIGNED: Opaque = { origin: "", kind: "text", value: "" };

/**
 * A thought, with a value if it is signed. The value is always wrapped: the item's id is sent before the value is known, and a value that
 * its creator bound to another id would be rejected (R10).
 */
export const reasoningItem = (id: string, text: string, signature: Opaque | undefined): JsonObject => ({
  id,
  type: "reasoning",
  summary: text === "" ? [] : [summaryPart(text)],
  ...(signature === undefined ? {} : { encrypted_content: wrapThought(text, signature) }),
});

/** A signature without visible text is marked as a thought's, because the signature of a following call uses the same kind of item. */
const wrapThought = (text: string, signature: Opaque): string =>
  text === "" && signature.kind === "signature"
    ? wrapCarrier({ position: "thought", signature })
    : wrapOpaque(signature);

/** A reasoning item that shows nothing and that clients return. It carries a signature of an adjacent item (decision 0011). */
export const carrierItem = (id: string, carrier: Carrier): JsonObject => ({
  id,
  type: "reasoning",
  summary: [],
  encrypted_content: wrapCarrier(carrier),
});

/** The same for blocks of another protocol's provider. */
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
    ...withoutAbsent({ namespace }),
    name,
    [custom ? "input" : "arguments"]: input,
  };
}

/** The free text of a custom tool that the model got as a function with one argument. */
export function freeTextOf(input: string): string {
  const values = Object.values(parseObject(input) ?? {});
  const [only] = values;
  return values.length === 1 && typeof only === "string" ? only : input;
}

/** A search with its queries and results. */
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

/** An image created by the model. Undefined for media that an answer cannot contain. */
export function imageItem(id: string, { kind, source }: MediaPart): JsonObject | undefined {
  if (kind !== "image" || source.type !== "data") return undefined;
  const format = source.mimeType.replace(/^image\//, "");
  return { id, type: "image_generation_call", status: "completed", output_format: format, result: source.data };
}
