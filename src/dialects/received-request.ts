import type { JsonObject } from "../base/json.ts";
import type { FieldNote } from "../canon/receipt.ts";
import type { BodySource } from "../wire/edit-body.ts";

/** A client's request as received, with its parsed body. */
export interface ReceivedRequest extends BodySource {
  body: JsonObject;
  /** The length of its text, if the text is not held. */
  characters?: number;
  /** How many more bytes than characters it has. Absent if unknown or meaningless: `\u4e2d` is six of both. */
  surplusBytes?: number | undefined;
  /** The nesting depth of the body, if it was determined when the body was read. */
  levels?: number;
  /** It has a field that could name an object; absent if this was not checked. */
  mayNameObjects?: boolean;
  /** What the door changed. */
  adapted?: readonly FieldNote[];
}
