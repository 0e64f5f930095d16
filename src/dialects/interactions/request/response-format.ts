import { isObject, type JsonObject } from "../../../base/json.ts";
import type { OutputFormat } from "../../../canon/call.ts";

const JSON_TYPE = "application/json";
/** The types that a format can have. An object with another type is a JSON Schema. */
const FORMAT_TYPES: ReadonlySet<unknown> = new Set(["text", "image", "audio", "video"]);

interface DecodedFormat {
  format: OutputFormat | undefined;
  /** The fields that say nothing more. */
  read: readonly string[];
}

/**
 * The format of the text in a response. A format of another kind, or a list with one, only has a meaning in this dialect. The older field
 * `response_mime_type` goes with a bare JSON Schema.
 */
export function decodeFormat({ response_format: asked, response_mime_type: mimeType }: JsonObject): DecodedFormat {
  const list: readonly unknown[] = Array.isArray(asked) ? asked : [asked];
  const [only, ...others] = list;
  if (others.length > 0) return { format: undefined, read: [] };
  if (!isObject(only)) {
    return { format: mimeType === JSON_TYPE ? { type: "json" } : undefined, read: ["response_mime_type"] };
  }
  const read = ["response_format", "response_mime_type"];
  if (!FORMAT_TYPES.has(only["type"])) return { format: { type: "schema", schema: only }, read };
  if (only["type"] !== "text") return { format: undefined, read: [] };
  const { schema } = only;
  if (isObject(schema)) return { format: { type: "schema", schema }, read };
  return { format: only["mime_type"] === JSON_TYPE ? { type: "json" } : undefined, read };
}

export function encodeFormat(format: OutputFormat, schema: JsonObject | undefined): JsonObject {
  const shape = { type: "text", mime_type: JSON_TYPE };
  return format.type === "json" ? shape : { ...shape, schema: schema ?? format.schema };
}
