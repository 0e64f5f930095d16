import type { Tone } from "./chart.tsx";

const WIDTH = 120;
const HEIGHT = 28;

/** An SVG path through the values, scaled from 0 to the maximum. */
export function sparkPath(values: readonly (number | null)[], width = WIDTH, height = HEIGHT): string {
  const highest = Math.max(...values.map((value) => value ?? 0), 0);
  if (highest === 0 || values.length < 2) return `M0 ${height - 1}H${width}`;
  const step = width / (values.length - 1);
  return values
    .map((value, at) => {
      const y = height - 1 - ((value ?? 0) / highest) * (height - 3);
      return `${at === 0 ? "M" : "L"}${(at * step).toFixed(1)} ${y.toFixed(1)}`;
    })
    .join("");
}

/** A small curve next to a figure. It is hidden from screen readers because the charts have the same data. */
export const Sparkline = ({ values, tone }: { values: readonly (number | null)[]; tone: Tone }) => (
  <svg class={`spark tone-${tone}`} viewBox={`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" aria-hidden="true">
    <path d={sparkPath(values)} />
  </svg>
);
