import type { JsonObject } from "../base/json.ts";

/** The body of a request for readers that do not look into the texts of its messages. */
export const outlineOf = (request: {
  readonly body: JsonObject;
  readonly outline?: { readonly body: JsonObject } | undefined;
}): JsonObject => request.outline?.body ?? request.body;
