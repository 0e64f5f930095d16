import type { KeyView } from "../../../access/key-view.ts";

export const KEY_STATES = ["active", "expired", "revoked"] as const;
type KeyState = (typeof KEY_STATES)[number];

export function keyState(
  { revoked_at, expires_at }: Pick<KeyView, "revoked_at" | "expires_at">,
  nowMs: number,
): KeyState {
  if (revoked_at !== null) return "revoked";
  return expires_at !== null && Date.parse(expires_at) <= nowMs ? "expired" : "active";
}
