import type { ComponentChildren } from "preact";
import type { ReceiptItem } from "../api/types.ts";
import { usd } from "../format/money.ts";
import { counted, decimal, duration, known, speed } from "../format/numbers.ts";
import { COLUMNS, type ColumnName, hidden } from "../state/columns.ts";
import type { CallFilter } from "../state/filter.ts";
import { nameOfKey } from "../state/names.ts";
import { Outcome } from "./basics.tsx";

/** One column of the call list. `narrow` adds the cell's value to the filter. */
export interface CallColumn {
  title: string;
  class?: string;
  headClass?: string;
  cell: (call: ReceiptItem, narrow: (more: CallFilter) => void) => ComponentChildren;
}

const sumOf = (...parts: (number | null)[]): number | null =>
  parts.every((part) => part === null) ? null : parts.reduce<number>((sum, part) => sum + (part ?? 0), 0);

const generated = ({ usage }: ReceiptItem): number | null => sumOf(usage.output, usage.reasoning);

/** Short notes on how a call was served. */
function remarks({ offers, fields, hedged, continued, adjusts, stream, guards }: ReceiptItem): string[] {
  const tried = offers.length > 1 ? [`${offers.length} attempts`] : [];
  return [
    ...(adjusts === null ? [] : ["correction"]),
    ...tried,
    ...(hedged ? ["hedged"] : []),
    ...(continued.length > 0 ? ["continued"] : []),
    ...["blocked", "redacted"].filter((verdict) => guards.some((guard) => guard.verdict === verdict)),
    ...(guards.some(({ verdict }) => verdict === "not_run") ? ["guard not run"] : []),
    ...(fields.length > 0 ? [counted(fields.length, "adjusted field")] : []),
    ...(stream ? [] : ["not streamed"]),
  ];
}

const number = (title: string, cell: CallColumn["cell"], tone = ""): CallColumn => ({
  title,
  class: `number${tone}`,
  headClass: "number",
  cell,
});

export const CALL_COLUMNS: Readonly<Record<ColumnName, CallColumn>> = {
  outcome: { title: "Outcome", cell: ({ outcome }) => <Outcome outcome={outcome} /> },
  model: {
    title: "Model",
    class: "name",
    cell: ({ model }, narrow) => (
      <button type="button" class="cell" title="Filter by this model" onClick={() => narrow({ model })}>
        {model}
      </button>
    ),
  },
  provider: { title: "Provider", class: "name muted", cell: ({ provider }) => provider },
  key: {
    title: "Key",
    class: "name",
    cell: ({ key }, narrow) => (
      <button type="button" class="cell" title="Filter by this key" onClick={() => narrow({ key })}>
        {nameOfKey(key)}
      </button>
    ),
  },
  first_content: number("First content", ({ first_content_ms }) => known(first_content_ms, duration)),
  total: number("Total", ({ total_ms }) => duration(total_ms)),
  input: number("In", ({ usage }) => known(sumOf(usage.input, usage.cache_write_5m, usage.cache_write_1h))),
  cached: number("Cached", ({ usage }) => known(usage.cache_read), " muted"),
  output: number("Out", (call) => known(generated(call))),
  speed: number(
    "Tok/s",
    (call) => known(speed(generated(call), call.first_content_ms, call.total_ms), decimal),
    " muted",
  ),
  cost: number("Cost", ({ cost_nano_usd }) => usd(cost_nano_usd, 6)),
  dialect: {
    title: "Dialect",
    class: "muted",
    cell: ({ dialect, lane }) => `${dialect.client}${lane === "translated" ? ` → ${dialect.upstream}` : ""}`,
  },
  remarks: { title: "Notes", class: "muted remarks", cell: (call) => remarks(call).join(", ") },
};

/** The visible columns, in order. */
export const shownColumns = (): readonly ColumnName[] => COLUMNS.filter((name) => !hidden.value.has(name));
