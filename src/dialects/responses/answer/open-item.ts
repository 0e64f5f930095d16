import type { JsonObject } from "../../../base/json.ts";
import type { DeltaForm } from "../../answer/delta-form.ts";
import type { ItemStatus } from "./answer-items.ts";
import type { EventWriter } from "./event-writer.ts";

/** The position of an item in the response, and how it is written. */
export interface ItemPlace {
  events: EventWriter;
  index: number;
  id: string;
}

/** An item that has begun. */
export interface OpenItem {
  /** Its last events, and the finished item. */
  close(status: ItemStatus): { text: string; item: JsonObject };
  /** How more of its text is written; undefined before it has any. */
  readonly form: DeltaForm | undefined;
}

export const itemAdded = ({ events, index }: ItemPlace, item: JsonObject): string =>
  events.write("response.output_item.added", { output_index: index, item });

export const itemDone = ({ events, index }: ItemPlace, item: JsonObject): string =>
  events.write("response.output_item.done", { output_index: index, item });
