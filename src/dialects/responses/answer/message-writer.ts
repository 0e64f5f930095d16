import type { JsonObject } from "../../../base/json.ts";
import type { Citation } from "../../../canon/citation.ts";
import type { TokenLogprob } from "../../../canon/reply.ts";
import type { DeltaForm } from "../../answer/delta-form.ts";
import { encodeTokens } from "../../answer/token-logprobs.ts";
import { encodeAnnotations } from "../../chat/answer/annotations.ts";
import type { EncodeAnswerContext } from "../../codec.ts";
import { type ItemStatus, messageItem, refusalPart, textPart } from "./answer-items.ts";
import type { Deltas } from "./event-writer.ts";
import { type ItemPlace, itemAdded, itemDone, type OpenItem } from "./open-item.ts";

type PartKind = "text" | "refusal";

/** A part that has begun. Adjacent texts form one part, because readers take the last part for the answer. */
interface OpenPart {
  kind: PartKind;
  at: JsonObject;
  text: string;
  annotations: JsonObject[];
  deltas: Deltas;
}

const DELTA: Readonly<Record<PartKind, string>> = {
  text: "response.output_text.delta",
  refusal: "response.refusal.delta",
};

/** Writes a message while its text arrives. */
export class MessageWriter implements OpenItem {
  readonly #place: ItemPlace;
  readonly #parts: JsonObject[] = [];
  readonly #logprobs: TokenLogprob[] = [];
  #part: OpenPart | undefined;
  #begun = false;

  constructor(place: ItemPlace) {
    this.#place = place;
  }

  /** The length of the text in its last part. */
  get textLength(): number {
    return this.#part?.kind === "text" ? this.#part.text.length : 0;
  }

  /** The position of its last part. */
  get at(): JsonObject | undefined {
    return this.#part?.at;
  }

  get form(): DeltaForm | undefined {
    return this.#part?.deltas.form;
  }

  say(kind: PartKind, text: string): string {
    const { started, part } = this.#in(kind);
    part.text += text;
    return started + part.deltas.write(text);
  }

  /** Cites pages for the text from `offset` on. */
  cite(citations: readonly Citation[], offset: number, note: EncodeAnswerContext["note"]): string {
    if (citations.length === 0) return "";
    const { started, part } = this.#in("text");
    const length = part.text.length - offset;
    const annotations = encodeAnnotations(citations, { offset, length }, note).map(flat);
    const written = annotations.map((annotation) => {
      const annotation_index = part.annotations.push(annotation) - 1;
      return this.#event("response.output_text.annotation.added", { ...part.at, annotation_index, annotation });
    });
    return started + written.join("");
  }

  addLogprobs(tokens: readonly TokenLogprob[]): void {
    this.#logprobs.push(...tokens);
  }

  close(status: ItemStatus): { text: string; item: JsonObject } {
    const text = this.#endPart();
    const item = messageItem(this.#place.id, this.#parts, status);
    return { text: text + itemDone(this.#place, item), item };
  }

  #in(kind: PartKind): { started: string; part: OpenPart } {
    if (this.#part?.kind === kind) return { started: "", part: this.#part };
    const before = this.#begin() + this.#endPart();
    const at = {
      item_id: this.#place.id,
      output_index: this.#place.index,
      content_index: this.#parts.length,
    };
    const deltas = this.#place.events.deltas(DELTA[kind], at, kind === "text" ? { logprobs: [] } : {});
    const part = { kind, at, text: "", annotations: [], deltas };
    this.#part = part;
    const empty = kind === "text" ? textPart("", [], []) : refusalPart("");
    return { started: before + this.#event("response.content_part.added", { ...at, part: empty }), part };
  }

  #begin(): string {
    if (this.#begun) return "";
    this.#begun = true;
    return itemAdded(this.#place, messageItem(this.#place.id, [], "in_progress"));
  }

  #endPart(): string {
    const open = this.#part;
    if (open === undefined) return "";
    this.#part = undefined;
    const { kind, at, text, annotations } = open;
    const logprobs = kind === "text" ? encodeTokens(this.#logprobs.splice(0)) : [];
    const part = kind === "text" ? textPart(text, annotations, logprobs) : refusalPart(text);
    this.#parts.push(part);
    const said =
      kind === "text"
        ? this.#event("response.output_text.done", { ...at, text, logprobs })
        : this.#event("response.refusal.done", { ...at, refusal: text });
    return said + this.#event("response.content_part.done", { ...at, part });
  }

  #event(type: string, fields: JsonObject): string {
    return this.#place.events.write(type, fields);
  }
}

/** Chat has a separate object for the citation. Here it is the annotation itself. */
function flat(annotation: JsonObject): JsonObject {
  const { content: _quoted, ...citation } = annotation["url_citation"] as JsonObject;
  return { type: "url_citation", ...citation };
}
