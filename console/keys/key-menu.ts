import type { Key } from "../api/types.ts";
import { callsWith } from "../parts/filter-bar.tsx";
import type { MenuItem } from "./row-menu.tsx";

export type KeyAct = "edit" | "limits" | "rotate" | "revoke";

export const keyAddress = (id: string): string => `/keys/${encodeURIComponent(id)}`;

/** What can be done with a key. Keys of the configuration file, and revoked ones, cannot be changed. */
export function keyActions(
  { id, from, revoked_at }: Key,
  { seesCalls, onAct }: { seesCalls: boolean; onAct: ((act: KeyAct) => void) | undefined },
): MenuItem[] {
  const act = (name: string, one: KeyAct, danger = false): MenuItem => ({ name, onClick: () => onAct?.(one), danger });
  const usage = `/usage?${new URLSearchParams({ q: `key:${id}`, by: "day,model", range: "30d" })}`;
  return [
    { name: "Open", href: keyAddress(id) },
    ...(seesCalls ? [{ name: "View calls", href: callsWith({ key: id }, "30d") }] : []),
    { name: "View usage", href: usage },
    ...(onAct !== undefined && from === "storage" && revoked_at === null
      ? [
          act("Edit name, tags, expiry", "edit"),
          act("Edit limits", "limits"),
          act("Rotate", "rotate"),
          act("Revoke", "revoke", true),
        ]
      : []),
  ];
}
