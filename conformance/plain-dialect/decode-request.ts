import type { JsonObject } from "../../src/base/json.ts";
import type { CanonCall, Turn } from "../../src/canon/call.ts";
import { Fields } from "../../src/canon/fields.ts";
import { ROUTING_FIELDS } from "../../src/dialects/reading/routing-fields.ts";
import { FIELD_NAMES } from "./field-names.ts";

export function decodeRequest(body: JsonObject): CanonCall {
  const fields = new Fields(body);
  // Honoured by the gateway itself, and not part of what the model reads.
  fields.skip("model", "stream", ...ROUTING_FIELDS);
  const turns = (fields.array("lines") ?? []).map((line, index) => decodeLine(line, `lines[${index}]`));
  const most = fields.number("most");
  return {
    dialect: "plain",
    fieldNames: FIELD_NAMES,
    system: [],
    turns,
    tools: [],
    ...(most === undefined ? {} : { maxOutputTokens: most }),
    paths: most === undefined ? {} : { maxOutputTokens: "most" },
    // Whatever was not read, so that no field is lost by being forgotten.
    extras: Object.entries(fields.rest() ?? {}).map(([key, value]) => ({ keys: [key], value })),
  };
}

function decodeLine(line: unknown, path: string): Turn {
  const fields = new Fields(line);
  const who = fields.string("who");
  const text = fields.string("text") ?? "";
  const extras = fields.rest();
  const role = who === "model" ? "assistant" : who === "system" ? "system" : "user";
  return {
    role,
    parts: [{ type: "text", text, path: `${path}.text` }],
    path,
    ...(extras === undefined ? {} : { extras }),
  };
}
