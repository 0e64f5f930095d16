import { CHAT_OBJECTS } from "../chat/object-fields.ts";
import { defineObjectFields } from "../reading/object-fields.ts";
import { rewriteEchoed } from "./rewrite-echoed.ts";

/** How the base64 of a PNG, JPEG or WebP begins. A provider may not accept anything else as an image, and look up the id instead. */
const IMAGE = /^(?:iVBORw0KGgo|\/9j\/|UklGR)/;

/** `previous_response_id` and `item_reference` are not here. They name responses that the gateway stores, and never reach a provider. */
export const responsesObjects = defineObjectFields({
  fields: [
    ...CHAT_OBJECTS,
    { field: "conversation", what: "a conversation", kind: "conversation" },
    { field: "conversation.id", what: "a conversation", kind: "conversation" },
    { field: "prompt.id", what: "a stored prompt" },
  ],
  // Citations and search results repeat parts of a response.
  opaque: [
    "parameters",
    "schema",
    "input_schema",
    "output_schema",
    "metadata",
    "client_metadata",
    "annotations",
    "results",
  ],
  bare: [
    {
      type: "image_generation_call",
      field: "id",
      what: "an image from an earlier response",
      isWhole: ({ result }) => typeof result === "string" && IMAGE.test(result),
    },
  ],
  echoed: { field: "input", rewrite: rewriteEchoed },
});
