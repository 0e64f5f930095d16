import { isObject, type JsonObject, numberAt, objectAt, stringAt } from "../../../base/json.ts";
import { changeValue, ObjectEdit } from "../../../wire/json-text.ts";

const OF_PARTS = /^response\.(?:content_part|output_text|refusal|reasoning_text)\./;

/**
 * The announced ids of a stream's items. Some providers change an item's id in each event, but clients look an item up by the first one
 * (R21). Reasoning keeps its final id, to which its encrypted value is bound (R10).
 */
export class ItemIds {
  readonly #announced = new Map<number, string>();
  /** For items without an index. */
  #lastPlace = -1;
  /** An item was announced, and none of its text was read since. */
  fresh = false;
  /** The provider has changed an id. */
  changing = false;

  /** The index of an event's item if the provider omits it: items come one after the other (R21). */
  missingPlaces(event: JsonObject, type: string): Record<string, number> {
    const places: Record<string, number> = {};
    if ("item_id" in event || "item" in event) {
      const isNew = type === "response.output_item.added";
      const told = numberAt(event, "output_index");
      const place = told ?? (isNew ? this.#lastPlace + 1 : Math.max(0, this.#lastPlace));
      if (isNew) this.#lastPlace = place;
      if (told === undefined) places["output_index"] = place;
    }
    if (OF_PARTS.test(type) && numberAt(event, "content_index") === undefined) places["content_index"] = 0;
    // From here on, deltas are parsed one by one.
    if (Object.keys(places).length > 0) this.changing = true;
    return places;
  }

  announce(event: JsonObject): void {
    const item = objectAt(event, "item");
    const place = numberAt(event, "output_index");
    const id = stringAt(item, "id");
    this.fresh = true;
    if (place !== undefined && id && stringAt(item, "type") !== "reasoning") this.#announced.set(place, id);
  }

  /** The event's text with the announced id of its item. */
  restore(data: string, event: JsonObject, type: string): string {
    if (type.endsWith(".delta")) this.fresh = false;
    const id = this.#announced.get(numberAt(event, "output_index") ?? -1);
    if (id === undefined) return data;
    let text = data;
    if ((stringAt(event, "item_id") ?? id) !== id) {
      text = new ObjectEdit(text).set("item_id", JSON.stringify(id)).toString();
    }
    if ((stringAt(objectAt(event, "item"), "id") ?? id) !== id) {
      text = changeValue(text, ["item"], (item) => new ObjectEdit(item).set("id", JSON.stringify(id)).toString());
    }
    if (text !== data) this.changing = true;
    return text;
  }

  /** The same for an item of the response. */
  named(item: JsonObject, place: number): JsonObject {
    const id = this.#announced.get(place);
    return id === undefined || id === item["id"] ? item : { ...item, id };
  }

  /** The items of the whole response, or undefined if they have their announced ids. */
  renamed(output: readonly unknown[]): readonly unknown[] | undefined {
    const items = output.map((item, place) => (isObject(item) ? this.named(item, place) : item));
    return items.every((item, place) => item === output[place]) ? undefined : items;
  }
}
