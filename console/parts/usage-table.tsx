import { money, usd } from "../format/money.ts";
import { percent, whole } from "../format/numbers.ts";
import { day, when } from "../format/time.ts";
import type { CallFilter } from "../state/filter.ts";
import { nameOfKey } from "../state/names.ts";
import { isTime, METRIC_NAMES, METRICS, type MetricName, type Report, type SumRow } from "../state/usage.ts";
import { callsWith } from "./filter-bar.tsx";

const shownAs = (name: MetricName, value: number): string => (name === "cost" ? usd(value, 4) : whole(value));

function groupWords(dimension: string, group: string): string {
  if (dimension === "key") return nameOfKey(group);
  if (dimension === "hour") return when(group);
  if (dimension === "day") return `${day(`${group}T00:00`)} ${group.slice(0, 4)}`;
  return group === "" ? "(none)" : group;
}

/** The filter that selects the calls of a row; undefined if a filter cannot express it. */
function filterOf(by: readonly string[], { groups }: SumRow): CallFilter | undefined {
  const filter = Object.fromEntries(
    by.flatMap((dimension, at) => (isTime(dimension) ? [] : [[dimension, groups[at] ?? ""]])),
  );
  return Object.values(filter).some((value) => value === "") ? undefined : (filter as CallFilter);
}

const Values = ({ values, metric }: { values: Record<MetricName, number>; metric: MetricName }) => (
  <>
    {METRIC_NAMES.map((name) => (
      <td key={name} class={name === metric ? "number strong" : "number"}>
        {shownAs(name, values[name])}
      </td>
    ))}
  </>
);

/** All rows of a report, the remainder and the total. */
export function UsageTable({ by, metric, report }: { by: readonly string[]; metric: MetricName; report: Report }) {
  const most = Math.max(1, ...report.rows.map(({ values }) => values[metric]));
  return (
    <section class="wide" tabIndex={0} aria-label="Totals">
      <table class="list">
        <thead>
          <tr>
            {by.map((dimension) => (
              <th key={dimension} scope="col">
                {dimension[0]?.toUpperCase()}
                {dimension.slice(1)}
              </th>
            ))}
            <th scope="col">Share</th>
            {METRIC_NAMES.map((name) => (
              <th key={name} scope="col" class="number">
                {METRICS[name].name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {report.rows.map((row) => {
            const filter = filterOf(by, row);
            return (
              <tr key={row.groups.join("\u0000")}>
                {by.map((dimension, at) => {
                  const name = groupWords(dimension, row.groups[at] ?? "");
                  const isLink = filter !== undefined && !isTime(dimension);
                  return (
                    <td key={dimension} class="name">
                      {isLink ? <a href={callsWith(filter, "30d")}>{name}</a> : name}
                    </td>
                  );
                })}
                <td class="share">
                  <meter class="bar" min={0} max={most} value={row.values[metric]} aria-hidden="true" />
                  <span class="muted small">{percent(row.values[metric], report.total[metric])}</span>
                </td>
                <Values values={row.values} metric={metric} />
              </tr>
            );
          })}
          {report.other && (
            <tr>
              <td colSpan={by.length}>Other</td>
              <td class="share">
                <span class="muted small">{percent(report.other[metric], report.total[metric])}</span>
              </td>
              <Values values={report.other} metric={metric} />
            </tr>
          )}
        </tbody>
        <tfoot>
          <tr>
            <th scope="row" colSpan={by.length + 1}>
              Total <span class="unseen">{money(report.total.cost)}</span>
            </th>
            <Values values={report.total} metric={metric} />
          </tr>
        </tfoot>
      </table>
    </section>
  );
}
