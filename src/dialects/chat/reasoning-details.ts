import { isObject, type JsonObject, numberAt, stringAt } from "../../base/json.ts";
import type { Opaque } from "../../canon/opaque.ts";
import type { ReasoningPart } from "../../canon/part.ts";

/** Ids of details that belong to the answer's text instead of a tool call: to the text, or to an empty part after it. */
export const TEXT_ID = "content";
export const EMPTY_TEXT_ID = "content-end";
/** The id of a detail that carries a block of another dialect for its provider. */
export const NATIVE_ID = "native";

/** The origin of a value, by a detail's `format`. `id` is the detail's own, if it refers to nothing of ours. */
export type OriginReader = (format: string | undefined, id: string | undefined) => { origin: string; format?: string };

/** How a value's origin is written for a client or for the provider that created it. */
type OriginSpeller = (opaque: Opaque) => { format?: string; id?: string };

/** Clients get the gateway's name for the origin, and return it with the value. */
export const spellForClient: OriginSpeller = ({ origin, format }) => ({
  format: format === undefined ? origin : `${origin}:${format}`,
});

/** Names of aggregating hosts for the creators of values, which histories that began there contain. */
const CREATORS: ReadonlyMap<string, string> = new Map([
  ["anthropic-claude-v1", "messages"],
  ["openai-responses-v1", "responses"],
  ["google-gemini-v1", "genai"],
]);

export const readFromClient: OriginReader = (format) => {
  const creator = CREATORS.get(format ?? "");
  return creator === undefined ? readOwnFormat(format ?? "") : { origin: creator };
};

/** The gateway's own name for an origin. */
export function readOwnFormat(word: string): { origin: string; format?: string } {
  const [origin = "", ...rest] = word.split(":");
  return rest.length === 0 ? { origin } : { origin, format: rest.join(":") };
}

/** Providers' ids of details have no field in the canon. They follow this mark in the format. */
const ID_MARK = "#";

export const spellForHost: OriginSpeller = ({ format }) => {
  if (format === undefined) return {};
  const mark = format.indexOf(ID_MARK);
  if (mark < 0) return { format };
  return { ...(mark === 0 ? {} : { format: format.slice(0, mark) }), id: format.slice(mark + 1) };
};

export function readFromHost(origin: string): OriginReader {
  return (format, id) => {
    // Another Trivium gateway writes origins the same way.
    const own = format === origin ? "" : format?.startsWith(`${origin}:`) ? format.slice(origin.length + 1) : format;
    const word = `${own ?? ""}${id === undefined ? "" : ID_MARK + id}`;
    return word === "" ? { origin } : { origin, format: word };
  };
}

/** One entry of `reasoning_details`. */
export interface Detail {
  kind: "text" | "summary" | "encrypted";
  /** undefined if the entry contains only a signature. */
  text: string | undefined;
  value: string | undefined;
  format: string | undefined;
  id: string | undefined;
  index: number | undefined;
}

export function readDetail(raw: unknown): Detail | undefined {
  if (!isObject(raw)) return undefined;
  const data = stringAt(raw, "data");
  const summary = stringAt(raw, "summary");
  const kind = data !== undefined ? "encrypted" : summary !== undefined ? "summary" : "text";
  return {
    kind,
    text: summary ?? stringAt(raw, "text"),
    value: data ?? (stringAt(raw, "signature") || undefined),
    format: stringAt(raw, "format"),
    id: stringAt(raw, "id"),
    index: numberAt(raw, "index"),
  };
}

/** Whether a detail shows no reasoning, only a value for its creator. */
export function saysNothing(raw: unknown): boolean {
  const detail = readDetail(raw);
  return detail?.value !== undefined && (detail.text ?? "") === "";
}

/** The opaque value of a detail. It includes the id only if that refers to no call or text of the message. */
export function opaqueOf(detail: Detail, read: OriginReader, keepId: boolean): Opaque | undefined {
  if (detail.value === undefined) return undefined;
  const origin = read(detail.format, keepId ? detail.id : undefined);
  return {
    kind: detail.kind === "encrypted" ? encryptedKind(origin.origin) : "signature",
    value: detail.value,
    ...origin,
  };
}

/** The family of the messages dialect calls it redacted, all others encrypted. */
const encryptedKind = (origin: string): Opaque["kind"] => (origin === "messages" ? "redacted" : "encrypted");

/** A signature of a tool call or text, under the id of what it belongs to. */
export function encodeSignature(signature: Opaque, id: string, index: number, spell: OriginSpeller): JsonObject {
  return { type: "reasoning.encrypted", data: signature.value, ...spell(signature), id, index };
}

/** Encodes one reasoning block as details: its text with the signature, and encrypted content separately. */
export function encodeDetails(
  { text, summary, signature }: Omit<ReasoningPart, "type">,
  index: number,
  spell: OriginSpeller,
): JsonObject[] {
  const spoken = summary ? { type: "reasoning.summary", summary: text } : { type: "reasoning.text", text };
  if (signature === undefined) return [{ ...spoken, index }];
  if (signature.kind === "signature") return [{ ...spoken, signature: signature.value, ...spell(signature), index }];
  const encrypted = { type: "reasoning.encrypted", data: signature.value, ...spell(signature) };
  return text === ""
    ? [{ ...encrypted, index }]
    : [
        { ...spoken, index },
        { ...encrypted, index: index + 1 },
      ];
}
