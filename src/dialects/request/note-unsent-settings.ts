import type { Notes } from "../../canon/notes.ts";
import type { NativeTool } from "../../canon/tool.ts";

/** Notes the settings of another dialect's tool that its counterpart lacks. */
export function noteUnsentSettings({ path, unsent = [] }: NativeTool, notes: Notes): void {
  for (const setting of unsent) notes.dropped(`${path}.${setting}`, "this provider's tool has no such setting");
}
