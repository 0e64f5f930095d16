import { type JsonObject, objectAt, stringAt } from "../../../base/json.ts";

/** The tool's type. Settings that affect its price follow a colon. */
export function toolName(tool: JsonObject, type: string): string {
  if (type === "image_generation") return withVariant(type, stringAt(tool, "quality"));
  if (type === "code_interpreter") return withVariant(type, stringAt(objectAt(tool, "container"), "memory_limit"));
  if (type !== "shell") return type;
  const environment = objectAt(tool, "environment");
  const runs = stringAt(environment, "type");
  return withVariant(type, runs === "local" ? runs : stringAt(environment, "memory_limit"));
}

/** Default values, which are not variants. */
const ORDINARY: ReadonlySet<string | undefined> = new Set([undefined, "", "auto", "1g"]);

const withVariant = (name: string, variant: string | undefined): string =>
  ORDINARY.has(variant) ? name : `${name}:${variant}`;
