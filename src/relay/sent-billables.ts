import type { Billable } from "../canon/billable.ts";
import type { Call } from "./call.ts";

/** The billables of a request that the host was sent: a note names what was left out, or something that holds it. */
export function sentBillables({ billables, attempt }: Pick<Call, "billables" | "attempt">): readonly Billable[] {
  const dropped = attempt?.notes.filter(({ action }) => action === "dropped") ?? [];
  if (dropped.length === 0) return billables;
  return billables.filter((billable) => !dropped.some(({ path }) => isWithin(billable.path, path)));
}

const isWithin = (path: string, holder: string): boolean =>
  path.startsWith(holder) && (path.length === holder.length || /[.[]/.test(path.charAt(holder.length)));
