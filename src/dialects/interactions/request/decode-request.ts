import type { JsonObject } from "../../../base/json.ts";
import { withoutAbsent } from "../../../base/without-absent.ts";
import type { CanonCall, Extra } from "../../../canon/call.ts";
import { Fields } from "../../../canon/fields.ts";
import { ROUTING_FIELDS } from "../../reading/routing-fields.ts";
import { OWN_ORIGIN } from "../signature.ts";
import { decodeInput } from "./decode-steps.ts";
import { FIELD_NAMES } from "./field-names.ts";
import { decodeFormat } from "./response-format.ts";
import { decodeSettings } from "./settings.ts";
import { decodeTools } from "./tools.ts";

/** Fields addressed to the gateway itself, which stores interactions. */
export const STATE_FIELDS = ["store", "background", "previous_interaction_id"] as const;

export function decodeRequest(body: JsonObject): CanonCall {
  const fields = new Fields(body);
  fields.skip("model", "stream", ...STATE_FIELDS, ...ROUTING_FIELDS);
  const config = decodeSettings(fields.object("generation_config"));
  const { format, read } = decodeFormat(body);
  fields.skip(...read);
  const instruction = fields.string("system_instruction");
  const cachedContent = fields.string("cached_content");
  const modalities = fields.peek("response_modalities");
  if (Array.isArray(modalities) && modalities.every((one) => one === "text")) fields.skip("response_modalities");
  const call = withoutAbsent({
    dialect: OWN_ORIGIN,
    fieldNames: FIELD_NAMES,
    system: instruction ? [{ type: "text" as const, text: instruction, path: "system_instruction" }] : [],
    turns: decodeInput(fields.take("input")),
    tools: decodeTools(fields.array("tools") ?? []),
    ...config.settings,
    cachedContent,
    format,
    reasoning: config.reasoning,
    toolChoice: config.toolChoice,
    paths: withoutAbsent({
      ...config.paths,
      cachedContent: cachedContent === undefined ? undefined : "cached_content",
      format: format && (read.includes("response_format") ? "response_format" : "response_mime_type"),
    }),
  });
  const rest = Object.entries(fields.rest() ?? {}).map(([key, value]): Extra => ({ keys: [key], value }));
  return { ...call, extras: [...rest, ...config.extras] };
}
