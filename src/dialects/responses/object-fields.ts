import { CHAT_OBJECTS } from "../chat/object-fields.ts";
import { defineObjectFields } from "../reading/object-fields.ts";
import { rewriteEchoed } from "./rewrite-echoed.ts";

/** How the base64 of a PNG, a JPEG or a WebP begins. A host may take anything else for no image, and look for the one of that id. */
const IMAGE = /^(?:iVBORw0KGgo|\/9j\/|UklGR)/;

/**
 * `previous_response_id` and `item_reference` are not here: they name answers that the gateway keeps itself, and never reach a host.
 */
export const responsesObjects = defineObjectFields({
  fields: [
    ...CHAT_OBJECTS,
    { field: "conversation", what: "a conversation", kind: "conversation" },
    { field: "conversation.id", what: "a conversation", kind: "conversation" },
    { field: "prompt.id", what: "a stored prompt" },
  ],
  // Citations and search results repeat what an answer said.
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
