import { isObject, type JsonObject, stringAt } from "../../../base/json.ts";
import { withoutAbsent } from "../../../base/without-absent.ts";
import { Fields } from "../../../canon/fields.ts";
import type { Notes } from "../../../canon/notes.ts";
import { type Opaque, unwrapOpaque } from "../../../canon/opaque.ts";
import type { ReasoningPart } from "../../../canon/part.ts";
import { type ReasoningRequest, wantedAmount } from "../../../canon/reasoning.ts";
import type { ModelTraits } from "../../../canon/traits.ts";
import { effortOfWord, encodeEffort } from "../../request/effort-words.ts";
import type { ResponsesQuirks } from "../quirks.ts";

/** The origin of encrypted values that are unwrapped in this dialect. */
export const OWN_ORIGIN = "responses";

/** Between the texts of one reasoning item, which are paragraphs. */
export const PARAGRAPH = "\n\n";

const ID_MARK = "#";

/**
 * An encrypted value is bound to the id of its item (R10). The id travels as the value's format, after the same mark as in chat's details.
 */
const formatOfId = (id: string): string => ID_MARK + id;

/** The item's id in a value's format, if there is one. */
export function idOfFormat(format: string | undefined): string | undefined {
  const mark = format?.indexOf(ID_MARK) ?? -1;
  return format === undefined || mark < 0 ? undefined : format.slice(mark + 1) || undefined;
}

interface DecodedReasoning {
  desired?: ReasoningRequest;
  /** Members that exist only in this dialect. */
  rest?: JsonObject;
}

/** How much to think, and whether to show a summary. Unknown values stay in the rest. `updated`: an effort that replaces the request's. */
export function decodeReasoning(
  { reasoning }: JsonObject,
  updated?: { value: string; path: string },
): DecodedReasoning {
  const fields = new Fields(reasoning);
  const word = updated?.value ?? stringAt(reasoning, "effort");
  const amount = effortOfWord(word);
  if (word === undefined || amount !== undefined) fields.skip("effort");
  const summary = stringAt(reasoning, "summary") ?? stringAt(reasoning, "generate_summary");
  // Only this dialect has kinds of summaries.
  if (summary === undefined || summary === "auto") fields.skip("summary", "generate_summary");
  const rest = fields.rest();
  const left = rest === undefined ? {} : { rest };
  if (amount === undefined && summary === undefined) return left;
  const path = amount === undefined ? "reasoning.summary" : (updated?.path ?? "reasoning.effort");
  const show = summary === undefined ? {} : { show: true };
  return { ...left, desired: { ...withoutAbsent({ amount }), ...show, path } };
}

interface ReasoningTarget {
  quirks: ResponsesQuirks;
  traits: Pick<ModelTraits, "reasoning" | "efforts">;
}

/** Encodes the request for the target. A summary is requested if the client expects thoughts and may see them. */
export function encodeReasoning(
  desired: ReasoningRequest | undefined,
  { quirks, traits }: ReasoningTarget,
  notes: Notes,
): JsonObject {
  const amount = desired && wantedAmount(desired);
  if (desired === undefined || amount === undefined) return {};
  if (!traits.reasoning) {
    if (amount !== "off") notes.dropped(desired.path, "this model does not support thinking");
    return {};
  }
  const words = { known: traits.efforts ?? quirks.efforts, words: quirks.effortWords };
  // Without an effort, the model decides how much to think.
  const effort = amount === "dynamic" ? {} : { effort: encodeEffort(amount, desired.path, words, notes) };
  const shown = quirks.summaries && amount !== "off" && desired.show !== false;
  const reasoning = { ...effort, ...(shown ? { summary: "auto" } : {}) };
  return Object.keys(reasoning).length === 0 ? {} : { reasoning };
}

/** The source of a reasoning item, which determines the origin of its encrypted value. */
export interface ItemSource {
  /** The origin of an unwrapped value. */
  origin: string;
  /** In a client's request, values of other origins are wrapped. A provider's own values can have any form. */
  fromClient: boolean;
}

export const CLIENT_SOURCE: ItemSource = { origin: OWN_ORIGIN, fromClient: true };

/** The thoughts of an item if they are visible, or else their summary, and the encrypted value with the item's id. */
export function decodeReasoningItem(item: JsonObject, source: ItemSource): ReasoningPart {
  const whole = textsOf(item["content"]);
  const text = (whole.length > 0 ? whole : textsOf(item["summary"])).join(PARAGRAPH);
  const signature = decodeSealed(item, source);
  return {
    type: "reasoning",
    text,
    ...(whole.length === 0 && text !== "" ? { summary: true } : {}),
    ...withoutAbsent({ signature }),
  };
}

export function decodeSealed(item: JsonObject, { origin, fromClient }: ItemSource): Opaque | undefined {
  const value = stringAt(item, "encrypted_content");
  const id = stringAt(item, "id");
  if (!value) return undefined;
  const wrapped = fromClient ? unwrapOpaque(value) : undefined;
  if (wrapped !== undefined) return wrapped;
  return { origin, kind: "encrypted", value, ...(id ? { format: formatOfId(id) } : {}) };
}

export const textsOf = (list: unknown): string[] =>
  (Array.isArray(list) ? (list as unknown[]) : []).flatMap((part) =>
    isObject(part) ? stringAt(part, "text") || [] : [],
  );
