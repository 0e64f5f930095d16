import { money, usd } from "../format/money.ts";
import { percent, short, whole } from "../format/numbers.ts";
import { day, when } from "../format/time.ts";
import { nameOfKey, nameOfProject } from "../state/names.ts";
import { isTime, largestOf, METRIC_NAMES, METRICS, type MetricName, type Report, type SumRow } from "../state/usage.ts";
import { callsOf, type UsageView } from "../state/usage-links.ts";
import { words } from "./basics.tsx";
import { Change } from "./change.tsx";
import { type Column, classOf, DataTable } from "./data-table.tsx";

const shownAs = (name: MetricName, value: number): string => (name === "cost" ? money(value) : short(value));

const exactly = (name: MetricName, value: number): string => (name === "cost" ? usd(value, 9) : whole(value));

const titled = (text: string): string => `${text[0]?.toUpperCase() ?? ""}${text.slice(1)}`;

/** A group as people call it. */
export function groupWords(dimension: string, group: string): string {
  if (group === "") return "(none)";
  if (dimension === "key") return nameOfKey(group);
  if (dimension === "project") return nameOfProject(group);
  if (dimension === "hour") return when(group);
  if (dimension === "day") return `${day(group)} ${group.slice(0, 4)}`;
  return dimension === "outcome" ? words(group) : group;
}

export const rowWords = (by: readonly string[], { groups }: SumRow): string =>
  by.map((dimension, at) => groupWords(dimension, groups[at] ?? "")).join(" · ");

/** Between the groups of a row's key. */
export const SEPARATOR = "\u0000";

export const keyOfRow = ({ groups }: SumRow): string => groups.join(SEPARATOR);

interface UsageTableProps {
  view: UsageView;
  metric: MetricName;
  report: Report;
  /** The values of the groups in the period before; undefined if that cannot be compared. */
  before: ReadonlyMap<string, Record<MetricName, number>> | undefined;
  /** The server sent all groups, so that they may be sorted here. */
  isComplete: boolean;
}

const WORSE: Readonly<Partial<Record<MetricName, "worse">>> = { failures: "worse" };

/** All rows of a report, the remainder and the total. Percentages are shares of the total, bars of the largest row. */
export function UsageTable({ view, metric, report, before, isComplete }: UsageTableProps) {
  const { by } = view;
  const all = report.total[metric];
  const largest = largestOf(report.rows, metric);
  const sortable = <Value extends number | string>(of: (row: SumRow) => Value) => (isComplete ? { sortBy: of } : {});
  const columns: Column<SumRow>[] = [
    ...by.map(
      (dimension, at): Column<SumRow> => ({
        id: dimension,
        title: titled(words(dimension)),
        ...sortable((row) =>
          isTime(dimension) ? (row.groups[at] ?? "") : groupWords(dimension, row.groups[at] ?? ""),
        ),
        cell: (row) => {
          const name = groupWords(dimension, row.groups[at] ?? "");
          const address = at === 0 ? callsOf(view, row) : undefined;
          return <span title={name}>{address === undefined ? name : <a href={address}>{name}</a>}</span>;
        },
      }),
    ),
    {
      id: "share",
      title: "Share",
      cell: ({ values }) => (
        <span class="share-of">
          <meter class="bar" min={0} max={largest} value={values[metric]} aria-hidden="true" />
          {percent(values[metric], all)}
        </span>
      ),
    },
    ...METRIC_NAMES.filter((name) => name !== metric).map(
      (name): Column<SumRow> => ({
        id: name,
        title: METRICS[name].name,
        kind: "number",
        ...sortable(({ values }) => values[name]),
        cell: ({ values }) => <span title={exactly(name, values[name])}>{shownAs(name, values[name])}</span>,
        onPhone: name === "cost" || name === "calls" ? "line" : "hidden",
        ...(name === "cached" || name === "input" ? { room: 1100 } : name === "output" ? { room: 900 } : {}),
      }),
    ),
    ...(before === undefined
      ? []
      : [
          {
            id: "change",
            title: "Change",
            kind: "number",
            room: 900,
            cell: (row) => (
              <Change
                now={row.values[metric]}
                before={before.get(keyOfRow(row))?.[metric] ?? null}
                {...(WORSE[metric] === undefined ? {} : { more: WORSE[metric] })}
              />
            ),
          } satisfies Column<SumRow>,
        ]),
    {
      id: metric,
      title: METRICS[metric].name,
      kind: "number",
      ...sortable(({ values }) => values[metric]),
      cell: ({ values }) => <b title={exactly(metric, values[metric])}>{shownAs(metric, values[metric])}</b>,
      onPhone: "lead",
    },
  ];
  const sumRow = (name: string, values: Record<MetricName, number>) => (
    <tr key={name}>
      {columns.map((column, at) => {
        const { id, title } = column;
        const metricOf = METRIC_NAMES.find((one) => one === id);
        const text = at === 0 ? name : metricOf === undefined ? "" : shownAs(metricOf, values[metricOf]);
        const cell = id === "share" && name !== "Total" ? percent(values[metric], all) : text;
        const className = classOf(at === 0 ? { ...column, onPhone: "lead" } : column);
        return at === 0 ? (
          <th key={id} scope="row" class={className}>
            {cell}
          </th>
        ) : (
          <td key={id} class={className} data-label={title}>
            {cell}
          </td>
        );
      })}
    </tr>
  );
  return (
    <DataTable
      label="Totals"
      class="usage-rows"
      rows={report.rows}
      keyOf={keyOfRow}
      columns={columns}
      foot={
        <>
          {report.other && sumRow("Other", report.other)}
          {sumRow("Total", report.total)}
        </>
      }
    />
  );
}
