import { type JsonObject, numberAt, objectAt, stringAt } from "../../../base/json.ts";

/** They only end a text, and a continuation may add more to it. */
export const CLOSING_EVENTS: ReadonlySet<string> = new Set([
  "response.output_text.done",
  "response.content_part.done",
  "response.output_item.done",
]);

const CITED = "response.output_text.annotation.added";
const PLACES = ["item_id", "output_index", "content_index"] as const;

/** The items of a stream that another writer sends to the client: their ids there, and whether the last one can be continued. */
export class FollowedItems {
  readonly #ids = new Map<number, string>();
  /** Citations are known only at the end of their item. If another writer continues before that, the whole would lack them. */
  #cited = false;
  /** The client's last item is not finished, and is where the next text would be written. */
  inStep = true;

  /** The client's id for the item at this index. */
  idAt(place: number): string | undefined {
    return this.#ids.get(place);
  }

  /** `at`: the position of the text that was written here for the same response. */
  follow(event: JsonObject, at: JsonObject | undefined): void {
    const type = stringAt(event, "type") ?? "";
    const place = numberAt(event, "output_index");
    if (type === "response.output_item.added") {
      const id = stringAt(objectAt(event, "item"), "id");
      if (id && place !== undefined) this.#ids.set(place, id);
    } else if (type === "response.output_text.delta") {
      this.inStep = !this.#cited && at !== undefined && isSamePlace(event, at);
    } else if (CLOSING_EVENTS.has(type) || type === CITED) {
      this.inStep = false;
      this.#cited = type === CITED || (this.#cited && type !== "response.output_item.done");
    }
  }
}

/** Texts that others send in several parts are one here, so the rest would be at another position. */
function isSamePlace(event: JsonObject, at: JsonObject): boolean {
  return PLACES.every((name) => event[name] === undefined || event[name] === at[name]);
}
