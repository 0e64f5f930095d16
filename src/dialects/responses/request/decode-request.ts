import { type JsonObject, numberAt, stringAt } from "../../../base/json.ts";
import { withoutAbsent } from "../../../base/without-absent.ts";
import type { CanonCall, Extra, OutputFormat } from "../../../canon/call.ts";
import { Fields } from "../../../canon/fields.ts";
import type { TextPart } from "../../../canon/part.ts";
import { ROUTING_FIELDS } from "../../reading/routing-fields.ts";
import { configurationUpdates } from "./configuration-updates.ts";
import { decodeInput } from "./decode-items.ts";
import { FIELD_NAMES } from "./field-names.ts";
import { loadedTools } from "./loaded-tools.ts";
import { Namespaces } from "./namespaces.ts";
import { decodeReasoning } from "./reasoning.ts";
import { decodeSettings } from "./settings.ts";
import { decodeToolChoice, decodeTools } from "./tools.ts";

/**
 * Fields that the gateway handles itself. It stores and continues responses; metadata is stored with them. Client metadata is only for the
 * client's maker (R33).
 */
const HONOURED = [
  "model",
  "stream",
  "stream_options",
  "store",
  "previous_response_id",
  "conversation",
  "background",
  "metadata",
  "client_metadata",
  ...ROUTING_FIELDS,
];

/**
 * Decodes a client's request. Encoding it again gives its normal form: messages with their type and parts, no labels of items (`id`,
 * `status`), no defaults, and tools of a namespace under both of their names.
 */
export function decodeRequest(body: JsonObject): CanonCall {
  const fields = new Fields(body);
  fields.skip("input", "reasoning", ...HONOURED);
  const tools = fields.array("tools") ?? [];
  const loaded = loadedTools(body);
  const namespaces = new Namespaces([...tools, ...loaded.map(({ raw }) => raw)]);
  const items = decodeInput(body["input"], namespaces);
  const updates = configurationUpdates(body);
  const text = new Fields({ ...fields.object("text"), ...(updates.format && { format: updates.format.value }) });
  const {
    settings,
    paths,
    include,
    extras: settingExtras,
  } = decodeSettings(fields, text, tools.length + loaded.length > 0);
  const { format, rest: formatRest } = decodeFormat(text);
  const reasoning = decodeReasoning(body, updates.effort);
  const toolChoice = decodeToolChoice(body["tool_choice"], namespaces);
  if (toolChoice !== undefined) fields.skip("tool_choice");
  // The default, which has no effect.
  if (body["truncation"] === "disabled") fields.skip("truncation");
  const instructions = decodeInstructions(fields);
  const managed = decodeContextManagement(body["context_management"]);
  const extras: Extra[] = [
    ...extrasOf(fields.rest()).map((extra) =>
      extra.keys[0] === "context_management" ? { ...extra, ...withoutAbsent({ crosses: managed?.crosses }) } : extra,
    ),
    ...settingExtras,
    ...extrasOf(text.rest(), "text"),
    ...extrasOf(formatRest, "text", "format"),
    ...extrasOf(reasoning.rest, "reasoning"),
    ...(include.length === 0 ? [] : [{ keys: ["include"], value: include }]),
  ];
  return {
    dialect: "responses",
    fieldNames: FIELD_NAMES,
    system: [...instructions, ...items.system],
    turns: items.turns,
    tools: decodeTools(body, namespaces),
    ...settings,
    ...withoutAbsent({ toolChoice, format, reasoning: reasoning.desired, compaction: managed?.compaction }),
    paths: {
      ...paths,
      ...(managed === undefined ? {} : { compaction: "context_management" }),
      ...(toolChoice === undefined ? {} : { toolChoice: "tool_choice" }),
      ...(format === undefined ? {} : { format: updates.format?.path ?? "text.format" }),
    },
    extras,
  };
}

/** The only entry that the protocol has so far. Others are the host's. */
function decodeContextManagement(
  value: unknown,
): { compaction: object; crosses: NonNullable<Extra["crosses"]> } | undefined {
  const entries = Array.isArray(value) ? value : [];
  const at = entries.findIndex((entry) => stringAt(entry, "type") === "compaction");
  if (at < 0) return undefined;
  const afterTokens = numberAt(entries[at], "compact_threshold");
  const without = entries.flatMap((_entry, index) => (index === at ? [] : [`context_management[${index}]`]));
  return { compaction: withoutAbsent({ afterTokens }), crosses: { as: "compaction", without } };
}

function extrasOf(rest: JsonObject | undefined, ...keys: string[]): Extra[] {
  return Object.entries(rest ?? {}).map(([key, value]) => ({ keys: [...keys, key], value }));
}

function decodeInstructions(fields: Fields): TextPart[] {
  const text = fields.string("instructions");
  return text ? [{ type: "text", text, path: "instructions" }] : [];
}

/** `text.format`: flat, with the schema in its own fields (R18). */
function decodeFormat(text: Fields): { format?: OutputFormat; rest: ReturnType<Fields["rest"]> } {
  const fields = new Fields(text.object("format"));
  const type = fields.string("type");
  if (type === "json_object") return { format: { type: "json" }, rest: fields.rest() };
  if (type !== "json_schema") return { rest: fields.rest() };
  const name = fields.string("name");
  const description = fields.string("description");
  const strict = fields.boolean("strict");
  const format: OutputFormat = {
    type: "schema",
    schema: fields.object("schema") ?? {},
    ...withoutAbsent({ name, description, strict }),
  };
  return { format, rest: fields.rest() };
}
