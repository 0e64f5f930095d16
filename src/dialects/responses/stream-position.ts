import type { JsonObject } from "../../base/json.ts";

/** How far a stream to the client has come. */
export interface StreamPosition {
  /** The number of the next event. */
  sequence: number;
  /** The answer as far as it has come. */
  response: JsonObject;
}
