import { defineObjectFields, type ObjectField, URL_FIELDS } from "../reading/object-fields.ts";

/** Fields of the chat protocol's family that name stored objects: conversations, images, speech, and hosted tools of both protocols. */
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
  // Providers reject metadata for a response that they do not store.
  storing: { field: "store", needs: ["metadata"] },
  opaque: ["function", "functions", "custom", "json_schema", "metadata", "logit_bias"],
});
