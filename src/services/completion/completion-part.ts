import type { JsonObject } from "../../base/json.ts";
import type { Usage } from "../../canon/usage.ts";

/** A whole completion, or a part of a streamed one: both have the same form. */
export interface CompletionPart {
  body: JsonObject;
  /** How much text it has, by its weight. */
  characters: number;
  /** The number of choices that it ends. */
  finished: number;
  /** It has only usage and no choices. */
  usageAlone: boolean;
  usage?: Usage;
}
