import { isNotPublic, OF_A_CLOUD } from "../genai/object-fields.ts";
import { defineObjectFields, type ObjectField, URL_FIELDS } from "../reading/object-fields.ts";

const fields: readonly ObjectField[] = [
  ...URL_FIELDS,
  { field: "uri", what: "a stored file", like: isNotPublic, kind: "file" },
  { field: "gcs_uri", what: "a bucket" },
  { field: "cached_content", what: "a cache", kind: "cache" },
  { field: "datastores", what: "a data store" },
  ...Object.entries(OF_A_CLOUD).map(([field, what]) => ({ field, what })),
];

/** `previous_interaction_id` is not here. It names an interaction that the gateway stores, and never reaches a provider. */
export const interactionsObjects = defineObjectFields({
  fields,
  opaque: ["parameters", "arguments", "schema", "response_format", "labels", "annotations"],
});
