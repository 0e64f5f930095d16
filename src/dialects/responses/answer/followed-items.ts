import { type JsonObject, numberAt, objectAt, stringAt } from "../../../base/json.ts";

/** They only say that a text is over: who goes on with the answer may have more of it to say. */
export const CLOSING_EVENTS: ReadonlySet<string> = new Set([
  "response.output_text.done",
  "response.content_part.done",
  "response.output_item.done",
]);

const CITED = "response.output_text.annotation.added";
const PLACES = ["item_id", "output_index", "content_index"] as const;

/** The items of a stream that another writes to the client: which ids they have there, and whether one may go on with the last. */
export class FollowedItems {
  readonly #ids = new Map<number, string>();
  /** Citations are known here with the end of their item: if another goes on before it, they would be missing from the whole. */
  #cited = false;
  /** What the client has read last is not over, and stands where the next text would be written. */
  inStep = true;

  /** The id that the client knows the item at this place by. */
  idAt(place: number): string | undefined {
    return this.#ids.get(place);
  }

  /** `at`: where the text is that has been written here for the same answer. */
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

/** Texts that others say in several parts are one here: the rest of such a text would be told at another place. */
function isSamePlace(event: JsonObject, at: JsonObject): boolean {
  return PLACES.every((name) => event[name] === undefined || event[name] === at[name]);
}
