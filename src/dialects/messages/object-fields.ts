import { defineObjectFields, URL_FIELDS } from "../reading/object-fields.ts";

export const messagesObjects = defineObjectFields({
  fields: [
    ...URL_FIELDS,
    { field: "file_id", what: "a file", kind: "file" },
    { field: "container", what: "a container" },
    { field: "container.id", what: "a container" },
    { field: "skill_id", what: "a skill", owner: "type" },
    { field: "thread.previous_message_id", what: "an earlier message" },
  ],
  opaque: ["input", "input_schema", "input_examples", "schema", "metadata", "citations"],
  repeated: ["code_execution_output", "bash_code_execution_output"],
});
