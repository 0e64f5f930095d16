import type { JsonObject } from "../base/json.ts";
import type { FieldNote } from "../canon/receipt.ts";
import type { BodySource } from "../wire/edit-body.ts";

/** A client's request as it came, and what it says. */
export interface ReceivedRequest extends BodySource {
  body: JsonObject;
  /** The length of its text, where that is not held. */
  characters?: number;
  /** How many bytes more than characters it came in. Absent where that is not known, or says nothing: `\u4e2d` is six of both. */
  surplusBytes?: number | undefined;
  /** How deeply the body is nested, if that was seen when it was read. */
  levels?: number;
  /** It has a field by which an object could be named; absent where it was not looked for. */
  mayNameObjects?: boolean;
  /** What the door has done to it. */
  adapted?: readonly FieldNote[];
}
