import type { Billable } from "../../canon/billable.ts";
import type { FieldNote } from "../../canon/receipt.ts";
import type { Target } from "../../routing/target.ts";

/** The billable parts of a request, and the attempt that served it. */
export interface RequestedBillables {
  billables: readonly Billable[];
  attempt: { target: Pick<Target, "codec" | "toolPrices"> | undefined; notes: readonly FieldNote[] } | undefined;
}

/** The billables that the host was sent. A note names what was left out, or something that contains it. */
export function sentBillables({ billables, attempt }: RequestedBillables): readonly Billable[] {
  const dropped = attempt?.notes.filter(({ action }) => action === "dropped") ?? [];
  if (dropped.length === 0) return billables;
  return billables.filter((billable) => !dropped.some(({ path }) => isWithin(billable.path, path)));
}

const isWithin = (path: string, holder: string): boolean =>
  path.startsWith(holder) && (path.length === holder.length || /[.[]/.test(path.charAt(holder.length)));
