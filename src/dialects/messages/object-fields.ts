import { defineObjectFields, URL_FIELDS } from "../object-fields.ts";

/** The type of the skills that the protocol's vendor gives to every account. */
const VENDORS_OWN = "anthropic";

export const messagesObjects = defineObjectFields({
  fields: [
    ...URL_FIELDS,
    { field: "file_id", what: "a file", kind: "file" },
    { field: "container", what: "a container" },
    { field: "container.id", what: "a container" },
    { field: "skill_id", what: "a skill", isPublic: ({ type }) => type === VENDORS_OWN },
    { field: "thread.previous_message_id", what: "an earlier message" },
  ],
  opaque: ["input", "input_schema", "input_examples", "schema", "metadata", "citations"],
  repeated: ["code_execution_output", "bash_code_execution_output"],
});
