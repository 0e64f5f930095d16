import type { JsonObject } from "../../../base/json.ts";

/** How far a stream has come. The events that end it in a failure continue from here (R1). */
export interface StreamPosition {
  /** The number of the next event. */
  sequence: number;
  /** The response so far. */
  response: JsonObject;
}
