import type { JsonObject } from "../../../base/json.ts";

/** How far a stream has come: what the events that end it in a failure must go on from (R1). */
export interface StreamPosition {
  /** The number of the next event. */
  sequence: number;
  /** The answer so far. */
  response: JsonObject;
}
