import type { Project } from "../api/types.ts";
import { callsWith } from "../parts/filter-bar.tsx";
import type { MenuItem } from "./row-menu.tsx";

export const projectAddress = (id: string): string => `/projects/${encodeURIComponent(id)}`;

/** What can be done with a project. Those of the configuration file cannot be changed. */
export const projectActions = (
  { id, from }: Project,
  { seesCalls, onEdit }: { seesCalls: boolean; onEdit: (() => void) | undefined },
): MenuItem[] => [
  { name: "Open", href: projectAddress(id) },
  { name: "Its keys", href: `/keys?${new URLSearchParams({ project: id })}` },
  ...(seesCalls ? [{ name: "View calls", href: callsWith({ project: id }, "30d") }] : []),
  { name: "View usage", href: `/usage?${new URLSearchParams({ q: `project:${id}`, by: "day,key", range: "30d" })}` },
  ...(onEdit !== undefined && from === "storage" ? [{ name: "Edit", onClick: onEdit }] : []),
];
