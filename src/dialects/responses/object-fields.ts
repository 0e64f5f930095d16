import { arrayAt, type JsonObject, stringAt } from "../../base/json.ts";
import { CHAT_OBJECTS } from "../chat/object-fields.ts";
import { defineObjectFields } from "../reading/object-fields.ts";

/** How the base64 of a PNG, JPEG or WebP begins. A provider may not accept anything else as an image, and look up the id instead. */
const IMAGE = /^(?:iVBORw0KGgo|\/9j\/|UklGR)/;

/**
 * `previous_response_id`, `conversation` and `item_reference` are not here. They name what the gateway stores, and never reach a
 * provider.
 */
export const responsesObjects = defineObjectFields({
  fields: [...CHAT_OBJECTS, { field: "prompt.id", what: "a stored prompt" }],
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

const REASON = "providers reuse the container of an earlier call, and this key cannot use a provider's containers";

/** Rewrites an item of an earlier response without the id of an object that the provider stores. Undefined if it has no such id. */
function rewriteEchoed(item: JsonObject): { item?: JsonObject; lost: string; reason: string } | undefined {
  switch (item["type"]) {
    case "shell_call":
    case "shell_call_output":
      return withoutEnvironment(item);
    case "code_interpreter_call":
      return typeof item["container_id"] === "string"
        ? {
            item: asMessage(item),
            lost: ".container_id",
            reason: `${REASON}; the code and its output were sent as text`,
          }
        : undefined;
    case "image_generation_call":
      return isFailedImage(item) ? { lost: "", reason: "the call failed and has no image" } : undefined;
    default:
      return undefined;
  }
}

function withoutEnvironment(item: JsonObject): { item: JsonObject; lost: string; reason: string } | undefined {
  const { environment, ...rest } = item;
  if (stringAt(environment, "container_id") === undefined) return undefined;
  return { item: rest, lost: ".environment", reason: REASON };
}

/** The protocol has no such item without a container. */
function asMessage(item: JsonObject): JsonObject {
  const logs = arrayAt(item, "outputs").flatMap((output) => stringAt(output, "logs") ?? []);
  const text = [`Code that was run:\n${stringAt(item, "code") ?? ""}`, ...logs.map((log) => `Its output:\n${log}`)];
  const content = [{ type: "output_text", text: text.join("\n\n"), annotations: [] }];
  return { type: "message", role: "assistant", content };
}

const isFailedImage = ({ status, result }: JsonObject): boolean =>
  status === "failed" && (result === undefined || result === null || result === "");
