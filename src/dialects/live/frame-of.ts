import type { JsonObject } from "../../base/json.ts";

/** A message of the protocol. */
export const frameOf = (message: JsonObject): string => JSON.stringify(message);
