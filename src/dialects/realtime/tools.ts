import { isObject, type JsonObject, stringAt } from "../../base/json.ts";
import { withoutAbsent } from "../../base/without-absent.ts";
import { Fields } from "../../canon/fields.ts";
import type { Notes } from "../../canon/notes.ts";
import { asksForCall, type Tool, type ToolChoice, type ToolMeaning } from "../../canon/tool.ts";
import { freeTextFunction } from "../request/free-text-tool.ts";
import { noteUnsentSettings } from "../request/note-unsent-settings.ts";

const DIALECT = "realtime";

export function decodeTools(tools: readonly unknown[], path: string): Tool[] {
  return tools.map((raw, index): Tool => {
    const fields = new Fields(raw);
    const at = `${path}[${index}]`;
    const type = fields.string("type") ?? "function";
    if (type !== "function") return hostedTool(isObject(raw) ? raw : {}, type, at);
    return withoutAbsent({
      type: "function" as const,
      name: fields.string("name") ?? "",
      description: fields.string("description"),
      schema: fields.object("parameters"),
      path: at,
      extras: fields.rest(),
    });
  });
}

/** The host calls the tools of a remote server. Connectors and calls that must be approved have no counterpart elsewhere. */
function hostedTool(raw: JsonObject, name: string, path: string): Tool {
  const native = { type: "native" as const, dialect: DIALECT, name, raw, path };
  if (name !== "mcp") return native;
  const fields = new Fields(raw);
  fields.skip("type", "server_description", "defer_loading");
  const [label, url] = [fields.string("server_label"), fields.string("server_url")];
  const authorization = fields.string("authorization");
  const isUnasked = fields.string("require_approval") === "never";
  if (label === undefined || url === undefined || !isUnasked || fields.rest() !== undefined) return native;
  const means: ToolMeaning = { type: "mcp", name: label, url, ...withoutAbsent({ authorization }) };
  return { ...native, means };
}

/** Functions, and servers whose tools the host calls. A host of this protocol has no other tools. */
export function encodeTools(tools: readonly Tool[], own: boolean, notes: Notes): JsonObject[] {
  return tools.flatMap((tool): JsonObject[] => {
    switch (tool.type) {
      case "function": {
        if (tool.strict) notes.dropped(`${tool.path}.strict`, "this protocol does not enforce the schemas of tools");
        if (!own) for (const name of Object.keys(tool.extras ?? {})) noteExtra(`${tool.path}.${name}`, notes);
        return [encodeFunction(tool.name, tool.description, tool.schema, own ? tool.extras : undefined)];
      }
      case "custom": {
        const made = freeTextFunction(tool, `${tool.path}.format`, notes);
        return [encodeFunction(made.name, made.description, made.schema)];
      }
      case "web-search":
        notes.dropped(tool.path, "hosts of this protocol do not search the web");
        return [];
      case "native": {
        if (tool.dialect === DIALECT) return [tool.raw];
        const hosted = tool.means?.type === "mcp" ? tool.means : undefined;
        if (hosted === undefined) {
          notes.dropped(tool.path, `only its own protocol has the tool ${tool.name}`);
          return [];
        }
        noteUnsentSettings(tool, notes);
        const { name, url, authorization, allowedTools } = hosted;
        const optional = withoutAbsent({ authorization, allowed_tools: allowedTools });
        return [{ type: "mcp", server_label: name, server_url: url, ...optional, require_approval: "never" }];
      }
      default:
        return tool satisfies never;
    }
  });
}

const noteExtra = (path: string, notes: Notes): void =>
  notes.dropped(path, "only its own protocol has this field, and this provider uses another one");

/** A function without arguments still has a schema. */
const encodeFunction = (
  name: string,
  description: string | undefined,
  schema: JsonObject | undefined,
  extras: JsonObject = {},
): JsonObject => ({
  type: "function",
  name,
  ...withoutAbsent({ description }),
  parameters: schema ?? { type: "object", properties: {} },
  ...extras,
});

/** A choice that this protocol has beside those of others is undefined. */
export function decodeToolChoice(raw: unknown): ToolChoice | undefined {
  if (raw === "auto" || raw === "none") return { type: raw };
  if (raw === "required") return { type: "any" };
  const name = stringAt(raw, "type") === "function" ? stringAt(raw, "name") : undefined;
  return name === undefined ? undefined : { type: "tool", name };
}

export function encodeToolChoice(choice: ToolChoice, path: string, notes: Notes): unknown {
  switch (choice.type) {
    case "auto":
    case "none":
      return choice.type;
    case "any":
      return "required";
    case "tool":
      return { type: "function", name: choice.name };
    case "allowed":
      notes.approximated(path, "this protocol cannot limit the choice to some of the tools");
      return asksForCall(choice) && choice.mode === "any" ? "required" : "auto";
    default:
      return choice satisfies never;
  }
}
