import { useEffect, useRef, useState } from "preact/hooks";
import uPlot from "uplot";
import { money } from "../format/money.ts";
import { duration, short } from "../format/numbers.ts";
import { ticks, type Unit } from "../format/ticks.ts";
import { clockTime, day } from "../format/time.ts";
import { drawnScheme } from "../state/scheme.ts";
import { shownZone } from "../state/zone.ts";
import { Icon } from "./icon.tsx";

/** Colour names from styles/colours.css. */
export type Tone = "one" | "two" | "three" | "four" | "five" | "rest" | "bad";

export interface Series {
  name: string;
  values: readonly (number | null)[];
  tone: Tone;
}

interface ChartProps {
  title: string;
  /** In milliseconds. */
  times: readonly number[];
  everyMs: number;
  series: readonly Series[];
  /** Bars are stacked; lines are not. */
  kind: "bars" | "lines";
  unit: Unit;
  /** One sentence that describes the chart, for screen readers. */
  summary: string;
  height?: number;
  /** The range to show, even if its first or last part has no data. */
  span?: readonly [fromMs: number, toMs: number];
  /** Called when the reader drags over a span of time. */
  onSpan?: (fromMs: number, toMs: number) => void;
}

const SYNC = "console";

const FORMATS = { money, time: duration, count: short };

/** Cumulative sums from the bottom of the stack; the last is the total height. */
export function stacked(series: readonly Series[]): number[][] {
  const sums: number[][] = [];
  for (const { values } of series) {
    const below = sums.at(-1);
    sums.push(values.map((value, at) => (value ?? 0) + (below?.[at] ?? 0)));
  }
  return sums;
}

/** The tops that axes have, times a power of ten. Each has a label. */
const TOPS = [1, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10];

/** Where an axis ends whose largest value is this. */
export function topOf(most: number): number {
  if (!(most > 0)) return 1;
  const unit = 10 ** Math.floor(Math.log10(most));
  return (TOPS.find((top) => top * unit >= most) ?? 10) * unit;
}

type Spanned = Pick<ChartProps, "times" | "everyMs" | "kind" | "span">;

/** The time span of the axis, in milliseconds: the requested range, extended to whole bars. */
export function spanShown({ times, everyMs, kind, span }: Spanned): [number, number] {
  const [first = span?.[0] ?? 0, last = span?.[1] ?? 0] = [times[0], times.at(-1)];
  const end = kind === "bars" ? last + everyMs : last;
  const [from, to] = [Math.min(first, span?.[0] ?? first), Math.max(end, span?.[1] ?? end)];
  return [from, to > from ? to : from + everyMs];
}

const isValue = (value: unknown): boolean => value !== null && value !== undefined;

/** The points with gaps on both sides, which no line would show. */
export function lonely(values: ArrayLike<unknown> = []): number[] {
  return Array.from(values).flatMap((value, at) =>
    isValue(value) && !isValue(values[at - 1]) && !isValue(values[at + 1]) ? [at] : [],
  );
}

function coloursIn(host: HTMLElement, classes: readonly string[]): string[] {
  const probe = document.createElement("i");
  host.append(probe);
  const colours = classes.map((name) => {
    probe.className = name;
    return getComputedStyle(probe).color;
  });
  probe.remove();
  return colours;
}

/** `14:00`, or the date at midnight. */
function axisWords(seconds: readonly number[]): string[] {
  return seconds.map((second) => {
    const time = clockTime(second * 1_000).slice(0, 5);
    return time === "00:00" ? day(second * 1_000) : time;
  });
}

const FONT = "11px Inter, ui-sans-serif, system-ui, sans-serif";

