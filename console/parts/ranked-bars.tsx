import { money } from "../format/money.ts";
import { percent, short } from "../format/numbers.ts";
import { METRICS, type MetricName, type Report, rankedOf } from "../state/usage.ts";
import { insideOf, type UsageView } from "../state/usage-links.ts";
import { words } from "./basics.tsx";
import { keyOfRow, rowWords } from "./usage-table.tsx";

const MOST = 10;

interface RankedBarsProps {
  view: UsageView;
  metric: MetricName;
  report: Report;
}

/** The largest groups as bars, each with its share of the total. A bar leads to what its group consists of. */
export function RankedBars({ view, metric, report }: RankedBarsProps) {
  const ranked = rankedOf(report, metric, MOST);
  const all = report.total[metric];
  const shown = (value: number): string => (metric === "cost" ? money(value) : short(value));
  const rest = report.rows.length - ranked.length;
  return (
    <figure class="chart ranked">
      <figcaption>
        <h2>
          {METRICS[metric].name} by {words(view.by.join(" and "))}
        </h2>
        <span class="muted small">share of {shown(all)}</span>
      </figcaption>
      {ranked.length === 0 && <p class="muted">No {METRICS[metric].name.toLowerCase()} in this time range.</p>}
      <ol>
        {ranked.map(({ row, size, length }) => {
          const name = rowWords(view.by, row);
          const address = insideOf(view, row);
          return (
            <li key={keyOfRow(row)}>
              <span class="name" title={name}>
                {address === undefined ? name : <a href={address}>{name}</a>}
              </span>
              <meter class="bar" min={0} max={1} value={length} aria-hidden="true" />
              <span class="number">{shown(size)}</span>
              <span class="number muted">{percent(size, all)}</span>
            </li>
          );
        })}
      </ol>
      {rest > 0 && ranked.length === MOST && <p class="muted small">{rest} more in the table</p>}
    </figure>
  );
}
