import { session } from "../api/client.ts";
import { callsWith } from "../parts/filter-bar.tsx";
import { type Window, windowStart } from "../state/budgets.ts";
import type { Owner } from "./owner-spend.tsx";

/** The calls that a figure of a window counts. Operators of one project have usage, but no list of calls. */
export function callsOfWindow(owner: Owner, window: Window): string | undefined {
  const from = windowStart(window, Date.now());
  if (from === undefined) return undefined;
  const address = `${callsWith(owner)}&${new URLSearchParams({ from: from.toISOString(), zone: "UTC" })}`;
  return session.value?.role === "project" ? address.replace("/calls", "/usage") : address;
}
