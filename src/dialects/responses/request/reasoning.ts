import { isObject, type JsonObject, stringAt } from "../../../base/json.ts";
import { Fields } from "../../../canon/fields.ts";
import type { Notes } from "../../../canon/notes.ts";
import { type Opaque, unwrapOpaque } from "../../../canon/opaque.ts";
import type { ReasoningPart } from "../../../canon/part.ts";
import { type ReasoningRequest, wantedAmount } from "../../../canon/reasoning.ts";
import type { ModelTraits } from "../../../canon/traits.ts";
import { effortOfWord, encodeEffort } from "../../request/effort-words.ts";
import type { ResponsesQuirks } from "../quirks.ts";

/** The origin of sealed values that stand in this dialect as they are. */
export const OWN_ORIGIN = "responses";

/** Between the texts of one reasoning item, which are paragraphs. */
export const PARAGRAPH = "\n\n";

const ID_MARK = "#";

/** A sealed value is bound to the id of its item (R10): the id travels as the value's format, after a mark that chat's details share. */
const formatOfId = (id: string): string => ID_MARK + id;

/** The item's id in the format of a value, where there is one. */
export function idOfFormat(format: string | undefined): string | undefined {
  const mark = format?.indexOf(ID_MARK) ?? -1;
  return format === undefined || mark < 0 ? undefined : format.slice(mark + 1) || undefined;
}

interface DecodedReasoning {
  desired?: ReasoningRequest;
  /** Members that only this dialect knows. */
  rest?: JsonObject;
}

/** How much to think, and whether to show a summary of it. A word that is not known stays among the rest. */
export function decodeReasoning({ reasoning }: JsonObject): DecodedReasoning {
  const fields = new Fields(reasoning);
  const word = stringAt(reasoning, "effort");
  const amount = effortOfWord(word);
  if (word === undefined || amount !== undefined) fields.skip("effort");
  const summary = stringAt(reasoning, "summary") ?? stringAt(reasoning, "generate_summary");
  // Which kind of summary it should be, only this dialect can say.
  if (summary === undefined || summary === "auto") fields.skip("summary", "generate_summary");
  const rest = fields.rest();
  const left = rest === undefined ? {} : { rest };
  if (amount === undefined && summary === undefined) return left;
  const path = amount === undefined ? "reasoning.summary" : "reasoning.effort";
  const show = summary === undefined ? {} : { show: true };
  return { ...left, desired: { ...(amount === undefined ? {} : { amount }), ...show, path } };
}

interface ReasoningTarget {
  quirks: ResponsesQuirks;
  traits: Pick<ModelTraits, "reasoning" | "efforts">;
}

/** The request as the target takes it. A summary is asked for where the client wants thoughts, and may see them. */
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
  // Without a word the model thinks as much as it likes.
  const effort = amount === "dynamic" ? {} : { effort: encodeEffort(amount, desired.path, words, notes) };
  const shown = quirks.summaries && amount !== "off" && desired.show !== false;
  const reasoning = { ...effort, ...(shown ? { summary: "auto" } : {}) };
  return Object.keys(reasoning).length === 0 ? {} : { reasoning };
}

/** Where a reasoning item comes from, which decides whose its sealed value is. */
export interface ItemSource {
  /** Whose a value is that stands there as it is. */
  origin: string;
  /** A client's request: values of other origins stand there wrapped. What a host sends is its own in any form. */
  fromClient: boolean;
}

export const CLIENT_SOURCE: ItemSource = { origin: OWN_ORIGIN, fromClient: true };

/** The thoughts of an item as they are, where they are shown, else their summary; and the sealed value with the item's id. */
export function decodeReasoningItem(item: JsonObject, source: ItemSource): ReasoningPart {
  const whole = textsOf(item["content"]);
  const text = (whole.length > 0 ? whole : textsOf(item["summary"])).join(PARAGRAPH);
  const signature = decodeSealed(item, source);
  return {
    type: "reasoning",
    text,
    ...(whole.length === 0 && text !== "" ? { summary: true } : {}),
    ...(signature === undefined ? {} : { signature }),
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
