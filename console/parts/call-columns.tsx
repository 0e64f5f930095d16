import type { ReceiptItem } from "../api/types.ts";
import { counted, decimal, duration, known } from "../format/numbers.ts";
import { clockTime, day, full, isToday } from "../format/time.ts";
import { costWords } from "../state/call-cost.ts";
import { callSpeed, generatedTokens } from "../state/call-speed.ts";
import { COLUMNS, type ColumnName, hidden } from "../state/columns.ts";
import type { CallFilter } from "../state/filter.ts";
import { nameOfKey } from "../state/names.ts";
import { Outcome } from "./basics.tsx";
import type { Column } from "./data-table.tsx";

const sumOf = (...parts: (number | null)[]): number | null =>
  parts.every((part) => part === null) ? null : parts.reduce<number>((sum, part) => sum + (part ?? 0), 0);

/** Short notes on how a call was served. */
function remarks({ offers, fields, hedged, continued, adjusts, stream, guards }: ReceiptItem): string[] {
  const tried = offers.length > 1 ? [`${offers.length} attempts`] : [];
  return [
    ...(adjusts === null ? [] : ["correction"]),
    ...tried,
    ...(hedged ? ["hedged"] : []),
    ...(continued.length > 0 ? ["continued"] : []),
    ...["blocked", "redacted", "unreadable"].filter((verdict) => guards.some((guard) => guard.verdict === verdict)),
    ...(guards.some(({ verdict }) => verdict === "not_run") ? ["guard not run"] : []),
    ...(fields.length > 0 ? [counted(fields.length, "adjusted field")] : []),
    ...(stream ? [] : ["not streamed"]),
  ];
}

export const COLUMN_TITLES: Readonly<Record<ColumnName, string>> = {
  outcome: "Outcome",
  model: "Model",
  key: "Key",
  cost: "Cost",
  first_content: "First content",
  total: "Total",
  input: "In",
  cached: "Cached",
  output: "Out",
  speed: "Tok/s",
  dialect: "Dialect",
  remarks: "Notes",
};

type Narrow = (more: CallFilter) => void;
type Shown = Omit<Column<ReceiptItem>, "id" | "title">;

const number = (cell: Shown["cell"], { muted = false, onPhone = "hidden" }: Partial<Shown> = {}): Shown => ({
  kind: "number",
  cell,
  muted,
  onPhone,
});

const shownBy = (narrow: Narrow): Readonly<Record<ColumnName, Shown>> => ({
  outcome: {
    onPhone: "lead",
    cell: ({ outcome, offers, error }) => (
      <span title={error?.message}>
        <Outcome outcome={outcome} />
        {offers.length > 1 && <small class="tries"> {offers.length} attempts</small>}
      </span>
    ),
  },
  model: {
    cell: ({ model, provider }) => (
      <button type="button" class="cell two-lines" title={`Filter by ${model}`} onClick={() => narrow({ model })}>
        {model}
        <small>{provider === "" ? "no provider" : provider}</small>
      </button>
    ),
  },
  key: {
    cell: ({ key, end_user }) => (
      <button
        type="button"
        class={end_user === null ? "cell two-lines single" : "cell two-lines"}
        title={`Filter by ${nameOfKey(key)}${end_user === null ? "" : ` and ${end_user}`}`}
        onClick={() => narrow(end_user === null ? { key } : { key, end_user })}
      >
        {nameOfKey(key)}
        {end_user !== null && <small>{end_user}</small>}
      </button>
    ),
  },
  cost: {
    kind: "number",
    onPhone: "line",
    cell: (call) => {
      const { text, title } = costWords(call);
      return (
        <span title={title} class={/^[$−]/.test(text) ? undefined : "muted"}>
          {text}
        </span>
      );
    },
  },
  first_content: number(({ first_content_ms }) => known(first_content_ms, duration)),
  total: number(({ total_ms }) => duration(total_ms), { onPhone: "line" }),
  input: number(({ usage }) => known(sumOf(usage.input, usage.cache_write_5m, usage.cache_write_1h))),
  cached: number(({ usage }) => known(usage.cache_read), { muted: true }),
  output: number((call) => known(generatedTokens(call))),
  speed: number((call) => known(callSpeed(call), decimal), { muted: true }),
  dialect: {
    muted: true,
    onPhone: "hidden",
    cell: ({ dialect, lane }) => `${dialect.client}${lane === "translated" ? ` → ${dialect.upstream}` : ""}`,
  },
  remarks: { muted: true, cell: (call) => remarks(call).join(", ") },
});

/** The visible columns, in order. A click on a model, or on a key with its end user, narrows the list to it. */
export function callColumns(narrow: Narrow): Column<ReceiptItem>[] {
  const shown = shownBy(narrow);
  return [
    {
      id: "time",
      title: "Time",
      cell: ({ id, created_at }) => (
        <a
          class={isToday(created_at) ? "time two-lines single" : "time two-lines"}
          href={`/calls/${id}`}
          title={full(created_at)}
        >
          {clockTime(created_at)}
          {isToday(created_at) ? null : <small>{day(created_at)}</small>}
        </a>
      ),
    },
    ...COLUMNS.filter((name) => !hidden.value.has(name)).map((name) => ({
      id: name,
      title: COLUMN_TITLES[name],
      ...shown[name],
    })),
  ];
}
