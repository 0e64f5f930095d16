import type { JsonObject } from "../base/json.ts";
import type { FieldNote } from "../canon/receipt.ts";
import type { BodySource } from "../wire/edit-body.ts";
import type { NamedFile } from "./request/file-parts.ts";

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
  /** Files that it names by the ids of this gateway, as written, and that each target gets in its own way. */
  files?: ReadonlyMap<string, NamedFile>;
  /** What the door changed. */
  adapted?: readonly FieldNote[];
}
