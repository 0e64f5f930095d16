import type { JsonObject } from "../../../base/json.ts";
import type { DeltaForm } from "../../answer/delta-form.ts";
import type { ItemStatus } from "./answer-items.ts";
import type { EventWriter } from "./event-writer.ts";

/** Where an item stands in the answer, and how it is written. */
export interface ItemPlace {
  events: EventWriter;
  index: number;
  id: string;
}

/** An item that has begun. */
export interface OpenItem {
  /** Its last events, and what it has become. */
  close(status: ItemStatus): { text: string; item: JsonObject };
  /** How more of what it says is written; undefined before it has said anything. */
  readonly form: DeltaForm | undefined;
}

export const itemAdded = ({ events, index }: ItemPlace, item: JsonObject): string =>
  events.write("response.output_item.added", { output_index: index, item });

export const itemDone = ({ events, index }: ItemPlace, item: JsonObject): string =>
  events.write("response.output_item.done", { output_index: index, item });