function optionsOf(
  latest: { readonly current: ChartProps },
  host: HTMLElement,
  onCursor: (at: number | undefined) => void,
): uPlot.Options {
  const { series, kind, unit, height = 150, onSpan } = latest.current;
  const zone = shownZone.value;
  const drawn = kind === "bars" ? series.toReversed() : series;
  const tones = coloursIn(host, ["tone-axis", "tone-grid", ...drawn.map(({ tone }) => `tone-${tone}`)]);
  const [axis = "", grid = "", ...colours] = tones;
  const bars = uPlot.paths.bars?.({ size: [0.72, 26], align: 1, gap: 1 });
  return {
    width: Math.max(120, host.clientWidth),
    height,
    tzDate: (second) => uPlot.tzDate(new Date(second * 1_000), zone),
    padding: [8, 22, 0, 0],
    legend: { show: false },
    cursor: {
      sync: { key: SYNC },
      points: { show: kind === "lines", size: 6 },
      drag: { x: onSpan !== undefined, y: false, setScale: false },
      y: false,
    },
    scales: {
      x: {
        time: true,
        range: () => {
          const [from, to] = spanShown(latest.current);
          return [from / 1_000, to / 1_000];
        },
      },
      y: { range: (_plot, _min, max) => [0, topOf(max)] },
    },
    axes: [
      {
        stroke: axis,
        font: FONT,
        grid: { show: false },
        ticks: { stroke: grid, width: 1, size: 4 },
        size: 26,
        space: 70,
        values: (_plot, seconds) => axisWords(seconds),
      },
      {
        stroke: axis,
        font: FONT,
        grid: { stroke: grid, width: 1 },
        ticks: { show: false },
        // Amounts below a cent have many digits.
        size: (_plot, labels) => Math.max(56, 18 + 6.2 * Math.max(0, ...(labels ?? []).map((one) => one.length))),
        // Low charts have several labels as well.
        space: height < 150 ? 24 : 36,
        values: (_plot, values, _axis, _space, step) => ticks(unit, values, step),
      },
    ],
    series: [
      {},
      ...drawn.map((_one, at): uPlot.Series => {
        const stroke = colours[at] ?? axis;
        return kind === "bars"
          ? { stroke, fill: stroke, width: 0, points: { show: false }, ...(bars === undefined ? {} : { paths: bars }) }
          : {
              stroke,
              width: 1.75,
              points: { filter: (plot, index) => lonely(plot.data[index]), size: 6, fill: stroke },
              spanGaps: false,
            };
      }),
    ],
    hooks: {
      setCursor: [({ cursor: { idx } }) => onCursor(idx ?? undefined)],
      setSelect: [
        (plot) => {
          const { left, width } = plot.select;
          if (width < 4 || onSpan === undefined) return;
          onSpan(plot.posToVal(left, "x") * 1_000, plot.posToVal(left + width, "x") * 1_000);
          plot.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
        },
      ],
    },
  };
}

const dataOf = ({ times, series, kind }: ChartProps): uPlot.AlignedData => [
  times.map((ms) => ms / 1_000),
  ...(kind === "bars" ? stacked(series).toReversed() : series.map(({ values }) => [...values])),
];

/** `14:05` for short intervals, with the date for longer ones. */
export const moment = (ms: number, everyMs: number): string =>
  everyMs >= 86_400_000
    ? day(ms)
    : everyMs >= 3_600_000
      ? `${day(ms)}, ${clockTime(ms).slice(0, 5)}`
      : clockTime(ms).slice(0, 5);

export function Chart(props: ChartProps) {
  const { title, times, everyMs, series, unit, summary } = props;
  const format = FORMATS[unit];
  const host = useRef<HTMLDivElement>(null);
  const [at, setAt] = useState<number | undefined>(undefined);
  const [asTable, setAsTable] = useState(false);
  const names = series.map(({ name, tone }) => `${name} ${tone}`).join();
  const latest = useRef(props);
  latest.current = props;
  const plot = useRef<uPlot | undefined>(undefined);
  useEffect(() => {
    const element = host.current;
    if (element === null || asTable) return;
    const made = new uPlot(optionsOf(latest, element, setAt), dataOf(latest.current), element);
    plot.current = made;
    const observer = new ResizeObserver(() => {
      if (element.clientWidth !== made.width)
        made.setSize({ width: Math.max(120, element.clientWidth), height: made.height });
    });
    observer.observe(element);
    return () => {
      observer.disconnect();
      made.destroy();
      plot.current = undefined;
    };
  }, [names, asTable, drawnScheme.value, shownZone.value, everyMs]);
  useEffect(() => plot.current?.setData(dataOf(latest.current)));
  const shownAt = at === undefined || times[at] === undefined ? undefined : at;
  return (
    <figure class="chart">
      <figcaption>
        <h2>{title}</h2>
        <ul class="legend">
          {series.map(({ name, tone, values }) => (
            <li key={name}>
              <i class={`swatch tone-${tone}`} aria-hidden="true" />
              {name}
              {shownAt !== undefined && <b>{format(values[shownAt] ?? 0)}</b>}
            </li>
          ))}
          {shownAt !== undefined && <li class="muted">{moment(times[shownAt] ?? 0, everyMs)}</li>}
        </ul>
        <button
          type="button"
          class="quiet square"
          aria-pressed={asTable}
          aria-label={`Show ${title} as a table`}
          title="Show as a table"
          onClick={() => setAsTable(!asTable)}
        >
          <Icon name="table" size={15} />
        </button>
      </figcaption>
      {asTable ? (
        <Figures {...props} />
      ) : (
        <div ref={host} class="plot" role="img" aria-label={`${title}. ${summary}`} />
      )}
    </figure>
  );
}

const Figures = ({ title, times, everyMs, series, unit }: ChartProps) => (
  <section class="figures" tabIndex={0} aria-label={title}>
    <table>
      <thead>
        <tr>
          <th scope="col">Time</th>
          {series.map(({ name }) => (
            <th key={name} scope="col" class="number">
              {name}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {times.map((ms, at) => (
          <tr key={ms}>
            <th scope="row">{moment(ms, everyMs)}</th>
            {series.map(({ name, values }) => (
              <td key={name} class="number">
                {values[at] === null || values[at] === undefined ? "–" : FORMATS[unit](values[at])}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  </section>
);
