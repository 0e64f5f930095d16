import { isObject, type JsonObject } from "../base/json.ts";
import { type Billable, WEB_SEARCH } from "../canon/billable.ts";

const NONE: readonly Billable[] = [];

/** Kinds of tools that the caller runs in every protocol that names tools by their `type`. */
const BY_THE_CALLER: ReadonlySet<unknown> = new Set([undefined, null, "function", "custom"]);

/** What one tool of a list is: its name, with its variant, and a limit of its own. */
type ReadTool = (tool: JsonObject, type: string) => Pick<Billable, "name" | "most">;

/** The tools of a list that a host runs, or might. Requests with functions alone allocate nothing. */
export function billableTools(tools: unknown, path: string, read: ReadTool): readonly Billable[] {
  if (!Array.isArray(tools)) return NONE;
  let found: Billable[] | undefined;
  for (let index = 0; index < tools.length; index++) {
    const tool: unknown = tools[index];
    if (!isObject(tool)) continue;
    const { type } = tool;
    if (BY_THE_CALLER.has(type)) continue;
    found ??= [];
    const at = `${path}[${index}]`;
    if (type === "namespace") found.push(...billableTools(tool["tools"], `${at}.tools`, read));
    else found.push({ kind: "tool", path: `${at}.type`, ...read(tool, String(type)), ...crossing(type) });
  }
  return found ?? NONE;
}

const crossing = (type: unknown): Pick<Billable, "crossesAs"> =>
  typeof type === "string" && type.startsWith(WEB_SEARCH) ? { crossesAs: WEB_SEARCH } : {};
