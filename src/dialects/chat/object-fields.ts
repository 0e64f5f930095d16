import { defineObjectFields, type ObjectField, URL_FIELDS } from "../reading/object-fields.ts";

/** Those of the chat protocol's family: conversations, images, speech, and the hosted tools that hosts of either protocol take. */
export const CHAT_OBJECTS: readonly ObjectField[] = [
  ...URL_FIELDS,
  { field: "file_id", what: "a file", kind: "file" },
  { field: "file_ids", what: "a file", kind: "file" },
  { field: "audio.id", what: "a spoken response" },
  { field: "voice.id", what: "a custom voice" },
  { field: "vector_store_ids", what: "a vector store" },
  { field: "container", what: "a container" },
  { field: "container.id", what: "a container" },
  { field: "container_id", what: "a container" },
  { field: "skill_id", what: "a skill" },
  { field: "tunnel_id", what: "a tunnel" },
];

export const chatObjects = defineObjectFields({
  fields: CHAT_OBJECTS,
  // Hosts refuse metadata of an answer that they do not keep.
  storing: { field: "store", needs: ["metadata"] },
  opaque: ["function", "functions", "custom", "json_schema", "metadata", "logit_bias"],
});
