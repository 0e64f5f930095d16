import type { OutputFormat } from "../../../canon/call.ts";
import { Fields } from "../../../canon/fields.ts";

/** `text.format`: flat, with the schema in its own fields (R18). */
export function decodeFormat(text: Fields): { format?: OutputFormat; rest: ReturnType<Fields["rest"]> } {
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
    ...(name === undefined ? {} : { name }),
    ...(description === undefined ? {} : { description }),
    ...(strict === undefined ? {} : { strict }),
  };
  return { format, rest: fields.rest() };
}
