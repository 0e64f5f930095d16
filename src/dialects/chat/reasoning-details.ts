import { isObject, type JsonObject, numberAt, stringAt } from "../../base/json.ts";
import type { Opaque } from "../../canon/opaque.ts";
import type { ReasoningPart } from "../../canon/part.ts";

/** Ids under which a detail belongs to the answer's text instead of a tool call: to text, or to an empty part after it. */
export const TEXT_ID = "content";
export const EMPTY_TEXT_ID = "content-end";
/** The id of a detail that carries a block of another dialect, which its maker wants back. */
export const NATIVE_ID = "native";

/** Whose value it is, by a detail's `format`; `id` is the detail's own, where it names nothing of ours. */
export type OriginReader = (format: string | undefined, id: string | undefined) => { origin: string; format?: string };

/** How a value's origin is spelt, towards a client or towards the host that made it. */
type OriginSpeller = (opaque: Opaque) => { format?: string; id?: string };

/** Clients get the gateway's word for the origin, and bring it back with the value. */
export const spellForClient: OriginSpeller = ({ origin, format }) => ({
  format: format === undefined ? origin : `${origin}:${format}`,
});

export const readFromClient: OriginReader = (format) => {
  const [origin = "", ...rest] = (format ?? "").split(":");
  return rest.length === 0 ? { origin } : { origin, format: rest.join(":") };
};

/** A host's own ids of its details have no place in the canon: they follow a mark in the format. */
const ID_MARK = "#";

export const spellForHost: OriginSpeller = ({ format }) => {
  if (format === undefined) return {};
  const mark = format.indexOf(ID_MARK);
  if (mark < 0) return { format };
  return { ...(mark === 0 ? {} : { format: format.slice(0, mark) }), id: format.slice(mark + 1) };
};

export function readFromHost(origin: string): OriginReader {
  return (format, id) => {
    // Another gateway of this make spells its origins as this one does.
    const own = format === origin ? "" : format?.startsWith(`${origin}:`) ? format.slice(origin.length + 1) : format;
    const word = `${own ?? ""}${id === undefined ? "" : ID_MARK + id}`;
    return word === "" ? { origin } : { origin, format: word };
  };
}

/** One entry of `reasoning_details`. */
export interface Detail {
  kind: "text" | "summary" | "encrypted";
  /** undefined where the entry carries a signature alone. */
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

/** Whether a detail shows nothing of the reasoning: only a value that its maker wants back. */
export function saysNothing(raw: unknown): boolean {
  const detail = readDetail(raw);
  return detail?.value !== undefined && (detail.text ?? "") === "";
}

/** The opaque value of a detail; its id is part of it only where it names no call and no text of the message. */
export function opaqueOf(detail: Detail, read: OriginReader, keepId: boolean): Opaque | undefined {
  if (detail.value === undefined) return undefined;
  const origin = read(detail.format, keepId ? detail.id : undefined);
  return {
    kind: detail.kind === "encrypted" ? encryptedKind(origin.origin) : "signature",
    value: detail.value,
    ...origin,
  };
}

/** The family of the messages dialect calls it redacted; everyone else's is encrypted. */
const encryptedKind = (origin: string): Opaque["kind"] => (origin === "messages" ? "redacted" : "encrypted");

/** The value of a signature that stands on a tool call or on text, under the id of what it belongs to. */
export function encodeSignature(signature: Opaque, id: string, index: number, spell: OriginSpeller): JsonObject {
  return { type: "reasoning.encrypted", data: signature.value, ...spell(signature), id, index };
}

/** One block of reasoning as details: its text with its signature, and what is encrypted on its own. */
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
