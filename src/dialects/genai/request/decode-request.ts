import { isObject, type JsonObject, objectAt } from "../../../base/json.ts";
import { withoutAbsent } from "../../../base/without-absent.ts";
import type { CanonCall, Extra } from "../../../canon/call.ts";
import { distinctCallIds } from "../../../canon/calls/distinct-call-ids.ts";
import { Fields } from "../../../canon/fields.ts";
import type { TextPart } from "../../../canon/part.ts";
import { ROUTING_FIELDS } from "../../reading/routing-fields.ts";
import { decodePart } from "../content.ts";
import { OWN_ORIGIN } from "../signature.ts";
import { decodeContents } from "./decode-contents.ts";
import { FIELD_NAMES } from "./field-names.ts";
import { decodeSettings } from "./settings.ts";
import { decodeToolConfig, decodeTools } from "./tools.ts";

/** Fields addressed to the gateway itself. */
const GATEWAY_FIELDS = ["model", "stream", "stream_options", "usage", ...ROUTING_FIELDS];

/** Decodes a checked request in its normal form (normalise.ts). */
export function decodeRequest(body: JsonObject): CanonCall {
  // A token count may contain the whole request in one of its fields.
  const whole = objectAt(body, "generateContentRequest");
  if (whole !== undefined) return decodeRequest(whole);
  const fields = new Fields(body);
  fields.skip(...GATEWAY_FIELDS);
  const config = decodeSettings(fields.object("generationConfig"));
  const toolConfig = decodeToolConfig(fields.object("toolConfig") ?? {});
  const cachedContent = fields.string("cachedContent");
  const call = withoutAbsent({
    dialect: "genai",
    fieldNames: FIELD_NAMES,
    system: decodeSystem(fields.object("systemInstruction")),
    turns: distinctCallIds(decodeContents(fields.array("contents") ?? [])),
    tools: decodeTools(fields.array("tools") ?? []),
    ...config.settings,
    cachedContent,
    format: config.format,
    reasoning: config.reasoning,
    toolChoice: toolConfig.toolChoice,
    paths: withoutAbsent({
      ...config.paths,
      cachedContent: cachedContent === undefined ? undefined : "cachedContent",
      toolChoice: toolConfig.toolChoice && "toolConfig.functionCallingConfig",
    }),
  });
  const rest = Object.entries(fields.rest() ?? {}).map(([key, value]): Extra => ({ keys: [key], value }));
  return { ...call, extras: [...rest, ...config.extras, ...toolConfig.extras] };
}

/** The role has no meaning. Anything but text does not fit the canon's system prompt and goes to the extras of an empty text. */
function decodeSystem(instruction: JsonObject | undefined): TextPart[] {
  const parts = new Fields(instruction).array("parts") ?? [];
  return parts.flatMap((raw, index): TextPart[] => {
    if (!isObject(raw)) return [];
    const path = `systemInstruction.parts[${index}]`;
    const part = decodePart(raw, { origin: OWN_ORIGIN, fromClient: true, path });
    if (part === undefined) return [];
    return [part.type === "text" ? part : { type: "text", text: "", path, extras: raw }];
  });
}
