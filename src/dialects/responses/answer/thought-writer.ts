import type { JsonObject } from "../../../base/json.ts";
import type { Opaque } from "../../../canon/opaque.ts";
import type { DeltaForm } from "../../answer/delta-form.ts";
import { reasoningItem, summaryPart } from "./answer-items.ts";
import type { Deltas } from "./event-writer.ts";
import { type ItemPlace, itemAdded, itemDone, type OpenItem } from "./open-item.ts";

/** Writes reasoning while it arrives. Clients show the summary. */
export class ThoughtWriter implements OpenItem {
  readonly #place: ItemPlace;
  readonly #at: JsonObject;
  #text = "";
  #deltas: Deltas | undefined;
  /** Its signature, which the provider expects back. */
  signature: Opaque | undefined;

  constructor(place: ItemPlace) {
    this.#place = place;
    this.#at = { item_id: place.id, output_index: place.index, summary_index: 0 };
  }

  get form(): DeltaForm | undefined {
    return this.#deltas?.form;
  }

  think(text: string): string {
    const started = this.#deltas === undefined ? this.#begin() : "";
    this.#deltas ??= this.#place.events.deltas("response.reasoning_summary_text.delta", this.#at);
    this.#text += text;
    return started + this.#deltas.write(text);
  }

  close(): { text: string; item: JsonObject } {
    const item = reasoningItem(this.#place.id, this.#text, this.signature);
    const text = this.#text;
    const ended =
      this.#deltas === undefined
        ? itemAdded(this.#place, this.#shell())
        : this.#event("response.reasoning_summary_text.done", { text }) +
          this.#event("response.reasoning_summary_part.done", { part: summaryPart(text) });
    return { text: ended + itemDone(this.#place, item), item };
  }

  #begin(): string {
    return (
      itemAdded(this.#place, this.#shell()) +
      this.#event("response.reasoning_summary_part.added", { part: summaryPart("") })
    );
  }

  #shell = (): JsonObject => reasoningItem(this.#place.id, "", undefined);

  #event(type: string, fields: JsonObject): string {
    return this.#place.events.write(type, { ...this.#at, ...fields });
  }
}
