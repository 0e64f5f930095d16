import { type JsonObject, objectAt, stringAt } from "../../../base/json.ts";

/** The tool's type. Settings that affect its price follow a colon. */
export function toolName(tool: JsonObject, type: string): string {
  if (type === "image_generation") {
    const named = withVariant(type, stringAt(tool, "quality"));
    return isLarge(stringAt(tool, "size")) ? `${named}:large` : named;
  }
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

/** Larger than the usual sizes, of which 1536x1024 is the largest. Only some models make such images. */
function isLarge(size: string | undefined): boolean {
  const [, width, height] = /^(\d+)x(\d+)$/.exec(size ?? "") ?? [];
  return Number(width) * Number(height) > 1536 * 1024;
}
