import type { JsonObject } from "../base/json.ts";
import type { FieldNote } from "../canon/receipt.ts";
import type { BodySource } from "../wire/edit-body.ts";
import type { LongTexts } from "../wire/long-texts.ts";
import type { NamedFile } from "./request/file-parts.ts";

/** A request without its long texts: stubs stand for those that a translation only moves. */
export interface RequestOutline {
  readonly body: JsonObject;
  readonly texts: LongTexts;
}

/** A client's request as received, with its parsed body. */
export interface ReceivedRequest extends BodySource {
  /** Of a request with an outline it is parsed when it is first read, which most such requests never need. */
  readonly body: JsonObject;
  /** A large request that is certainly translated may have one (decision 0134). */
  readonly outline?: RequestOutline | undefined;
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
